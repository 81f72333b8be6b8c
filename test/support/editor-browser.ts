import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import type { OwnClock } from './own-clock';
import { fewNodes, linkCheckout, startNodeRed, type RealNodeRed } from './real-node-red';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const missing = existsSync(executablePath)
  ? ''
  : `there is no browser at ${executablePath}; the variable CHROMIUM can name another`;

/** Stands in the title of a suite that needs a browser. */
export const pendingNote = missing && ` (pending: ${missing})`;

/**
 * What a test does not need: processes for the graphics card, for the network and for a page that
 * may come; the compilers for code that runs for long; and the popups of the address bar, which
 * each new window would load. The last lists of features replace those of Playwright, of which the
 * other names are.
 */
const spared = [
  '--in-process-gpu',
  '--renderer-process-limit=1',
  '--js-flags=--no-opt --no-maglev',
  '--enable-features=NetworkServiceInProcess2,CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies',
  '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch',
];

/** Without a browser, the suite is skipped, and fails in CI. */
function needBrowser(suite: Mocha.Context): void {
  if (missing === '') return;
  assert.notEqual(process.env['CI'], 'true', `The browser tests must run here, but ${missing}`);
  suite.skip();
}

/** Names of this machine, as other machines in a house have them. */
const hosts = '--host-resolver-rules=MAP garage 127.0.0.1, MAP homeassistant 127.0.0.1';

/**
 * Starts the browser, with more arguments, which replace those of the same name. Without one, the
 * suite is skipped, and fails in CI.
 */
export async function launchBrowser(suite: Mocha.Context, ...more: string[]): Promise<Browser> {
  needBrowser(suite);
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...spared, hosts, ...more] });
}

/** In a worker of Mocha, its files share a browser, which ends with the worker. */
const isWorker = process.env['MOCHA_WORKER_ID'] !== undefined;
let ofWorker: Browser | undefined;

async function takeBrowser(suite: Mocha.Context, args: readonly string[]): Promise<Browser> {
  if (!isWorker || args.length > 0) return launchBrowser(suite, ...args);
  if (ofWorker?.isConnected() !== true) ofWorker = await launchBrowser(suite);
  return ofWorker;
}

async function giveBack(browser: Browser): Promise<void> {
  if (browser !== ofWorker) return browser.close();
  await Promise.all(browser.contexts().map((context) => context.close()));
  contexts.delete(browser);
}

/** What the tests of an editor use. Both are there before the hooks of the suite run. */
export interface Started {
  browser: Browser;
  nodeRed: RealNodeRed;
}

/**
 * Starts a browser, with more arguments, and a Node-RED with few nodes, both at the same time, and
 * ends them after the suite. Without more arguments, the browser may be that of the worker.
 */
export function useEditors(
  flows: readonly object[] = [],
  {
    install = linkCheckout,
    args = [],
    settings = fewNodes,
    clock,
  }: { install?: typeof linkCheckout; args?: string[]; settings?: object; clock?: OwnClock } = {},
): Started {
  // Filled before the first test.
  const started = {} as Partial<Started> as Started;
  before(async function () {
    needBrowser(this);
    [started.browser, started.nodeRed] = await Promise.all([
      takeBrowser(this, args),
      startNodeRed(flows, install, settings, clock?.environment),
    ]);
  });
  after(async () => {
    if (started.browser !== undefined) await giveBack(started.browser);
    await started.nodeRed?.stop();
  });
  return started;
}

/** What the tests of one open editor use. */
export interface Opened extends Started {
  page: Page;
  /** What the page has complained of. */
  complaints: string[];
}

/**
 * The same, and opens an editor before the hooks of the suite run. A test fails
 * if the page complains.
 */
export function useEditor(
  flows: readonly object[],
  editor: Omit<EditorOptions, 'complaints'> = {},
  more?: Parameters<typeof useEditors>[1],
): Opened {
  // Its page is there before the first test.
  const opened = Object.assign(useEditors(flows, more), { complaints: [] }) as Partial<Opened> as Opened;
  before(async () => {
    opened.page = await openEditor(opened.browser, opened.nodeRed.url, { ...editor, complaints: opened.complaints });
  });
  afterEach(() => assert.deepEqual(opened.complaints, []));
  return opened;
}

/**
 * For a suite whose tests work on one page, one after the other. The `bail` of Mocha would also
 * skip them after a failure of another suite.
 */
export function skipAfterFailure(suite: Mocha.Suite): void {
  let hasFailed = false;
  suite.beforeEach(function () {
    if (hasFailed) this.skip();
  });
  suite.afterEach(function () {
    hasFailed ||= this.currentTest?.state === 'failed';
  });
}

export interface EditorOptions {
  locale?: string;
  height?: number;
  /**
   * Gets every complaint of the page, of its console and of Node-RED's check of the definitions.
   */
  complaints: string[];
  /** An error in the console that does not come from the pack. */
  isKnown?(text: string): boolean;
  /** Called before the editor is loaded. */
  prepare?(page: Page): unknown;
}

/** Editors of one language share a cache, so that the second one compiles no scripts. */
const contexts = new WeakMap<Browser, Map<string, BrowserContext>>();

/** Opens an editor of the Node-RED at an address. */
export async function openEditor(
  browser: Browser,
  url: string,
  { locale = 'en-US', height = 1000, complaints, isKnown = () => false, prepare }: EditorOptions,
): Promise<Page> {
  const key = `${locale} ${height}`;
  const ofBrowser = contexts.get(browser) ?? new Map<string, BrowserContext>();
  contexts.set(browser, ofBrowser);
  const context = ofBrowser.get(key) ?? (await browser.newContext({ locale, viewport: { width: 1400, height } }));
  ofBrowser.set(key, context);
  const page = await context.newPage();
  // Long enough for a busy machine: a verdict may come late, and is the same.
  page.setDefaultTimeout(600_000);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    const isComplaint = message.type() === 'error' || /Definition error|onedit|Validation error/.test(text);
    if (isComplaint && !isKnown(text)) complaints.push(text);
  });
  await page.addInitScript(showAtOnce, process.env['SCREENSHOTS'] !== undefined);
  await prepare?.(page);
  await loadEditor(page, url);
  return page;
}

/**
 * Nothing slides or fades, and the page is transparent, because drawing it would be much of the
 * work of a test: it keeps its layout and takes clicks.
 * @param isDrawn for screenshots
 */
function showAtOnce(isDrawn: boolean): void {
  const styles = new CSSStyleSheet();
  styles.replaceSync(
    `*, ::before, ::after { transition: none !important; animation: none !important } html { opacity: ${isDrawn ? 1 : 0} }`,
  );
  document.adoptedStyleSheets = [styles];
}

/** Loads or reloads an editor, and waits until its palette and its flows are there. */
export async function loadEditor(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: 'domcontentloaded', timeout: 600_000 });
  await page.waitForFunction(() => {
    const isInPalette =
      document.querySelector('.red-ui-palette-node[data-palette-type="connected-vehicle-status"]') !== null;
    return isInPalette && !document.querySelector('#red-ui-loading-progress')?.checkVisibility();
  });
  await page.evaluate(markOpenForms);
}

/**
 * In the editor: marks a form when Node-RED has shown it, which is after it gave its size and
 * before it gives the focus to the first field.
 */
function markOpenForms(): void {
  interface Tray {
    show?: (...given: unknown[]) => unknown;
  }
  const { tray } = (globalThis as unknown as { RED: { tray: { show(options?: Tray): void } } }).RED;
  const show = tray.show;
  tray.show = (options) => {
    const trays = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.red-ui-tray')];
    for (const earlier of trays()) delete earlier.dataset['shown'];
    const whenShown = options?.show;
    if (options !== undefined)
      options.show = (...given) => {
        whenShown?.apply(options, given);
        for (const shown of trays().slice(-1)) shown.dataset['shown'] = '';
      };
    show(options);
  };
}

/** Imports an example of the pack, by mouse: 7 clicks. @param name what the dialog shows of it */
export async function importExample(
  page: Page,
  folder: string,
  name: string | RegExp,
  click: (target: Locator) => Promise<void> = (target) => target.click(),
): Promise<void> {
  await click(page.locator('#red-ui-header-button-sidemenu'));
  await click(page.locator('#menu-item-import'));
  await click(page.locator('#red-ui-clipboard-dialog-import-tabs').getByText('Examples', { exact: true }));
  const tree = page.locator('#red-ui-clipboard-dialog-import-tab-examples');
  for (const label of ['@connected-vehicle/node-red', folder, name])
    await click(tree.locator('.red-ui-treeList-label:visible', { hasText: label }).first());
  await click(page.locator('#red-ui-clipboard-dialog-ok'));
}

/**
 * Before Node-RED has finished a form, it moves the focus, which closes a menu. The code of the
 * form may come later.
 */
export const formIsOpen = (page: Page): Promise<unknown> =>
  // In each frame, a selector of Playwright would look into each element for a shadow tree.
  page.waitForFunction(() => document.querySelector('.red-ui-tray[data-shown]:not(:has([aria-busy=true]))') !== null);

/** What the tests ask of the editor itself. */
interface Editor {
  nodes: {
    clear(): void;
    import(flows: unknown): void;
    version(revision: string | null): void;
    dirty(isDirty: boolean): void;
    node(id: string): { type: string; _def: { category: string } };
  };
  history: { clear(): void };
  view: { redraw(isAll: boolean): void };
  editor: { edit(node: object): void; editConfig(name: string, type: string, id: string): void };
}

/** Opens the form of a node or of a configuration. */
export async function openForm(page: Page, id: string): Promise<void> {
  await beginForm(page, id);
  await formIsOpen(page);
}

/** The same, without waiting. */
export const beginForm = (page: Page, id: string): Promise<void> =>
  page.evaluate((of) => {
    const { RED } = globalThis as unknown as { RED: Editor };
    const node = RED.nodes.node(of);
    if (node._def.category === 'config') RED.editor.editConfig('', node.type, of);
    else RED.editor.edit(node);
  }, id);

/** Ends the only form that is open. */
export async function closeForm(page: Page, button: 'ok' | 'cancel' = 'cancel'): Promise<void> {
  // Not by mouse: a notification of the editor may lie above it.
  await page.locator(`:is(#node-dialog-${button}, #node-config-dialog-${button})`).dispatchEvent('click');
  await page.waitForFunction(() => document.querySelector('.red-ui-tray') === null);
}

/**
 * Shows other flows in an open editor, as it shows those of another project, and deploys them: it
 * is not loaded again.
 */
export async function showFlows(page: Page, nodeRed: RealNodeRed, flows: readonly object[]): Promise<void> {
  // First: it forgets the status of a node that it does not have.
  await page.evaluate(
    (shown) => {
      const { RED } = globalThis as unknown as { RED: Editor };
      // An editor of no version says nothing of flows that somebody else has deployed.
      RED.nodes.version(null);
      RED.nodes.clear();
      RED.history.clear();
      RED.nodes.import(shown);
    },
    flows.map(({ credentials: _secret, ...node }: { credentials?: object }) => node),
  );
  const { rev } = (await nodeRed.admin('POST', 'flows', { flows })) as { rev: string };
  await page.evaluate((revision) => {
    const { RED } = globalThis as unknown as { RED: Editor };
    RED.nodes.version(revision);
    RED.nodes.dirty(false);
    RED.view.redraw(true);
  }, rev);
}

/** Shows the editor in a dark theme, that of Node-RED 5 or one for 4.1, and light again. */
export async function showTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  const file = require.resolve('@node-red-contrib-themes/dark/theme.min.css');
  // Its pictures of grips are beside the file.
  const styles = readFileSync(file, 'utf8').replaceAll(/url\([^)]*\)/g, 'none');
  await page.evaluate(
    async ([isDark, css]) => {
      document.querySelector('#dark-theme')?.remove();
      const { RED } = globalThis as unknown as { RED: { settings: { version: string } } };
      if (!RED.settings.version.startsWith('4.')) document.documentElement.classList.toggle('nr-theme-dark', isDark);
      else if (isDark)
        document.head.append(Object.assign(document.createElement('style'), { id: 'dark-theme', textContent: css }));
      const fades = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
      await Promise.allSettled(fades.map((fade) => fade.finished));
    },
    [theme === 'dark', styles] as const,
  );
}

/** An answer of the runtime that an editor gets late. */
export interface HeldAnswer {
  /** Resolves when the editor has asked. */
  asked: Promise<void>;
  /** Lets the editor have it, and waits until the editor has dealt with it. */
  letGo(): Promise<void>;
}

/**
 * Holds back the next answer to an action of a form or of the tab "Cars", as if the network
 * or the car were slow.
 * @param body default: what the runtime answers
 */
export async function holdAnswer(page: Page, action: string, body?: object): Promise<HeldAnswer> {
  const asked = promised();
  const released = promised();
  await page.route(
    new RegExp(`/connected-vehicle/[^/]+/${action}$`),
    async (route) => {
      const answer = body === undefined ? { response: await route.fetch() } : { json: body };
      asked.resolve();
      await released.promise;
      await route.fulfill(answer);
    },
    { times: 1 },
  );
  // jQuery calls this after all that waits for the answer.
  const dealtWith = await page.evaluateHandle(
    (end) => ({
      promise: new Promise<void>((resolve) => {
        const { $ } = globalThis as unknown as { $: JQueryStatic };
        $(document).on('ajaxComplete', (_event, _xhr, { url }) => url?.endsWith(end) && resolve());
      }),
    }),
    `/${action}`,
  );
  return {
    asked: asked.promise,
    async letGo() {
      released.resolve();
      await dealtWith.evaluate(({ promise }) => promise);
    },
  };
}

function promised(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** A part of an open form that is not a property. */
export const partOf = (page: Page, name: string) => page.locator(`.car-form [data-part="${name}"]`);

/** SCREENSHOTS names a folder for pictures to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
