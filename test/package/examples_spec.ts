import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isReadName } from '../../src/index';
import { resourceNames } from '../../src/catalogue/reads';
import { parseOptions } from '../../nodes/runtime';
import { nodeOptions } from '../support/node-options';
import { examples, nodeTypes, readText, type FlowNode } from './checkout';
import { boxOf, cross, isGroup, overlap, runsUnder, statusOf, wiresOf } from './example-layout';

/** The types of Node-RED's own nodes, as their html names them. */
function coreTypes(): Set<string> {
  const folder = join(dirname(require.resolve('@node-red/nodes/package.json')), 'core');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.html') && !file.includes('locales'),
  );
  const templates = files.map((file) => readText(join('node_modules/@node-red/nodes/core', file)));
  return new Set(
    templates.flatMap((html) => [...html.matchAll(/data-template-name="([^"]+)"/g)].map(([, type]) => type as string)),
  );
}

/** Configurations that several tabs may use. */
const sharedTypes = /^(connected-vehicle|ui-(base|page|group|theme))$/;

describe('The example flows', () => {
  const all = examples.flatMap(({ nodes }) => nodes);
  const subflows = new Set(all.flatMap(({ id, type }) => (type === 'subflow' ? [id] : [])));
  /** Configurations and subflows, which several examples may have. */
  const isShared = ({ id, type, z = '' }: FlowNode): boolean =>
    sharedTypes.test(type) || subflows.has(id) || subflows.has(z);
  const isOurs = ({ type }: FlowNode): boolean => nodeTypes.includes(type);

  it('are in folders by task, with names that sort', () => {
    const folders = [...new Set(examples.map(({ name }) => dirname(name)))];
    assert.deepEqual(folders, ['Basics', 'Bridge', 'Charging', 'Command', 'Watch']);
    for (const folder of folders) {
      const names = examples.filter(({ name }) => dirname(name) === folder).map(({ name }) => basename(name));
      for (const [index, name] of names.entries())
        assert.equal(name.slice(0, 3), `${String(index + 1).padStart(2, '0')} `);
    }
  });

  it('use every node of the pack', () => {
    assert.deepEqual(
      nodeTypes.filter((type) => !all.some((node) => node.type === type)),
      [],
    );
  });

  it('need no other pack, but for the pages with Dashboard 2', () => {
    const known = new Set([
      ...coreTypes(),
      ...nodeTypes,
      'tab',
      'group',
      'subflow',
      ...[...subflows].map((id) => `subflow:${id}`),
    ]);
    assert.deepEqual([...new Set(all.filter(({ type }) => !known.has(type)).map(({ type }) => type))].sort(), [
      'ui-base',
      'ui-chart',
      'ui-gauge',
      'ui-group',
      'ui-page',
      'ui-table',
      'ui-template',
      'ui-theme',
    ]);
  });

  it('share one petrol and one electric demo car, so that importing several of them adds no others', () => {
    const cars = new Map<string, FlowNode>();
    for (const car of all.filter(({ type }) => type === 'connected-vehicle')) {
      assert.equal(car.z, undefined);
      assert.equal(car['service'], 'demo');
      assert.deepEqual(car, cars.get(car.id) ?? car);
      cars.set(car.id, car);
    }
    assert.deepEqual([...cars.values()].map((car) => car['demoCar']).sort(), ['electric', 'petrol']);
  });

  it('can be imported side by side, and share one subflow for notifications', () => {
    const ids = all.filter((node) => !isShared(node)).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const parts = all.filter(({ id, z = '' }) => subflows.has(id) || subflows.has(z));
    assert.equal(subflows.size, 1);
    for (const part of parts)
      assert.deepEqual(
        part,
        parts.find(({ id }) => id === part.id),
      );
    const users = examples.filter(({ nodes }) => nodes.some(({ type }) => type.startsWith('subflow:')));
    assert.equal(users.length, 3);
    assert.equal(parts.length, 3 * new Set(parts.map(({ id }) => id)).size, 'each of them has the whole subflow');
  });

  it('hold no secret and no vehicle', () => {
    for (const node of all.filter(isOurs)) {
      assert.ok(!('credentials' in node), node.id);
      assert.ok([undefined, ''].includes(node['vin'] as string | undefined), node.id);
    }
    assert.doesNotMatch(JSON.stringify(all), /\$\{/);
  });

  for (const { name, nodes } of examples) {
    describe(name, () => {
      const groups = nodes.filter(isGroup);
      const canvas = nodes.filter((node) => typeof node['x'] === 'number' && !isShared(node) && !isGroup(node));
      const wires = wiresOf(canvas);

      it('is a tab that explains itself, on the canvas and in its info', () => {
        const [tab, ...others] = nodes;
        assert.equal(tab?.type, 'tab');
        assert.equal(tab['label'], basename(name).slice(3));
        assert.ok(String(tab['info']).length > 100);
        assert.ok(others.every((node) => isShared(node) || node.z === tab.id));
        const steps = canvas.filter(({ type }) => type === 'comment');
        assert.ok(steps.length >= 2);
        assert.ok(canvas.every((node) => node['name'] !== '' || node.type.startsWith('link ')));
      });

      it('has a group with a label for each step, one below the other', () => {
        assert.ok(groups.length >= 2);
        for (const group of groups) {
          assert.match(group.name, /^\p{Lu}.{4,50}[^.]$/u);
          assert.deepEqual(group['style'], { label: true });
          assert.deepEqual(
            group.nodes,
            nodes.filter(({ g }) => g === group.id).map(({ id }) => id),
            group.name,
          );
        }
        assert.deepEqual(
          canvas.filter(({ type, g }) => type !== 'comment' && !groups.some(({ id }) => id === g)),
          [],
        );
        const below = groups.slice(1).map(({ y }, index) => y - ((groups[index]?.y ?? 0) + (groups[index]?.h ?? 0)));
        assert.ok(
          below.every((distance) => distance >= 8),
          String(below),
        );
      });

      it('has comments and groups that begin at the same distance from the left', () => {
        const free = canvas.filter(({ type, g }) => type === 'comment' && g === undefined).map(boxOf);
        const lefts = [...groups.map(({ x }) => x), ...free.map(({ left }) => left)];
        const within = groups.map(({ id }) =>
          canvas.filter(({ type, g }) => type === 'comment' && g === id).map((comment) => boxOf(comment).left),
        );
        // The widths of comments are estimated to one step.
        for (const some of [lefts, ...within])
          assert.ok(some.length === 0 || Math.max(...some) - Math.min(...some) <= 12, `${name}: ${some}`);
      });

      it('leaves room for the statuses below the nodes', () => {
        const statuses = canvas.flatMap((node) => statusOf(node) ?? []);
        const boxes = canvas.map(boxOf);
        assert.deepEqual(
          statuses.flatMap((status, index) =>
            [...boxes.filter(({ id }) => id !== status.id), ...statuses.slice(index + 1)]
              .filter((other) => overlap(status, other))
              .map((other) => `${status.label}, ${other.label}`),
          ),
          [],
        );
      });

      it('fits into 785 by 750 pixels, each node beside the others', () => {
        const boxes = canvas.map(boxOf);
        assert.deepEqual(
          boxes.filter(({ left, right, top }) => left < 0 || right > 785 || top < 0),
          [],
        );
        assert.deepEqual(
          groups.filter(({ x, y, w, h }) => x < 0 || y < 0 || x + w > 785 || y + h > 750),
          [],
        );
        const pairs = boxes.flatMap((box, index) => boxes.slice(index + 1).map((other) => [box, other] as const));
        assert.deepEqual(
          pairs.filter(([box, other]) => overlap(box, other)).map(([box, other]) => `${box.label}, ${other.label}`),
          [],
        );
      });

      it('has wires that run forward, under no node and across no other wire', () => {
        const title = ({ from, to }: (typeof wires)[number]): string => `${boxOf(from).label} to ${boxOf(to).label}`;
        assert.deepEqual(wires.filter(({ points }) => points.at(-1)!.x <= points[0]!.x).map(title), []);
        assert.deepEqual(
          wires.flatMap((wire) =>
            canvas.map(boxOf).flatMap((box) => (runsUnder(wire, box) ? [`${title(wire)} under ${box.label}`] : [])),
          ),
          [],
        );
        assert.deepEqual(
          wires.flatMap((wire, index) =>
            wires.slice(index + 1).flatMap((other) => (cross(wire, other) ? [`${title(wire)}, ${title(other)}`] : [])),
          ),
          [],
        );
      });

      it('is wired to nodes that exist, and catches failures', () => {
        const ids = new Set(nodes.map(({ id }) => id));
        assert.deepEqual(
          nodes.flatMap(({ wires = [] }) => wires.flat()).filter((id) => !ids.has(id)),
          [],
        );
        assert.ok(nodes.some(({ type }) => type === 'catch'));
      });

      it('sets every property of the pack’s nodes as the editor would', () => {
        for (const node of nodes.filter(isOurs)) {
          const shape = nodeOptions[node.type as keyof typeof nodeOptions];
          assert.ok(parseOptions(shape, node));
          assert.deepEqual(
            Object.keys(shape.def.getter().def.shape).filter((property) => !(property in node)),
            [],
            node.id,
          );
          if (node.type !== 'connected-vehicle')
            assert.equal(nodes.find(({ id }) => id === node['vehicle'])?.type, 'connected-vehicle');
        }
      });
    });
  }

  it('read every resource of the car', () => {
    const reads = all.flatMap((node) => (node['reads'] as string[] | undefined) ?? []);
    assert.ok(reads.every(isReadName));
    assert.deepEqual(
      resourceNames.filter((name) => !reads.includes(name)),
      [],
    );
  });
});
