import { strict as assert } from 'node:assert';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import helper = require('node-red-node-test-helper');
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

/** Flows are imported together with the ids of their nodes, so an id can be anything. */
describe('a node whose id looks like a path', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp));

  const flowsFile = '[{"id":"of the user"}]';
  /** Every file and folder outside the folder of the pack. */
  const outside = (): string[] =>
    readdirSync(flow.userDir, { recursive: true })
      .map(String)
      .filter((name) => name !== 'connected-vehicle' && !name.startsWith(join('connected-vehicle', '/')))
      .sort();

  for (const [node, vehicle, guard] of [
    ['../../other', '../../flows', '../../other/guard'],
    ['..', '../..', '..'],
    ['a/b', './x', 'c\\..\\d'],
  ] as const) {
    it(`writes and removes nothing outside its own folder: ${node}, ${vehicle}`, async () => {
      mkdirSync(join(flow.userDir, 'other'));
      writeFileSync(join(flow.userDir, 'other', 'note.txt'), 'keep me');
      writeFileSync(join(flow.userDir, 'flows.json'), flowsFile);
      mkdirSync(join(flow.userDir, 'connected-vehicle'));
      writeFileSync(join(flow.userDir, 'connected-vehicle', 'sign-in.json'), 'keep me too');
      const before = outside();
      const of = { z: 'tab', vehicle };
      const account = { id: vehicle, ...customVehicle(service) };
      await flow.load({ type: 'connected-vehicle-status', vehicle }, account, demoCredentials, [
        { ...of, id: node, type: 'connected-vehicle-command-status', wires: [[], []] },
        { ...of, id: guard === node ? `${guard}/.` : guard, type: 'connected-vehicle-guard', wires: [['out0'], []] },
        { ...of, id: `${node}/./`, type: 'connected-vehicle-command', command: 'flash', wires: [[node, 'out1']] },
      ]);
      helper.getNode(`${node}/./`).receive({});
      await clock.advanceUntil(() => flow.outputs[1]?.length !== 0);
      await clock.advance(0);
      assert.deepEqual(outside(), before);
      await helper.setFlows([{ id: 'tab', type: 'tab', label: 'empty' }] as never, 'nodes');
      assert.deepEqual(outside(), before);
      assert.equal(readFileSync(join(flow.userDir, 'other', 'note.txt'), 'utf8'), 'keep me');
      assert.equal(readFileSync(join(flow.userDir, 'connected-vehicle', 'sign-in.json'), 'utf8'), 'keep me too');
    });
  }
});
