import { systemClock, type Clock } from '../../src/index';

let injected: Clock | undefined;

/** The clock of all nodes: the machine's, unless a test owns it. */
export const clock = (): Clock => injected ?? systemClock;

/** For tests; undefined restores the machine's clock. */
export const useClock = (replacement: Clock | undefined): void => void (injected = replacement);
