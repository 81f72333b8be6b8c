import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { axeFindings } from '../support/axe';
import {
  closeForm,
  formIsOpen,
  openForm,
  partOf,
  pendingNote,
  picture,
  showFlows,
  skipAfterFailure,
  useEditor,
} from '../support/editor-browser';

const node = (id: string, type: string, more: object = {}, z = 'tab', y = 100): object => ({
  id,
  z,
  type: `connected-vehicle-${type}`,
  vehicle: 'mine',
  x: 200,
  y,
  wires: [[], []],
  ...more,
});

/** A flow in which all but one node uses the car “Mine”, and the instances of two subflows. */
const flows = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'locked', type: 'tab', label: 'Locked', locked: true },
  {
    id: 'inside',
    type: 'subflow',
    name: 'Inside',
    in: [],
    out: [],
    env: [{ name: 'CAR', type: 'conf-type', value: '' }],
  },
  { id: 'mine', type: 'connected-vehicle', service: 'demo', name: 'Mine' },
  { id: 'wife', type: 'connected-vehicle', service: 'demo', name: 'Wife car', demoCar: 'electric' },
  node('read', 'status'),
  node('lock', 'command', { command: 'lock', vin: 'YV1CT9551B1570982' }, 'tab', 200),
  node('result', 'command-status', { vehicle: '' }, 'tab', 300),
  node('hers', 'guard', { vehicle: 'wife' }, 'tab', 400),
  node('elsewhere', 'status', {}, 'locked'),
  node('within', 'status', {}, 'inside'),
  node('chosen', 'status', { vehicle: '${CAR}' }, 'inside', 200),
  {
    id: 'instance',
    z: 'tab',
    type: 'subflow:inside',
    env: [{ name: 'CAR', type: 'conf-type', value: 'mine' }],
    x: 200,
    y: 500,
    wires: [],
  },
];

describe(`A car that is put into the flows${pendingNote}`, function () {
  skipAfterFailure(this);
  const started = useEditor([], { height: 800 });
  let page: Page;
  const tab = (name: string | RegExp) => page.locator('.cars-tab').getByRole('button', { name });
  const says = (text: string) => page.locator('.cars-tab').getByText(text).waitFor();
  const deployIs = (isActive: boolean) =>
    page.locator(`#red-ui-header-button-deploy${isActive ? ':not(.disabled)' : '.disabled'}`).waitFor();
  const undo = () => page.evaluate('RED.actions.invoke("core:undo")');
  const showTab = () => page.evaluate("RED.sidebar.show('connected-vehicle-cars')");
  /** The configurations and the nodes of the pack. */
  const held = (): Promise<string[]> =>
    page.evaluate(() => {
      const { RED } = globalThis as unknown as {
        RED: { nodes: Record<'eachConfig' | 'eachNode', (callback: (found: { type: string }) => void) => void> };
      };
      const types: string[] = [];
      for (const each of ['eachConfig', 'eachNode'] as const)
        RED.nodes[each](({ type }) => void (type.startsWith('connected-vehicle') && types.push(type)));
      return types;
    });

  before(async () => {
    ({ page } = started);
    await showTab();
  });

  it('is not added to a locked flow, nor while no flow is open', async () => {
    await tab('Add the demo car').waitFor();
    await page.evaluate('RED.nodes.workspace(RED.workspaces.active()).locked = true');
    await tab('Add the demo car').click();
    await says('This flow is locked.');
    await page.evaluate('RED.nodes.workspace(RED.workspaces.active()).locked = false');
    await page.evaluate('RED.workspaces.hide()');
    await tab('Add my Volvo').click();
    await says('Open a flow first.');
    assert.deepEqual(await held(), []);
    await page.evaluate('RED.nodes.eachWorkspace(({ id }) => RED.workspaces.show(id))');
    await deployIs(false);
  });

  for (const button of ['Cancel', 'Delete'])
    it(`is taken away again with “${button}” in the form that opened, and the tab keeps its buttons`, async () => {
      await tab('Add my Volvo').click();
      await formIsOpen(page);
      await deployIs(true);
      await page.locator('.red-ui-tray').getByRole('button', { name: button, exact: true }).click();
      await page.waitForSelector('.red-ui-tray', { state: 'detached' });
      assert.deepEqual(await held(), []);
      await deployIs(false);
      await tab('Add my Volvo').waitFor();
    });

  it('says which fields a sign-in lacks, and goes to the first one', async () => {
    await tab('Add my Volvo').click();
    await formIsOpen(page);
    await page.locator('#node-config-input-redirectUrl').fill('http://elsewhere');
    await page.locator('[data-ask=sign-in]').click();
    await partOf(page, 'signIn').getByText('First correct: Redirect URL, API key, Client ID, Client secret.').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'node-config-input-redirectUrl');
    await closeForm(page);
  });

  it('is read before the first deploy, if it is the demo car', async () => {
    await tab('Add the demo car').click();
    await says('Press “Deploy” to see the car here.');
    await openForm(page, await page.evaluate("RED.nodes.filterNodes({ type: 'connected-vehicle-status' })[0].id"));
    await page.locator('[data-ask=read]').click();
    await partOf(page, 'answer').getByText('msg.payload.rearRight.value').waitFor();
    await picture(page, 'add-read-now');
    // Another car is not.
    await page.evaluate(
      "RED.view.importNodes([{ id: 'own', type: 'connected-vehicle', service: 'volvo-cars', name: 'Own' }], { touchImport: true, notify: false })",
    );
    await page.locator('#node-input-vehicle').evaluate((select) => {
      const option = new Option('Own', 'own');
      (select as HTMLSelectElement).add(option);
    });
    await page.locator('#node-input-vehicle').selectOption('own');
    await partOf(page, 'waits').getByText('This vehicle can be read here after the first Deploy.').waitFor();
    assert.equal(await page.locator('[data-ask=read]').isDisabled(), true);
    await closeForm(page);
    await undo();
  });

  it('lets the flows be deployed, has the language of the editor, and is in the tab after that', async () => {
    await deployIs(true);
    const deployed = started.nodeRed.deployed();
    await page.locator('#red-ui-header-button-deploy').click();
    await deployed;
    await deployIs(false);
    await page.locator('.cars-list tr[data-fact=rearRightWindow]', { hasText: 'open' }).waitFor();
    const { flows: stored } = (await started.nodeRed.admin('GET', 'flows')) as {
      flows: { type: string; language?: string }[];
    };
    assert.equal(stored.find(({ type }) => type === 'connected-vehicle')?.language, 'en-US');
  });

  it('is used in the flow with +, which can be deployed and undone', async () => {
    const use = page.locator('.cars-list tr[data-fact=carLocked] button');
    await use.click();
    await deployIs(true);
    await undo();
    await deployIs(false);
    await page.evaluate('RED.nodes.workspace(RED.workspaces.active()).locked = true');
    await use.click();
    await says('This flow is locked.');
    await deployIs(false);
  });

  describe('for all nodes of a flow', () => {
    /** The car of each node, and the VIN if it has one. */
    const cars = () =>
      page.evaluate(() => {
        type Found = { vehicle?: string; vin?: string; env?: { value: string }[] };
        const { RED } = globalThis as unknown as { RED: { nodes: { node(id: string): Found } } };
        const ids = ['read', 'lock', 'result', 'hers', 'elsewhere', 'within', 'chosen', 'instance'];
        return ids.map((id) => {
          const { vehicle, vin, env } = RED.nodes.node(id);
          return [id, env?.[0]?.value ?? vehicle, vin].filter(Boolean).join(' ');
        });
      });
    /** The nodes that use a configuration, as the editor counts them. */
    const users = (id: string) => page.evaluate(`RED.nodes.node('${id}').users.map(({ id }) => id).sort().join(' ')`);
    const before = [
      'read mine',
      'lock mine YV1CT9551B1570982',
      'result',
      'hers wife',
      'elsewhere mine',
      'within mine',
      'chosen ${CAR}',
      'instance mine',
    ];
    const after = [
      'read wife',
      'lock wife',
      'result',
      'hers wife',
      'elsewhere mine',
      'within mine',
      'chosen ${CAR}',
      'instance wife',
    ];
    const openFlow = (id: string) => page.evaluate(`RED.workspaces.show('${id}')`);

    it('is offered with their number, and one step takes it back', async () => {
      await showFlows(page, started.nodeRed, flows);
      await openFlow('tab');
      await showTab();
      await page.locator('.cars-tab > select').selectOption({ label: 'Wife car …CDEMO2' });
      await picture(page, 'add-whole-flow');
      assert.deepEqual(await axeFindings(page, '.cars-tab'), []);
      await tab('Use this car for all nodes of this flow (3)').click();
      await says('Nodes that use this car now: 3. Press “Deploy”.');
      assert.deepEqual(await cars(), after);
      assert.equal(await users('wife'), 'hers instance lock read');
      assert.equal(await users('mine'), 'elsewhere within');
      await deployIs(true);
      await tab(/Use this car for all nodes/).waitFor({ state: 'hidden' });
      await undo();
      assert.deepEqual(await cars(), before);
      assert.equal(await users('wife'), 'hers');
      await deployIs(false);
      await tab('Use this car for all nodes of this flow (3)').waitFor();
    });

    it('is refused in a locked one', async () => {
      await openFlow('locked');
      await tab('Use this car for all nodes of this flow (1)').click();
      await says('This flow is locked.');
      assert.deepEqual(await cars(), before);
    });

    it('means the nodes of the subflow that is open', async () => {
      await openFlow('inside');
      await tab('Use this car for all nodes of this flow (1)').click();
      assert.equal((await cars())[5], 'within wife');
      assert.equal(await page.evaluate("RED.nodes.node('instance').changed"), true);
      await undo();
      assert.deepEqual(await cars(), before);
      assert.equal(Boolean(await page.evaluate("RED.nodes.node('instance').changed")), false);
      await deployIs(false);
    });

    it('is also in the form of the configuration, and takes place when that is saved', async () => {
      await openFlow('tab');
      await openForm(page, 'wife');
      const all = page.getByLabel('Use this car for all nodes of this flow (3)');
      await all.check();
      await all.scrollIntoViewIfNeeded();
      await picture(page, 'add-dialog');
      await closeForm(page);
      assert.deepEqual(await cars(), before);
      await openForm(page, 'wife');
      await all.check();
      await closeForm(page, 'ok');
      await deployIs(true);
      assert.deepEqual(await cars(), after);
      await undo();
      assert.deepEqual(await cars(), before);
      await openFlow('locked');
      await openForm(page, 'wife');
      await partOf(page, 'locked').getByText('This flow is locked.').waitFor();
      assert.equal(await page.getByLabel('Use this car for all nodes of this flow (1)').isDisabled(), true);
      await closeForm(page);
    });
  });
});
