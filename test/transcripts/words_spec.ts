import { strict as assert } from 'node:assert';
import type { FaultOptions } from '../support/simulator';
import { StoredTranscripts } from './stored-transcripts';
import { TimedFlow, type FlowSetup } from './timed-flow';

const languages = ['en-US', 'de'] as const;

/**
 * How a flow gets each code of docs/internals/contract.md 6; nothing a service or a user
 * does gives `INTERNAL`.
 */
const status = { type: 'connected-vehicle-status' };
const lock = { type: 'connected-vehicle-command', command: 'lock' };
const read: FlowSetup = { node: status };
const failures: Record<
  string,
  { setup: FlowSetup; msg?: Record<string, unknown>; fault?: FaultOptions; into?: string }
> = {
  CONFIG: { setup: { node: status, vehicle: { baseUrl: 'http://example.com' } } },
  VIN_INVALID: { setup: read, msg: { vin: 'short' } },
  INPUT_INVALID: { setup: read, msg: { read: 'tea' } },
  TOKEN_MISSING: { setup: { node: status, credentials: { apiKey: 'demo-key' } } },
  SIGN_IN_REQUIRED: { setup: read, fault: { error: 'token-refused' } },
  API_KEY_REFUSED: { setup: read, fault: { error: 'key-refused' } },
  SCOPE_MISSING: { setup: read, fault: { error: 'scope-missing' } },
  VEHICLE_NOT_LINKED: { setup: read, fault: { error: 'not-linked' } },
  NOT_SUPPORTED: { setup: read, fault: { error: 'not-supported' } },
  QUOTA_SPENT: { setup: read, fault: { error: 'quota' } },
  RATE_LIMITED: { setup: read, fault: { error: 'rate-limited', retryAfter: 900 } },
  READ_ONLY: { setup: { node: lock, vehicle: { readOnly: true } } },
  VEHICLE_UNAVAILABLE: { setup: { node: lock }, fault: { match: { method: 'POST' }, error: 'car-in-use' } },
  VEHICLE_ERROR: { setup: read, fault: { error: 'car-error' } },
  TIMEOUT: { setup: read, fault: { latencyMs: 9_000_000 } },
  NETWORK: { setup: read, fault: { cut: 'before-headers' } },
  SERVICE_ERROR: { setup: read, fault: { error: 'internal-error' } },
  BAD_RESPONSE: { setup: read, fault: { html: true } },
  UNTRUSTED_LINK: {
    setup: { node: lock, results: [{}] },
    into: 'result 1',
    msg: {
      payload: {
        id: 'from elsewhere',
        command: 'flash',
        vin: 'YV4952NA4F120DEMO',
        interface: 'connected-v1',
        sentAt: '2026-06-01T08:00:00Z',
        requestStatus: 'RUNNING',
        async: { status: 'RUNNING', id: '1', href: 'https://elsewhere.example/', expires: null },
      },
    },
  },
  COMMAND_REFUSED: { setup: { node: lock }, fault: { match: { method: 'POST' }, error: 'invalid-body' } },
};

/** Every word of docs/internals/vendor-api.md 1.9, one that is not there, and none. */
const words = [
  'WAITING RUNNING COMPLETED REJECTED UNKNOWN TIMEOUT CONNECTION_FAILURE VEHICLE_IN_SLEEP UNLOCK_TIME_FRAME_PASSED',
  'UNABLE_TO_LOCK_DOOR_OPEN EXPIRED SENT NOT_SUPPORTED CAR_IN_SLEEP_MODE DELIVERED DELIVERY_TIMEOUT SUCCESS CAR_TIMEOUT',
  'CAR_ERROR NOT_ALLOWED_PRIVACY_ENABLED NOT_ALLOWED_WRONG_USAGE_MODE INVOCATION_SPECIFIC_ERROR VEHICLE_REQUEST_TIMEOUT',
  'VEHICLE_RESPONSE_TIMEOUT VEHICLE_RESPONSE_ERROR VEHICLE_IN_SLEEP_MODE PRIVACY_POLICY_ENABLED completed PARKED_ON_MARS',
]
  .join(' ')
  .split(' ');

/** Which German it is, is the matter of the test of sentences. */
const isGerman = (error: Record<string, unknown>): boolean =>
  typeof error['text'] === 'string' && error['text'] !== '' && error['text'] !== error['message'];

const fail = (): never => {
  throw new Error('The node said nothing.');
};

describe('What a person reads, in both languages', function () {
  const transcripts = new StoredTranscripts('words.json');
  let timedFlow: TimedFlow | undefined;
  let count = 0;

  afterEach(() => timedFlow?.end());
  after(() => transcripts.save());

  const statusOf = (heard: unknown): unknown => (Array.isArray(heard) ? heard.at(-1) : heard);
  const inBoth = async (title: string, run: (language: 'en-US' | 'de') => Promise<unknown>): Promise<void> => {
    const found: Record<string, unknown> = {};
    for (const language of languages) {
      await timedFlow?.end();
      found[language] = await run(language);
    }
    count += 1;
    const { found: text, stored } = transcripts.compare(title, found);
    assert.equal(text, stored);
  };

  for (const [code, { setup, msg, fault, into = 'n' }] of Object.entries(failures))
    it(`of a failure ${code}`, () =>
      inBoth(code, async (language) => {
        timedFlow = await TimedFlow.open({ ...setup, language });
        if (fault !== undefined) timedFlow.service.faults.add(fault);
        await timedFlow.send(msg, into);
        await timedFlow.pass(120);
        const heard = timedFlow.heard()[into === 'n' ? 'node' : into] ?? {};
        const [caught] = heard['catch'] as { vehicle: { error: Record<string, unknown> } }[];
        const { error } = caught?.vehicle ?? fail();
        assert.equal(error['code'], code);
        const status = statusOf(heard['status']);
        return language === 'en-US' ? { status, error } : { status, text: isGerman(error) ? '<German>' : null };
      }));

  it('of each state that the service names for a command', () =>
    inBoth('states of a command', async (language) => {
      timedFlow = await TimedFlow.open({ node: { ...lock, command: 'lock', interface: 'v2' }, language });
      const found: Record<string, unknown> = {};
      for (const word of words) {
        timedFlow.service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: word }], answerAfterMs: 0 } });
        await timedFlow.send();
        await timedFlow.pass(160);
        const [answer] = timedFlow.flow.outputs[0]?.splice(0) ?? fail();
        const { outcome, message } = (answer ?? fail()).payload as { outcome: string; message: string };
        found[word] = [
          outcome,
          statusOf(timedFlow.heard()['node']?.['status']),
          ...(language === 'de' ? [] : [message]),
        ];
      }
      return found;
    }));

  it('has a case for each stored text', function () {
    if (count < Object.keys(failures).length + 1) return this.skip();
    assert.deepEqual(transcripts.unused, []);
  });
});
