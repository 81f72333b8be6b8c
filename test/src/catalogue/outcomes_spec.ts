import { strict as assert } from 'node:assert';
import { causeOf, isFinal, isUnderWay, meaningOf, outcomes } from '../../../src/catalogue/outcomes';

/**
 * The words of docs/internals/service.md 3 and docs/internals/vendor-api.md 1.9,
 * copied from there by hand.
 */
const named = `
  RUNNING WAITING COMPLETED REJECTED UNKNOWN TIMEOUT CONNECTION_FAILURE VEHICLE_IN_SLEEP UNLOCK_TIME_FRAME_PASSED UNABLE_TO_LOCK_DOOR_OPEN
  EXPIRED SENT NOT_SUPPORTED CAR_IN_SLEEP_MODE DELIVERED DELIVERY_TIMEOUT SUCCESS CAR_TIMEOUT CAR_ERROR NOT_ALLOWED_PRIVACY_ENABLED
  NOT_ALLOWED_WRONG_USAGE_MODE INVOCATION_SPECIFIC_ERROR VEHICLE_REQUEST_TIMEOUT VEHICLE_RESPONSE_TIMEOUT VEHICLE_RESPONSE_ERROR
  VEHICLE_IN_SLEEP_MODE PRIVACY_POLICY_ENABLED
 `
  .trim()
  .split(/\s+/);

describe('What a request status means', () => {
  it('is in one table: each word that the service has named, and no other', () => {
    assert.deepEqual(Object.keys(outcomes).sort(), [...named].sort());
  });

  /** The grouping of docs/internals/vendor-api.md 1.9, with the cause that a node status names. */
  const groups: [words: string, outcome: string, cause?: string][] = [
    ['RUNNING WAITING SENT DELIVERED', 'pending'],
    ['COMPLETED SUCCESS', 'succeeded'],
    ['NOT_SUPPORTED UNLOCK_TIME_FRAME_PASSED INVOCATION_SPECIFIC_ERROR EXPIRED', 'failed'],
    ['REJECTED', 'failed', 'refused'],
    ['NOT_ALLOWED_PRIVACY_ENABLED PRIVACY_POLICY_ENABLED', 'failed', 'privacy'],
    ['NOT_ALLOWED_WRONG_USAGE_MODE', 'failed', 'usage'],
    ['UNABLE_TO_LOCK_DOOR_OPEN', 'failed', 'doorOpen'],
    ['VEHICLE_IN_SLEEP VEHICLE_IN_SLEEP_MODE CAR_IN_SLEEP_MODE', 'failed', 'asleep'],
    [
      'CONNECTION_FAILURE TIMEOUT CAR_TIMEOUT DELIVERY_TIMEOUT VEHICLE_REQUEST_TIMEOUT VEHICLE_RESPONSE_TIMEOUT',
      'failed',
      'unreachable',
    ],
    ['CAR_ERROR VEHICLE_RESPONSE_ERROR', 'failed', 'carError'],
    ['UNKNOWN TELEPORTED', 'undetermined'],
  ];
  it('is an outcome, with the cause of a failure', () => {
    for (const [words, outcome, cause] of groups)
      for (const word of words.split(' ')) {
        assert.deepEqual([meaningOf(word).outcome, causeOf(word, 'lock')], [outcome, cause], word);
        assert.equal(isFinal(meaningOf(word).outcome), outcome === 'succeeded' || outcome === 'failed', word);
      }
  });

  it('leaves it open whether the car acts if it is not there yet', () => {
    const underWay = [...named, 'TELEPORTED', '', ' sent ', null].filter((word) => isUnderWay(word));
    assert.deepEqual(underWay, ['RUNNING', 'WAITING', 'SENT', '', ' sent ', null]);
  });

  it('does not depend on how the word is written', () => {
    for (const word of named) assert.equal(meaningOf(` ${word.toLowerCase()} `), meaningOf(word));
  });

  it('is undetermined for everything else', () => {
    for (const word of [
      null,
      '',
      ' ',
      'TELEPORTED',
      'COMPLETED!',
      'NOT COMPLETED',
      'constructor',
      '__proto__',
      'toString',
    ])
      assert.equal(meaningOf(word).outcome, 'undetermined', String(word));
  });

  it('has no cause of a car if a wallbox took the command', () => {
    for (const word of Object.keys(outcomes)) assert.equal(causeOf(word, 'wallbox-pause'), undefined, word);
  });
});
