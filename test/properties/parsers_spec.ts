import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import {
  commandNames,
  isRecord,
  Pack,
  VehicleError,
  type Account,
  type AccountOptions,
  type InterfaceName,
  type ReadName,
  type Reading,
} from '../../src/index';
import { accountOn } from '../support/account';
import { clock, now, reads, recorded, recordedFailures, vin } from '../support/answers';
import { tried } from '../support/property';

const living: readonly InterfaceName[] = ['connected-v2', 'energy-v2', 'location-v1'];

type Respond = (path: string) => { status: number; body: string };

/** An account whose service answers without a network, used and closed. */
async function withAccount<Result>(
  interfaces: readonly InterfaceName[],
  respond: Respond,
  use: (account: Account) => Promise<Result>,
): Promise<Result> {
  const transport: AccountOptions['transport'] = {
    send: async ({ url, mayLeave }) => {
      mayLeave?.();
      return Promise.resolve({ headers: {}, ...respond(url.pathname.replace(vin, '{vin}')) });
    },
    close: () => Promise.resolve(),
  };
  const account = accountOn({ url: 'http://127.0.0.1:9' }, { pack: new Pack({ clock }), interfaces, transport });
  try {
    return await use(account);
  } finally {
    await account.close();
  }
}

/** The answer to every read; those that the service does not offer are left out. */
async function readAll(interfaces: readonly InterfaceName[], respond: Respond): Promise<Map<ReadName, Reading>> {
  return withAccount(interfaces, respond, async ({ client }) => {
    const readings = new Map<ReadName, Reading>();
    for (const name of reads) {
      const reading = await client.read(name, { vin }).catch((error: unknown) => {
        assert.ok(error instanceof VehicleError, `${name}: ${String(error)}`);
        assert.ok(
          ['BAD_RESPONSE', 'NOT_SUPPORTED'].includes(error.code),
          `${name}: ${error.code} ${String(error.cause)}`,
        );
      });
      if (reading !== undefined) readings.set(name, reading);
    }
    return readings;
  });
}

const bodies = recorded.flatMap(({ answers }) => answers.map(({ body }) => body));

/** Values that services and faults put in place of others. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', ' ', 0, -1, 1e308, true, false, 'true', '0', 'NaN', 'UNSPECIFIED', 'CLOSED'),
  fc.constantFrom<unknown>(
    [],
    {},
    [[]],
    { value: {} },
    { value: [0] },
    { value: 'OPEN', timestamp: {} },
    { data: null },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const names = fc.constantFrom('__proto__', 'constructor', 'toString', 'value', 'data', 'timestamp', 'sunroof', '');

interface Change {
  at: number;
  by: unknown;
  name: string | null;
}
const changes = fc.array(fc.record({ at: fc.nat(), by: fc.option(odd, { nil: undefined }), name: fc.option(names) }), {
  maxLength: 5,
}) satisfies fc.Arbitrary<Change[]>;

/** A copy with members replaced, removed (`by` is undefined) or added under another name. */
function changed(body: unknown, all: readonly Change[]): unknown {
  const root = { body: structuredClone(body) };
  for (const { at, by: shared, name } of all) {
    const by: unknown = structuredClone(shared);
    const places: [holder: Record<string, unknown>, key: string][] = [];
    const visit = (holder: object): void => {
      for (const key of Object.keys(holder)) {
        places.push([holder as Record<string, unknown>, key]);
        const value = (holder as Record<string, unknown>)[key];
        if (typeof value === 'object' && value !== null) visit(value);
      }
    };
    visit(root);
    const [holder, key] = places[at % places.length] ?? assert.fail();
    if (name !== null && holder !== root)
      Object.defineProperty(holder, name, { value: by, enumerable: true, configurable: true, writable: true });
    else if (by === undefined && holder !== root) delete holder[key];
    else holder[key] = by ?? null;
  }
  return root.body;
}

const anyBody = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...bodies), changes).map(([body, all]) => changed(body, all)) },
);

describe('Whatever a service answers', function () {
  this.timeout(0);

  it('a read gives plain data or an error of the pack', () =>
    fc.assert(
      fc.asyncProperty(
        anyBody,
        fc.constantFrom(living, ['connected-v1', 'extended-v1'] as const),
        async (body, interfaces) => {
          const text = JSON.stringify(body);
          for (const [name, { payload }] of await readAll(interfaces, () => ({ status: 200, body: text })))
            assert.equal(JSON.stringify(payload), JSON.stringify(plain(payload)), name);
        },
      ),
      tried(20),
    ));

  it('a failed read gives an error of the pack that is not its own fault, and a pause of a day at most', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 100, max: 599 }).filter((status) => status < 200 || status > 299),
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 400 }),
          anyBody.map((body) => JSON.stringify(body)),
          fc
            .tuple(fc.constantFrom(...recordedFailures.map(({ body }) => body)), changes)
            .map(([body, all]) => JSON.stringify(changed(body, all))),
        ),
        async (status, body) => {
          const error: unknown = await withAccount(
            living,
            () => ({ status, body }),
            ({ client }) => client.read('windows', { vin }).catch((thrown: unknown) => thrown),
          );
          assert.ok(error instanceof VehicleError, String(error));
          assert.notEqual(error.code, 'INTERNAL');
          assert.equal(error.httpStatus, status);
          assert.ok(error.retryAt === null || (error.retryAt.getTime() - now) / 86_400_000 <= 1, String(error.retryAt));
        },
      ),
      tried(50),
    ));

  it('a command succeeds only if the answer says that it did', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...commandNames.filter((name) => name !== 'engine-start')),
        fc.oneof(
          anyBody,
          fc.record({
            data: fc.record({
              invokeStatus: fc.oneof(
                fc.string(),
                fc.constantFrom('completed', 'SUCCESS ', 'UNSUCCESSFUL', 'NOT_COMPLETED', 'DELIVERED'),
              ),
            }),
          }),
        ),
        fc.constantFrom(200, 202, 409, 500),
        async (command, body, status) => {
          const text = JSON.stringify(body);
          const outcome = await withAccount(
            ['connected-v2'],
            () => ({ status, body: text }),
            ({ dispatcher }) =>
              dispatcher.send(command, { vin }).then(
                (record) => record.outcome,
                (error: unknown) =>
                  error instanceof VehicleError && error.code !== 'INTERNAL' ? 'error' : assert.fail(String(error)),
              ),
          );
          if (outcome === 'succeeded') assert.match(text, /"\s*(completed|success)\s*"/i);
        },
      ),
      tried(75),
    ));
});

/** The same without members that are undefined, which JSON leaves out. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) {
    assert.ok(value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value), String(value));
    assert.ok(!Object.is(value, -0), 'minus zero');
    return value;
  }
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .map(([key, one]) => [key, plain(one)]),
  );
};

describe('A value that is missing or unreadable', function () {
  this.timeout(0);

  const measured = (member: unknown): boolean => isRecord(member) && ('value' in member || 'status' in member);
  const membersOf = (body: unknown): Record<string, unknown> => {
    const inner = isRecord(body) && isRecord(body['data']) ? body['data'] : body;
    return isRecord(inner) ? inner : {};
  };
  /** The answers with measured members, and what every read makes of them as they are. */
  const cases = recorded
    .filter(({ answers }) => answers.every(({ path }) => !path.includes('/v1/') || path.startsWith('/location')))
    .flatMap(({ name, answers }) =>
      answers.flatMap((answer) => {
        const members = Object.entries(membersOf(answer.body)).flatMap(([key, member]) =>
          measured(member) ? [key] : [],
        );
        return members.length < 2 ? [] : [{ name, answers, answer, members }];
      }),
    );
  const words = ['', 'UNSPECIFIED', 'SOMETHING_NEW'];
  const unknown = fc.constantFrom<unknown>(
    undefined,
    null,
    {},
    [],
    'CLOSED',
    0,
    42,
    true,
    ...[null, {}, [], ['CLOSED'], [0]].map((value) => ({ value, unit: null, timestamp: '2026-08-21T08:01:46Z' })),
    ...words.map((value) => ({ value, unit: null, timestamp: '2026-08-21T08:01:46Z' })),
    { status: 'ERROR', code: 'PROPERTY_NOT_FOUND' },
    { status: 'OK', value: null },
  );
  const responding =
    (answers: (typeof cases)[number]['answers'], of: string, body: unknown): Respond =>
    (path) => {
      const found = answers.find((one) => one.method === 'GET' && one.path === path);
      if (found === undefined) return { status: 404, body: '' };
      return { status: 200, body: JSON.stringify(path === of ? body : found.body) };
    };

  it('is unknown, never closed, locked, off or 0, and the others stay as they are', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...cases).chain((one) =>
          fc.tuple(
            fc.constant(one),
            fc.uniqueArray(fc.tuple(fc.constantFrom(...one.members), unknown), {
              minLength: 1,
              selector: ([name]) => name,
            }),
            fc.boolean(),
          ),
        ),
        async ([{ answers, answer, members }, some, all]) => {
          const first = some[0]?.[1];
          const lost = new Map(all ? members.map((name) => [name, first]) : some);
          const body = structuredClone(answer.body);
          for (const [name, value] of lost)
            if (value === undefined) delete membersOf(body)[name];
            else membersOf(body)[name] = value;
          const before = await readAll(living, responding(answers, answer.path, answer.body));
          const after = await readAll(living, responding(answers, answer.path, body));
          const isUnknown = (value: unknown): boolean => value === null || words.includes(value as string);
          for (const [name, { payload, vehicle }] of after) {
            const was = before.get(name) ?? assert.fail(name);
            if (isRecord(payload) && isRecord(was.payload) && name !== 'location' && name !== 'details') {
              const [is, then] = [leavesOf(payload), leavesOf(was.payload)];
              const unlike = Object.keys(is).filter((key) => is[key] !== then[key]);
              for (const key of unlike) assert.ok(isUnknown(is[key]), `${name} ${key}: ${String(is[key])}`);
              if (all && name in readsOf(answer.path))
                for (const key of Object.keys(is)) assert.ok(isUnknown(is[key]), `${name} ${key}: ${String(is[key])}`);
            }
            if (vehicle.read !== 'windows' && vehicle.read !== 'doors') continue;
            if (!answer.path.endsWith(`/${vehicle.read}`)) continue;
            const isLockLost = lost.has('centralLock');
            if (isLockLost) assert.equal(vehicle.locked, null);
            const openings = [...lost.keys()].filter(
              (key) => key !== 'centralLock' && key !== 'sunroof' && key !== 'tankLid',
            );
            if (openings.length > 0) assert.notEqual(vehicle.allClosed, true, JSON.stringify(vehicle));
            if (all) assert.deepEqual([vehicle.allClosed, vehicle.open], [null, []]);
            assert.ok((vehicle.unknown?.length ?? 0) >= openings.length + (isLockLost ? 1 : 0));
          }
        },
      ),
      tried(20),
    ));

  /** The values of a payload: its own, or those of its members. */
  const leavesOf = (payload: Record<string, unknown>): Record<string, unknown> =>
    'value' in payload
      ? { value: payload['value'] }
      : Object.fromEntries(
          Object.entries(payload).map(([key, member]) => [key, isRecord(member) ? member['value'] : member]),
        );
  /** The reads that had a value from an answer, by their answer without it. */
  const ofPath = new Map<string, Record<string, true>>();
  const readsOf = (path: string): Record<string, true> => ofPath.get(path) ?? {};
  before(async () => {
    for (const { answers, answer } of cases) {
      const others = answers.filter(({ path }) => path !== answer.path);
      const without = await readAll(living, responding(others, '', null));
      const having = await readAll(living, responding(answers, '', null));
      const found = [...having.keys()].filter((name) => !without.has(name));
      ofPath.set(answer.path, {
        ...readsOf(answer.path),
        ...Object.fromEntries(found.map((name) => [name, true as const])),
      });
    }
  });
});
