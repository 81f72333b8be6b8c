import { strict as assert } from 'node:assert';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { languages } from '../support/editor-halves';
import { itLong } from '../support/long';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { examples, filesBelow, nodeTypes, packageJson, root } from './checkout';
import { DebugSidebar } from './debug-sidebar';
import { pressButton, withoutPages } from './example-flow';
import { installTarball, packTarball, type Tarball } from './tarball';
import { connectedReadNames, resourceNames } from '../../src/catalogue/reads';
import { removeFolder } from '../support/remove-folder';

/** The JSON of what is shown first, or whether all that is shown so far is enough. */
type Expected = RegExp | ((shown: unknown[]) => boolean);

async function isShown(expected: Expected, sidebar: DebugSidebar, debug: string, ids: string[]): Promise<void> {
  if (expected instanceof RegExp) assert.match(JSON.stringify(await sidebar.next(debug, ...ids)), expected);
  else while (!expected(sidebar.all(debug, ...ids))) await sidebar.more();
}

/**
 * What the demo car does not report: no warning has a trigger, and a sensor is missing, as in
 * the vendor's demo car.
 */
const neverReported = ['serviceWarningTrigger', 'frontLeftTyrePressure', 'washerFluidLevel'];

/**
 * Every read of the service once, none of them missing, and each with a value but those that the
 * car does not report.
 */
function isWholeCar(shown: unknown[]): boolean {
  const parts = shown as { values: Record<string, unknown>; missing: unknown[] }[];
  const values = new Map(parts.flatMap((part) => Object.entries(part.values)));
  if (values.size < connectedReadNames.length + resourceNames.length) return false;
  assert.deepEqual([...values.keys()].sort(), [...connectedReadNames, ...resourceNames].sort());
  assert.deepEqual(
    parts.map(({ missing }) => missing),
    [[], [], []],
  );
  const without = resourceNames.filter((name) => ((values.get(name) as { value: unknown }).value ?? null) === null);
  assert.deepEqual(without, neverReported);
  return true;
}

/**
 * What a click on an inject node of an example makes a debug node show. Null: no further click, or
 * what the start shows; nothing to show.
 */
const clicks: Record<string, readonly [inject: string | null, debug: string | null, expected: Expected][]> = {
  'Start here': [['Read now', 'Answer', /^"Rear-right window is open"$/]],
  'Read the windows': [
    ['Read now', 'Each window', /"rearRight":\{"value":"OPEN"/],
    ['Read now', 'What is open', /"allClosed":false,"open":\["rearRight"\],"unknown":\[\]/],
  ],
  'Notify when a window is open': [[null, 'Notify', /^"Rear-right window is open"$/]],
  'Lock when everybody left': [['Everybody left', 'Notify', /^"The car is locked\."$/]],
  'Read several values at once': [
    ['Chosen in the node', 'Answer', /^"38 l, good for 520 km"$/],
    ['Named in msg.read', 'The values', /"engineRunning":\{"value":false/],
    [null, 'Answer', /^"Engine off, -?\d+ °C"$/],
  ],
  'Send any command from a message': [
    ['no such command', 'Why', /"This vehicle has no command “fly”/],
    ['lock', 'Outcome', /^"lock: succeeded, verified"$/],
    // The car accepts one command at a time, whichever flow sends it.
    ['flash', 'Outcome', /^"flash: succeeded"$/],
    ['honk-flash, version 1', 'On the way', /^"WAITING"$/],
    [null, 'Outcome', /^"honk-flash: succeeded"$/],
  ],
  // One message for each of its three nodes.
  'The whole car': [['Read everything', 'The whole car', isWholeCar]],
  'Window open and rain coming': [['Rain is coming', 'Notify', /rear-right window/i]],
  // Deployed without an error. Its events, and those of the other examples with events:
  // event-examples_spec.
  'Tell me when something happens': [],
  'Unlock the tailgate for a parcel': [
    ['Unlock the tailgate', 'Notify', /not armed/],
    ['The code was right', null, /./],
    ['Unlock the tailgate', 'Notify', /tailgate can be opened now/],
  ],
  'Morning report in one sentence': [
    ['At 7:00', 'Notify', /^"The car is locked; open: rear-right window; range 520 km; not known: washer fluid\."$/],
  ],
  'The car came home': [],
  'Trips into a CSV file': [],
  'Two cars side by side': [
    ['Read both', 'Petrol', /^"Locked, 1 open, 520 km left"$/],
    [null, 'Electric', /^"Locked, closed, \d+ km left"$/],
    ['Lock both', 'Outcome', /^"succeeded"$/],
  ],
  'Climate on a cold morning': [
    ['At 7:10, with -2 °C', 'Notify', /^"The climate control is assumed to be on until about \d\d:\d\d"$/],
    ['Try it with 12 °C', 'Notify', /^"No climate control needed at 12 °C"$/],
  ],
  'Start the engine behind arming': [
    ['Start, 10 minutes', 'Notify', /not armed/],
    ['Arm for a minute', null, /./],
    ['Start, 10 minutes', 'Notify', /^"The engine is running"$/],
    ['Stop', 'Notify', /^"The engine is off"$/],
  ],
  'Charged, tell me': [['State of charge?', 'Answer', /^"\d+ %, charging, \d h \d+ min left"$/]],
  'Plug in before the night': [
    ['At 21:00', 'Notify', /^"Electric demo car: Battery level: \d+ %, Charging cable: plugged in"$/],
  ],
  'Solar surplus through a wallbox': [
    ['Sun: 4600 W', 'In words', /^"Charge with 16 A, \d+ %"$/],
    ['Clouds: 200 W', 'In words', /^"Stop at \d+ %: too little sun"$/],
  ],
  // With a server, and with a browser: logbook-example_spec, logbook-page_spec.
  'Logbook to CSV and InfluxDB': [],
  'A logbook page with Dashboard 2': [],
  // By mouse: gauge-clicks_spec.
  'Battery and range on a gauge': [],
  'Cheap hours with the Volvo wallbox': [
    [
      'Pause at 6:00',
      'Answer',
      /^"Electric demo car: Pause the wallbox: The service accepted the command.*Nothing shows whether/,
    ],
    [
      'Start at 22:00',
      'Answer',
      /^"Electric demo car: Start the wallbox: .*An open charging session shows that it charges\."$/,
    ],
    ['Limit to 10 A', 'Answer', /^"Electric demo car: Limit the wallbox: /],
    ['Plan the night', 'Answer', /^"Electric demo car: Schedule the wallbox: /],
  ],
  'Lock in HomeKit': [
    ['Home app: lock', 'HomeKit lock, outcome', /^\{"LockTargetState":1,"LockCurrentState":1\}$/],
    ['Home app: unlock', 'HomeKit lock, outcome', /^\{"LockTargetState":1\}$/],
  ],
  'A page with Dashboard 2': [
    ['Button: flash', 'Last command', /^"Flash: succeeded"$/],
    [null, 'Page', (pages) => /"lock":"Locked".*"outcome":"Flash: succeeded"/.test(JSON.stringify(pages))],
  ],
  // With a server for its messages, and with a car that somebody forgets to lock:
  // example-faults_spec.
  'Push to the phone with ntfy': [['Try it', 'Not sent: no topic', /^"A test from Node-RED"$/]],
  'Lock it when I forgot': [],
  // With a broker: mqtt-example_spec.
  'Home Assistant through MQTT': [],
};

describe('The packed tarball', function () {
  let folder: string;
  let tarball: Tarball;
  let nodeRed: RealNodeRed;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tarball-'));
    tarball = await packTarball(folder);
    nodeRed = await startNodeRed([], installTarball(tarball));
  });

  after(async () => {
    await nodeRed?.stop();
    await removeFolder(folder);
  });

  const installed = (...path: string[]): string => join(nodeRed.userDir, 'node_modules', packageJson.name, ...path);

  const get = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(nodeRed.url + path, { headers });
    assert.equal(response.status, 200, path);
    return response.text();
  };

  describe('holds', () => {
    it('the compiled pack, its words, icons, examples and documents, and nothing else', () => {
      const meant = [
        /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
        /^examples\/[A-Z]\w+\/\d\d [^/]+\.json$/,
        /^dist\/nodes\/[\w-]+\.(js|html)$/,
        /^dist\/nodes\/LICENSES$/,
        /^dist\/nodes\/icons\/[\w-]+\.svg$/,
        /^dist\/nodes\/locales\/[\w-]+\/[\w-]+\.(json|html)$/,
        /^resources\/connected-vehicle(\.js|-cars\.mjs|(-[a-z-]+)?-dialog\.mjs|-words-[\w-]+\.json)$/,
      ];
      assert.deepEqual(
        tarball.paths.filter((path) => !meant.some((pattern) => pattern.test(path))),
        [],
      );
    });

    it('every example, every document and every part of each node', () => {
      const parts = nodeTypes.flatMap((type) => [
        `dist/nodes/${type}.js`,
        `dist/nodes/${type}.html`,
        `resources/${type}-dialog.mjs`,
      ]);
      const needed = [
        'README.md',
        'CHANGELOG.md',
        'LICENSE',
        'resources/connected-vehicle.js',
        'resources/connected-vehicle-cars.mjs',
        ...['de', 'en-US', 'fr'].map((language) => `resources/connected-vehicle-words-${language}.json`),
        ...parts,
        ...filesBelow('examples'),
        ...filesBelow('icons').map((icon) => `dist/nodes/${icon}`),
        ...filesBelow('nodes/locales').map((file) => `dist/${file}`),
      ];
      assert.deepEqual(
        needed.filter((path) => !tarball.paths.includes(path)),
        [],
      );
    });

    it('no path of the machine that built it', async () => {
      const files = (await readdir(installed(), { recursive: true, withFileTypes: true })).filter((entry) =>
        entry.isFile(),
      );
      for (const entry of files) {
        const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
        for (const path of [root, homedir(), folder])
          assert.ok(path === '/' || !text.includes(path), `${entry.name} names ${path}`);
      }
    });
  });

  describe('in a real Node-RED', () => {
    it('is loaded without an error', async () => {
      const module = (await nodeRed.admin('GET', `nodes/${packageJson.name}`)) as {
        version: string;
        nodes: { name: string; types: string[]; enabled: boolean; err?: unknown }[];
      };
      assert.equal(module.version, packageJson.version);
      assert.deepEqual(
        module.nodes.map(({ name, types, enabled, err }) => ({ name, types, enabled, err })),
        nodeTypes.map((type) => ({ name: type, types: [type], enabled: true, err: undefined })),
      );
    });

    it('gives the editor a template and a definition of each node', async () => {
      const html = await get('nodes', { accept: 'text/html' });
      for (const type of nodeTypes) {
        assert.ok(html.includes(`data-template-name="${type}"`), type);
        assert.ok(html.includes(`registerType("${type}"`), type);
      }
    });

    it('shows its icons', async () => {
      const icons = JSON.parse(await get('icons')) as Record<string, string[]>;
      const own = filesBelow('icons').map((icon) => icon.slice('icons/'.length));
      assert.deepEqual([...(icons[packageJson.name] ?? [])].sort(), own);
      for (const icon of own) assert.match(await get(`icons/${packageJson.name}/${icon}`), /<svg/);
    });

    for (const language of languages) {
      it(`speaks ${language}`, async () => {
        const html = await get('nodes', { accept: 'text/html', 'accept-language': language });
        const words = JSON.parse(await get(`nodes/messages?lng=${language}`)) as Record<
          string,
          Record<string, unknown>
        >;
        for (const type of nodeTypes) {
          assert.ok(html.includes(`data-help-name="${type}"`), type);
          assert.ok(words[`${packageJson.name}/${type}`]?.['palette'], type);
        }
      });
    }

    itLong('answers each example on the demo car', async () => {
      const imported = await Promise.all(
        examples.map(
          async ({ name }) =>
            JSON.parse(await get(`library/examples/flows/${packageJson.name}/${encodeURI(name)}`)) as {
              id: string;
              type: string;
              z?: string;
              name?: string;
              label?: string;
            }[],
        ),
      );
      const flows = [...new Map(withoutPages(imported.flat()).map((node) => [node.id, node])).values()];
      const sidebar = await DebugSidebar.open(nodeRed.url);
      try {
        const tabs = flows.filter(({ type }) => type === 'tab');
        const isClicked = (z: string | undefined, name: string | undefined): boolean =>
          (clicks[tabs.find(({ id }) => id === z)?.label ?? ''] ?? []).some(([button]) => button === name);
        // What a button also sends a second after the start could come after its click.
        const held = flows.map((node) =>
          node.type === 'inject' && isClicked(node.z, node.name) ? { ...node, once: false } : node,
        );
        await nodeRed.admin('POST', 'flows', { flows: held });
        assert.deepEqual(tabs.map(({ label }) => label).sort(), Object.keys(clicks).sort());
        const isShownAtStart = (label = ''): boolean => clicks[label]?.[0]?.[0] === null;
        const inOrder = [
          ...tabs.filter(({ label }) => isShownAtStart(label)),
          ...tabs.filter(({ label }) => !isShownAtStart(label)),
        ];
        for (const { id: tab, label = '' } of inOrder) {
          for (const [button, debug, expected] of clicks[label] ?? []) {
            if (button !== null) {
              const inject = flows.find(({ z, type, name }) => z === tab && type === 'inject' && name === button);
              sidebar.clear();
              await pressButton(nodeRed, inject?.id ?? '');
            }
            const shows = flows.filter(({ z, type, name }) => z === tab && type === 'debug' && name === debug);
            if (debug === null) continue;
            const ids = shows.map(({ id }) => id);
            await isShown(expected, sidebar, debug, ids);
          }
        }
      } finally {
        sidebar.close();
      }
    });
  });
});
