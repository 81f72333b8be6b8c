import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isReadName, resourceNames } from '../../src/index';
import {
  parseOptions,
  commandOptions,
  commandStatusOptions,
  eventOptions,
  guardOptions,
  statusOptions,
  vehicleOptions,
} from '../../nodes/shared/input/options';
import { examples, nodeTypes, readText, type FlowNode } from './checkout';

const shapes = {
  'connected-vehicle': vehicleOptions,
  'connected-vehicle-status': statusOptions,
  'connected-vehicle-command': commandOptions,
  'connected-vehicle-command-status': commandStatusOptions,
  'connected-vehicle-guard': guardOptions,
  'connected-vehicle-event': eventOptions,
} as const;

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

describe('The example flows', () => {
  const all = examples.flatMap(({ nodes }) => nodes);
  const isOurs = ({ type }: FlowNode): boolean => nodeTypes.includes(type);

  it('have names that sort', () => {
    for (const [index, { name }] of examples.entries())
      assert.equal(name.slice(0, 3), `${String(index + 1).padStart(2, '0')} `);
  });

  it('use every node of the pack', () => {
    assert.deepEqual(
      nodeTypes.filter((type) => !all.some((node) => node.type === type)),
      [],
    );
  });

  it('need no other pack', () => {
    const known = new Set([...coreTypes(), ...nodeTypes, 'tab']);
    assert.deepEqual(
      all.filter(({ type }) => !known.has(type)),
      [],
    );
  });

  it('can be imported side by side', () => {
    const ids = all.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
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
      it('is a tab with its own demo car, a sentence of its own and a comment that explains it', () => {
        const [tab, ...others] = nodes;
        assert.equal(tab?.type, 'tab');
        assert.notEqual(tab?.['info'], '');
        assert.ok(others.every(({ z }) => z === tab?.id));
        const cars = nodes.filter(({ type }) => type === 'connected-vehicle');
        assert.deepEqual(
          cars.map((car) => car['service']),
          ['demo'],
        );
        const comments = nodes.filter(({ type }) => type === 'comment');
        assert.equal(comments.length, 1);
        assert.ok(String(comments[0]?.['info']).length > 100);
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
          const shape = shapes[node.type as keyof typeof shapes];
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
