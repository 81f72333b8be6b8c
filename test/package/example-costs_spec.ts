import { strict as assert } from 'node:assert';
import { electricCar } from '../../src/simulator/index';
import { everyNth } from '../support/long';
import { TimedFlow } from '../transcripts/timed-flow';
import { examples, readText, type FlowNode } from './checkout';

/** The interfaces of Volvo Cars. */
const interfaces = ['connected-v2', 'energy-v2', 'location-v1', 'energy-device-v1'];
const partOf = (kind: string): string =>
  /^GET (state|capabilities)$/.test(kind)
    ? 'charging'
    : kind === 'GET location'
      ? 'position'
      : kind.includes('chargingsessions')
        ? 'wallbox'
        : 'status';

/** The requests that nodes send, by the part of the service, while this happens. */
async function requestsOf(
  nodes: readonly FlowNode[],
  happens: (timedFlow: TimedFlow) => Promise<void> = nothing,
): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { id: _id, x: _x, y: _y, z: _z, wires: _wires, vehicle: _vehicle, ...node } of nodes) {
    const timedFlow = await TimedFlow.open({
      node,
      vehicle: { interfaces, wallbox: electricCar.wallbox },
      service: { cars: [electricCar] },
    });
    try {
      // The first time, it also asks what the car is, which it keeps.
      await happens(timedFlow);
      await timedFlow.pass(3600);
      timedFlow.forget();
      await happens(timedFlow);
      await timedFlow.pass(3600);
      for (const [kind, count] of Object.entries(timedFlow.heard()['requests'] as Record<string, number>))
        if (kind.startsWith('GET ')) sums[partOf(kind)] = (sums[partOf(kind)] ?? 0) + count;
    } finally {
      await timedFlow.end();
    }
  }
  return sums;
}

/**
 * One node for those of each vehicle that a message reaches at the same moment, because they
 * share their answers.
 */
const together = (nodes: readonly FlowNode[]): FlowNode[] =>
  [...new Set(nodes.map(({ vehicle }) => vehicle))].flatMap((vehicle) => {
    const [first, ...others] = nodes.filter((node) => node['vehicle'] === vehicle);
    if (first === undefined || others.length === 0) return first ?? [];
    return { ...first, reads: [first, ...others].flatMap(({ reads }) => reads as string[]) };
  });

const nothing = async (): Promise<void> => undefined;

/** Requests a day by the part of the service: `720 a day (status); 288 (charging)`. */
const statedIn = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/([\d,]+)(?: a day)? \((\w+)\)/g)].map(([, count = '', part = '']) => [
      part,
      Number(count.replace(',', '')),
    ]),
  );

function assertStated(stated: Record<string, number>, measured: Record<string, number>): void {
  assert.deepEqual(Object.keys(stated).sort(), Object.keys(measured).sort());
  // An hour may have one poll more or less than its share.
  for (const [part, count] of Object.entries(measured))
    assert.ok(
      Math.abs(count - (stated[part] ?? 0)) <= 0.04 * count,
      `${part}: ${stated[part]} stated, ${count} measured`,
    );
}

describe('What an example costs with an own Volvo', function () {
  for (const { name, nodes } of everyNth(3, examples)) {
    const stated = /\n\nRequests with your own Volvo, of 10,000 a day [^:]*: (.*)\.$/.exec(String(nodes[0]?.['info']));
    const parts = stated?.[1]?.split('; ') ?? [];
    const daily = statedIn(stated?.[1] ?? '');
    const each = Number(/^(?:up to )?(\d+) for each message$/m.exec(parts.join('\n'))?.[1] ?? 0);
    const reading = nodes.filter(({ type }) => /^connected-vehicle-(status|guard|event|condition)$/.test(type));
    const polling = reading.filter(({ poll }) => Number(poll) > 0);
    const timer = nodes.find(({ type, repeat, crontab }) => type === 'inject' && (repeat || crontab));
    // Beside a timer, what only a deploy asks for, and what follows the result of a command.
    const isSeldom = ({ type, once }: FlowNode): boolean =>
      timer !== undefined && (type === 'link in' || (type === 'inject' && once === true));
    const seldom = nodes.filter((node) => isSeldom(node) && !node['repeat'] && !node['crontab']);
    const askedSeldom = new Set(seldom.flatMap(({ wires = [] }) => wires.flat()));
    const asked = reading.filter(({ id, poll = 0 }) => Number(poll) === 0 && !askedSeldom.has(id));

    it(`is stated in “${name}”, and is what its nodes send in an hour`, async () => {
      assert.ok(stated);
      assert.ok(Object.values(daily).every((count) => count <= 5_000));
      assert.equal(
        parts.some((part) => part.startsWith('1 for each command')),
        nodes.some(({ type }) => type === 'connected-vehicle-command'),
      );
      const hourly = await requestsOf(polling);
      const once = await requestsOf(together(asked), (timedFlow) => timedFlow.send());
      const times = timer === undefined ? 0 : 86_400 / (Number(timer['repeat']) || 86_400);
      const expected: Record<string, number> = {};
      for (const [part, count] of Object.entries(hourly)) expected[part] = (expected[part] ?? 0) + count * 24;
      for (const [part, count] of Object.entries(once))
        if (times > 0) expected[part] = (expected[part] ?? 0) + count * times;
      assertStated(daily, expected);
      if (timer === undefined)
        assert.equal(
          each,
          Object.values(once).reduce((sum, count) => sum + count, 0),
        );
    });
  }
});

describe('What a node costs a day, by docs/polling-and-quota.md', () => {
  const status = (read: string, poll: number) => ({ id: 'n', type: 'connected-vehicle-status', read, poll });
  const events = ['unlocked', 'door-opened', 'window-opened', 'trip-ended', 'charging-done'];
  const nodes: FlowNode[] = [
    status('windows', 120),
    status('windows', 300),
    status('charging', 300),
    { id: 'n', type: 'connected-vehicle-guard', watch: ['window', 'door', 'lock'], poll: 120 },
    { id: 'n', type: 'connected-vehicle-event', events, poll: 120 },
  ];
  const [, table = ''] =
    /\| requests a day +\|\n\| -.*\n((?:\|.*\n)+)/.exec(readText('docs/polling-and-quota.md')) ?? [];

  it('is what it sends in an hour', async () => {
    const stated = table.trim().split('\n').map(statedIn);
    for (const [index, node] of nodes.entries()) {
      const hourly = Object.entries(await requestsOf([node]));
      assertStated(stated[index] ?? {}, Object.fromEntries(hourly.map(([part, count]) => [part, count * 24])));
    }
    // At an eighth of the interval, the quota would stop the node.
    const [often, tooOften = {}] = stated.slice(nodes.length - 1);
    assert.deepEqual(often, Object.fromEntries(Object.entries(tooOften).map(([part, count]) => [part, count / 8])));
    assert.equal(stated.length, nodes.length + 1);
  });
});
