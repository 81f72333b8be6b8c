import { strict as assert } from 'node:assert';
import { parseGuardRequest, VehicleError } from '../../../src/index';
import { inUseOf, unavailableSentence } from '../../../src/catalogue/accessibility';

const words: readonly [value: string | null, unavailableReason: string | null, inUse: boolean | null][] = [
  ['AVAILABLE', null, false],
  ['UNAVAILABLE', 'CAR_IN_USE', true],
  ['UNAVAILABLE', 'POWER_SAVING_MODE', false],
  ['UNAVAILABLE', 'NO_INTERNET', null],
  ['UNAVAILABLE', 'OTA_INSTALLATION_IN_PROGRESS', null],
  ['UNAVAILABLE', 'UNSPECIFIED', null],
  ['UNAVAILABLE', 'toString', null],
  ['UNAVAILABLE', null, null],
  ['UNSPECIFIED', null, null],
  [null, null, null],
];

describe('A car that is not available', () => {
  const reasons: [reason: string | null, sentence: string][] = [
    ['NO_INTERNET', 'it has no connection'],
    ['POWER_SAVING_MODE', 'it is asleep after several days without use, and wakes up when somebody starts it'],
    ['CAR_IN_USE', 'it is in use'],
    ['OTA_INSTALLATION_IN_PROGRESS', 'it installs new software'],
    ['ABDUCTED', 'the service does not name the reason'],
    [null, 'the service does not name the reason'],
  ];
  it('has a sentence with the reason', () => {
    for (const [reason, text] of reasons)
      assert.equal(
        new VehicleError('VEHICLE_UNAVAILABLE', unavailableSentence(reason)).message,
        `The car accepts no commands now: ${text}. The command was not sent.`,
      );
  });
});

describe('inUseOf', () => {
  it('shows whether the car is in use, also to a guard that gets the accessibility in a message', () => {
    for (const [value, unavailableReason, inUse] of words) {
      assert.equal(inUseOf({ value, unavailableReason }), inUse, `${value} ${unavailableReason}`);
      const request = parseGuardRequest({
        payload: { value, unavailableReason },
        vehicle: { vin: 'YV4952NA4F120DEMO', read: 'accessibility' },
      });
      assert.equal(request.reading?.values.inUse, inUse, `${value} ${unavailableReason}`);
    }
  });

  it('leaves it open for anything else', () => {
    for (const odd of [null, undefined, 'AVAILABLE', [], {}]) assert.equal(inUseOf(odd), null);
  });
});
