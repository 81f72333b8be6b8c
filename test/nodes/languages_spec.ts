import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { electricCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow, type Received } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';
import { everyNth } from '../support/long';
import { fewNodesAnd, startNodeRed } from '../support/real-node-red';

interface Said {
  condition: string;
  status: string;
  alert: string;
  event: string;
  failure: string;
}

/** The texts of each node about the same car, written by hand. */
const said: Record<string, Said> = {
  de: {
    condition: 'Ladestand: 53 %, Ladekabel: nicht eingesteckt',
    status: 'ja · ',
    alert: 'Fenster vorn links und Heckklappe seit weniger als einer Minute offen',
    event: 'Fenster hinten rechts ist offen',
    failure: 'Den Wert „windosw“ gibt es nicht. Meinten Sie „windows“?',
  },
  fr: {
    condition: 'Niveau de la batterie : 53 %, Câble de charge : non branché',
    status: 'oui · ',
    alert: 'Ouvert depuis moins d’une minute : vitre avant gauche et hayon',
    event: 'Ouvert : vitre arrière droite',
    failure: 'La valeur « windosw » n’existe pas. Vouliez-vous dire « windows » ?',
  },
  nb: {
    condition: 'Batterinivå: 53 %, Ladekabel: ikke tilkoblet',
    status: 'ja · ',
    alert: 'Åpent i mindre enn ett minutt: venstre vindu foran og bakluke',
    event: 'Åpent: høyre vindu bak',
    failure: 'Det finnes ingen verdi «windosw». Mente du «windows»?',
  },
  nl: {
    condition: 'Batterijniveau: 53 %, Laadkabel: niet aangesloten',
    status: 'ja · ',
    alert: 'Raam linksvoor en achterklep al minder dan een minuut open',
    event: 'Raam rechtsachter is open',
    failure: 'De waarde “windosw” bestaat niet. Bedoelde u “windows”?',
  },
  sv: {
    condition: 'Batterinivå: 53 %, Laddkabel: inte inkopplad',
    status: 'ja · ',
    alert: 'Öppet i mindre än en minut: vänster ruta fram och baklucka',
    event: 'Öppet: höger ruta bak',
    failure: 'Det finns inget värde ”windosw”. Menade du ”windows”?',
  },
};

const locales = resolve(__dirname, '../../../nodes/locales');
const textsOf = (language: string, file: string): Record<string, string> =>
  Object.fromEntries(flat(JSON.parse(readFileSync(join(locales, language, file), 'utf8'))));
const flat = (value: unknown, path = ''): [string, string][] =>
  typeof value === 'string'
    ? [[path, value]]
    : Object.entries(value as object).flatMap(([key, inner]) => flat(inner, `${path}.${key}`));
const placesOf = (text = ''): string[] => (text.match(/__\w+__|\{\w+\}/g) ?? []).sort();

describe('The texts that reach people', () => {
  for (const language of Object.keys(said))
    it(`are all there in ${language}, with the same places`, () => {
      const english = textsOf('en-US', 'runtime.json');
      const runtime = textsOf(language, 'runtime.json');
      assert.deepEqual(Object.keys(runtime).sort(), Object.keys(english).sort());
      for (const [key, text] of Object.entries(runtime)) assert.deepEqual(placesOf(text), placesOf(english[key]), key);
      const sentences = textsOf(language, 'sentences.json');
      // Those of German are compared with the code (sentences_spec).
      assert.deepEqual(Object.keys(sentences).sort(), Object.keys(textsOf('de', 'sentences.json')).sort());
      for (const [english, text] of Object.entries(sentences)) assert.deepEqual(placesOf(text), placesOf(english));
    });
});

describe('The language of a vehicle configuration', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), {
    cars: [{ ...electricCar, charger: { connection: 'DISCONNECTED' } }],
  });

  const load = async (language: string, node: Record<string, unknown>): Promise<void> => {
    await flow.unload();
    Object.assign(flow, { outputs: [[], [], []], caught: [], completed: [], badges: [] });
    await flow.load(node as { type: string }, customVehicle(service, { language }), demoCredentials);
  };
  const textOf = (msg: Received): unknown => (msg.payload as { text: unknown }).text;

  for (const [language, { condition, status, alert, event, failure }] of Object.entries(said)) {
    it(`${language} is that of the texts that reach people, in an English Node-RED`, async () => {
      await load(language, {
        type: 'connected-vehicle-condition',
        conditions: [
          { value: 'batteryChargeLevel', operator: '<', operand: '60', operandType: 'num' },
          { value: 'chargerConnectionStatus', operator: 'is', operand: 'DISCONNECTED', operandType: 'str' },
        ],
      });
      flow.send({});
      const yes = await flow.until(() => flow.outputs[0]?.[0]);
      assert.equal((yes.vehicle as unknown as { text: string }).text, condition);
      assert.ok(flow.badges.at(-1)?.text?.startsWith(status), flow.badges.at(-1)?.text);

      await load(language, { type: 'connected-vehicle-status', read: 'windows' });
      flow.send({ read: 'windosw' });
      const { error } = (await flow.until(() => flow.caught[0])).vehicle as unknown as {
        error: { text: string; message: string };
      };
      assert.equal(error.text, failure);
      assert.match(error.message, /^There is no value/);

      service
        .car()
        .set({ windows: { frontLeft: 'OPEN' } })
        .set({ doors: { tailGate: 'OPEN' } });
      await load(language, { type: 'connected-vehicle-guard', timeZone: 'UTC', poll: 0 });
      flow.send({ ask: true });
      assert.equal(textOf(await flow.until(() => flow.outputs[0]?.[0])), alert);
      service
        .car()
        .set({ windows: { frontLeft: 'CLOSED' } })
        .set({ doors: { tailGate: 'CLOSED' } });

      await load(language, { type: 'connected-vehicle-event', poll: 60, events: ['window-opened'] });
      await clock.advanceUntil(() => service.requests.some(({ path }) => path.endsWith('/windows')), 1_000);
      await clock.advanceInSteps(180_000, 15_000);
      service.car().set({ windows: { rearRight: 'OPEN' } });
      await clock.advanceUntil(() => (flow.outputs[0] ?? []).length > 0, 1_000);
      assert.equal(textOf(flow.outputs[0]?.[0] ?? assert.fail()), event);
    });
  }
});

describe('A vehicle configuration without a language', function () {
  const flows = [
    { id: 'tab', type: 'tab', label: 'Car' },
    { id: 'car', type: 'connected-vehicle', service: 'demo' },
    { id: 'ask', z: 'tab', type: 'http in', url: '/ask', method: 'get', wires: [['misspelt']] },
    {
      id: 'misspelt',
      z: 'tab',
      type: 'change',
      rules: [{ t: 'set', p: 'read', pt: 'msg', to: 'windosw', tot: 'str' }],
      wires: [['read']],
    },
    { id: 'read', z: 'tab', type: 'connected-vehicle-status', vehicle: 'car', read: 'windows', wires: [[]] },
    { id: 'catch', z: 'tab', type: 'catch', x: 1, y: 1, wires: [['text']] },
    {
      id: 'text',
      z: 'tab',
      type: 'change',
      rules: [{ t: 'set', p: 'payload', pt: 'msg', to: 'vehicle.error.text', tot: 'msg' }],
      wires: [['answer']],
    },
    { id: 'answer', z: 'tab', type: 'http response', wires: [] },
  ];

  for (const [setting, spoken] of everyNth(2, [
    ['sv-SE', 'sv'],
    ['nb', 'nb'],
    ['it', 'en-US'],
    ['nl', 'nl'],
  ] as const))
    it(`speaks ${spoken} in a Node-RED with lang "${setting}"`, async () => {
      const nodeRed = await startNodeRed([], undefined, { ...fewNodesAnd('21-httpin.js'), lang: setting });
      try {
        await nodeRed.admin('POST', 'flows', { flows });
        const text = await (await fetch(`${nodeRed.url}ask`)).text();
        assert.equal(text, said[spoken]?.failure ?? 'There is no value “windosw”. Did you mean “windows”?');
      } finally {
        await nodeRed.stop();
      }
    });
});
