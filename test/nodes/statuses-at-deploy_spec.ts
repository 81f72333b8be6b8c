import { strict as assert } from 'node:assert';
import { fewNodes, startNodeRed, type RealNodeRed } from '../support/real-node-red';

type Shown = { code?: string };

/**
 * The first tab: a node that cannot work, because its car has no API key. The second one: 50 nodes
 * that are created after it.
 */
const flows = [
  { id: 'tab', type: 'tab', label: 'one' },
  { id: 'others', type: 'tab', label: 'others' },
  { id: 'v', type: 'connected-vehicle', service: 'volvo-cars' },
  { id: 'n', z: 'tab', type: 'connected-vehicle-status', vehicle: 'v', read: 'doors', wires: [[]] },
  ...Array.from({ length: 50 }, (_, index) => ({ id: `other${index}`, z: 'others', type: 'debug', active: false })),
];

/** Keeps every status of the node, by the name of the Status node that got it. */
const listener = (id: string, z = 'tab'): object[] => [
  { id, z, type: 'status', scope: ['n'], wires: [[`${id}-keep`]] },
  {
    id: `${id}-keep`,
    z,
    type: 'function',
    func: `global.set('${id}', [...(global.get('${id}') ?? []), msg.status]); return msg;`,
    outputs: 1,
    wires: [[]],
  },
];

describe('The cause for which a node cannot work, in a real Node-RED', () => {
  let nodeRed: RealNodeRed;
  before(async () => (nodeRed = await startNodeRed([], undefined, fewNodes)));
  after(() => nodeRed.stop());

  /** What a Status node has got, when it has got anything. */
  const shownTo = async (id: string): Promise<Shown[]> => {
    for (;;) {
      const { msg } = (await nodeRed.admin('GET', `context/global/${id}`)) as { msg?: string };
      if (msg !== undefined && msg !== '(undefined)') return JSON.parse(msg) as Shown[];
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const deploy = (more: object[], type = 'full'): Promise<unknown> =>
    nodeRed.admin('POST', 'flows', { flows: [...flows, ...more] }, { 'Node-RED-Deployment-Type': type });

  it('reaches the Status node of its tab once, and also a Status node of a later deploy', async () => {
    await deploy(listener('first'));
    assert.deepEqual(
      (await shownTo('first')).map(({ code }) => code),
      ['api-key-missing'],
    );
    await deploy([...listener('first'), ...listener('second')], 'nodes');
    assert.deepEqual(
      (await shownTo('second')).map(({ code }) => code),
      ['api-key-missing'],
    );
    assert.equal((await shownTo('first')).length, 2);
  });
});
