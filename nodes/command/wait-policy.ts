import type { CommandOptions } from './options';

/** An unlock or engine start that may not wait is sent so soon or not at all: neither quota nor network may delay it further. */
const promptMs = 10_000;

/** How a command waits when it cannot be sent at once, by the options of its node. */
export function waitPolicy(options: CommandOptions, isGuarded: boolean) {
  const mayWait = !isGuarded || options.waitUnlock;
  const whenBusy = mayWait ? options.whenBusy : 'refuse';
  const whenUnavailable = mayWait ? options.whenUnavailable : 'fail';
  const waits = whenBusy === 'queue' || whenUnavailable === 'wait';
  return {
    // A user whose other commands wait for the car does not want an unlock sent to a car that cannot take it.
    precheck: options.precheck || (options.whenUnavailable === 'wait' && !mayWait),
    whenBusy,
    whenUnavailable,
    waitMs: waits ? options.deadline * 1000 : isGuarded ? promptMs : undefined,
  };
}
