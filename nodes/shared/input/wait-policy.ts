import type { DispatchOptions } from '../../../src/index';
import type { CommandOptions } from './options';

/** An unlock that may not wait is sent so soon or not at all: neither the quota nor the network may hold it back for longer. */
const promptMs = 10_000;

/** What a command does where it cannot be sent at once, by the settings of its node; an unlock waits only where that is chosen besides. */
export function patienceOf(
  options: CommandOptions,
  unlocks: boolean,
): Pick<DispatchOptions, 'precheck' | 'whenBusy' | 'whenUnavailable' | 'waitMs'> {
  const mayWait = !unlocks || options.waitUnlock;
  const whenBusy = mayWait ? options.whenBusy : 'refuse';
  const whenUnavailable = mayWait ? options.whenUnavailable : 'fail';
  const waits = whenBusy === 'queue' || whenUnavailable === 'wait';
  return {
    // Who lets other commands wait does not want an unlock sent into the blue either.
    precheck: options.precheck || (options.whenUnavailable === 'wait' && !mayWait),
    whenBusy,
    whenUnavailable,
    waitMs: waits ? options.deadline * 1000 : unlocks ? promptMs : undefined,
  };
}
