import { strict as assert } from 'node:assert';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { listen } from '../support/listening';
import { ManualClock } from '../support/manual-clock';
import { fewNodesAnd, startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { electricCar, startSimulator, type Simulator } from '../support/simulator';
import type { FlowNode } from './checkout';
import { DebugSidebar } from './debug-sidebar';
import { deployExample, pressButton, untilAsked } from './example-flow';

const minute = 60_000;

interface Point {
  measurement: string;
  tags: Record<string, string>;
  fields: Record<string, number | boolean>;
  seconds: number;
}

/** At each of these letters that no backslash escapes. */
const split = (text: string, letter: string): string[] => text.split(new RegExp(`(?<!\\\\)${letter}`));
const plain = (text: string): string => {
  assert.doesNotMatch(text, /^$|\n|\\$/);
  return text.replaceAll(/\\([,= ])/g, '$1');
};
const pairs = <Value>(list: string[], valueOf: (text: string) => Value): Record<string, Value> =>
  Object.fromEntries(
    list.map((pair): [string, Value] => {
      const [key = '', value = '', ...more] = split(pair, '=');
      assert.deepEqual(more, [], pair);
      return [plain(key), valueOf(value)];
    }),
  );

/**
 * A line as the reference of the line protocol has it, with fields of numbers and booleans only.
 */
function pointOf(line: string): Point {
  const [series = '', fields = '', time = '', ...more] = split(line, ' ');
  assert.deepEqual(more, [], line);
  const [measurement = '', ...tags] = split(series, ',');
  assert.match(time, /^\d{10}$/, 'seconds');
  const valueOf = (text: string): number | boolean => {
    if (text === 'true' || text === 'false') return text === 'true';
    assert.match(text, /^-?\d+(\.\d+)?(e[+-]?\d+)?$/, line);
    return Number(text);
  };
  const found = { tags: pairs(tags, plain), fields: pairs(split(fields, ','), valueOf) };
  return { measurement: plain(measurement), ...found, seconds: Number(time) };
}

describe('The example “Logbook to CSV and InfluxDB”', function () {
  let nodeRed: RealNodeRed;
  let sidebar: DebugSidebar;
  let service: Simulator;
  let influx: Server;
  let nodes: FlowNode[];
  const written: { url: string; token: string | undefined; points: Point[] }[] = [];
  const position = { latitude: 57.6889, longitude: 11.968 };
  const place = { name: 'Home, sweet = "home"', ...position, radius: 500 };

  before(async () => {
    influx = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const lines = Buffer.concat(parts).toString().split('\n');
        try {
          const points = lines.map(pointOf);
          written.push({ url: String(request.url), token: request.headers.authorization, points });
          response.writeHead(204).end();
        } catch (error) {
          response.writeHead(400).end(String(error));
        }
      });
    });
    const port = await listen(influx);
    nodeRed = await startNodeRed([], undefined, fewNodesAnd('70-CSV.js', '10-file.js', '21-httprequest.js'));
    sidebar = await DebugSidebar.open(nodeRed.url);
    // Behind the clock of Node-RED, so that what the car reports after a drive
    // is still in the past.
    const clock = new ManualClock(Date.now() - 60 * minute);
    service = await startSimulator({ clock, cars: [{ ...electricCar, location: position }] });
    nodes = await deployExample(nodeRed, service, 'Logbook to CSV and InfluxDB', (node) => {
      if (node.type === 'connected-vehicle')
        return {
          ...node,
          tariff: JSON.stringify({ perKWh: 0.3, places: [{ ...place, perKWh: 0.2 }] }),
          tariffType: 'json',
          currency: 'EUR',
        };
      if (node['read'] === 'several') return { ...node, poll: 1, reads: [...(node['reads'] as string[]), 'location'] };
      if (node.type === 'http request')
        return { ...node, url: String(node['url']).replace('localhost:8086', `127.0.0.1:${port}`) };
      const rules = node['rules'] as { p: string; to: string }[] | undefined;
      const inUserDir = (to: string): string => `${JSON.stringify(`${nodeRed.userDir}/`)} & ${to}`;
      return rules
        ? { ...node, rules: rules.map((rule) => (rule.p === 'filename' ? { ...rule, to: inUserDir(rule.to) } : rule)) }
        : node;
    });
    await untilAsked(service, 2, '/location');
    service.car().drive({ km: 12, minutes: 15, ...position });
    await clock.advance(15 * minute);
  });
  after(async () => {
    sidebar?.close();
    influx?.close();
    await nodeRed?.stop();
    await service?.close();
  });

  const buttons = (): string[] => nodes.filter(({ type }) => type === 'inject').map(({ id }) => id);

  it('sends each record as a point that InfluxDB can read, and again as the same point', async () => {
    const trips = (): Point[] =>
      written.flatMap(({ points }) => points.filter(({ measurement }) => measurement === 'trips'));
    const tripOf = (): Point | undefined => trips().at(-1);
    while (tripOf()?.tags['to'] === undefined) {
      await pressButton(nodeRed, buttons()[1] ?? '');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { url, token } = written.at(-1) ?? {};
    assert.equal(url, '/api/v2/write?org=home&bucket=car&precision=s');
    assert.equal(token, 'Token YOUR_TOKEN');
    const { tags, fields, seconds } = tripOf() ?? {};
    assert.deepEqual([tags?.['from'], tags?.['to']], [place.name, place.name]);
    assert.deepEqual(
      [fields?.['km'], typeof fields?.['odometer'], fields?.['reconstructed'] === undefined],
      [12, 'number', false],
    );
    assert.ok(Math.abs(Number(seconds) - Date.now() / 1000) < 7_200);
    assert.equal(await sidebar.next('Sent'), '204');
    assert.deepEqual(sidebar.all('Why'), []);
    const { length } = trips();
    await pressButton(nodeRed, buttons()[1] ?? '');
    while (trips().length === length) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(tripOf()?.seconds, seconds);
  });

  it('writes a file a month with a line for each record', async () => {
    await pressButton(nodeRed, buttons()[0] ?? '');
    const saved = String(await sidebar.next('Saved'));
    const name = (await readdir(nodeRed.userDir)).find((file) => /^trips-\d{4}-\d\d\.csv$/.test(file)) ?? '';
    assert.match(saved, /(trips|charges)-\d{4}-\d\d\.csv$/);
    const [header, line = '', ...more] = (await readFile(join(nodeRed.userDir, name), 'utf8')).trim().split('\n');
    assert.equal(
      header,
      'ended,minutes,km,kWh,energyFrom,liters,batteryFrom,batteryTo,cost,currency,fromPlace,toPlace',
    );
    assert.match(line, /^\d{4}-\d\d-\d\d \d\d:\d\d,\d*,12,/);
    assert.ok(line.endsWith('"Home, sweet = ""home""","Home, sweet = ""home"""'), line);
    assert.deepEqual(more, []);
    assert.deepEqual(sidebar.all('Why'), []);
  });
});
