import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { closeForm, openForm, pendingNote, useEditor } from '../support/editor-browser';
import { describeLong } from '../support/long';

/** How often each form is opened until the first count, and until the second one. */
const [few, many] = [2, 20];

const types = ['status', 'command', 'command-status', 'guard', 'event', 'condition'];
const flow = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'car', type: 'connected-vehicle', name: 'Demo car', service: 'demo' },
  ...types.map((type, row) => ({
    id: type,
    type: `connected-vehicle-${type}`,
    z: 'tab',
    vehicle: 'car',
    events: ['locked'],
    x: 300,
    y: 40 + row * 60,
    wires: [],
  })),
  { id: 'debug', type: 'debug', z: 'tab', x: 500, y: 40, wires: [] },
];

/**
 * In the editor, before any of its scripts: keeps account of what is begun, by
 * name, until it is ended.
 */
function keepAccount(): void {
  interface Begun {
    name: string;
    /** Whether it ends without a call, as with an element that has left the page. */
    isOver(): boolean;
  }
  const begun = new Map<unknown, Begun>();
  const isGone = (target: unknown): boolean => target instanceof Node && !target.isConnected;
  const nameOf = (target: unknown): string =>
    target instanceof Element ? target.localName : Object.prototype.toString.call(target).slice(8, -1);

  // Each listener of each target has its own key.
  const keys = new WeakMap<object, Map<string, object>>();
  const keyOf = (target: object, type: string, listener: unknown, isCapturing: boolean): object => {
    const ofTarget = keys.get(target) ?? new Map<string, object>();
    keys.set(target, ofTarget);
    const ids = listener as { accountId?: string };
    ids.accountId ??= String(Math.random());
    const name = `${type} ${ids.accountId} ${isCapturing}`;
    const key = ofTarget.get(name) ?? {};
    ofTarget.set(name, key);
    return key;
  };
  const isCapturing = (options: unknown): boolean =>
    typeof options === 'object' ? Boolean((options as AddEventListenerOptions | null)?.capture) : options === true;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    // Called without an object, it belongs to the window.
    const target = this ?? globalThis;
    if (listener !== null)
      begun.set(keyOf(target, type, listener, isCapturing(options)), {
        name: `listener of ${nameOf(target)}: ${type}`,
        isOver: () => isGone(target),
      });
    addEventListener.call(target, type, listener, options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    const target = this ?? globalThis;
    if (listener !== null) begun.delete(keyOf(target, type, listener, isCapturing(options)));
    removeEventListener.call(target, type, listener, options);
  };

  const { setInterval, clearInterval, setTimeout, clearTimeout } = globalThis;
  const begin = (key: unknown, name: string): void => void begun.set(key, { name, isOver: () => false });
  Object.assign(globalThis, {
    setInterval(work: () => void, ms?: number, ...given: []) {
      const id = setInterval(work, ms, ...given);
      begin(id, `interval of ${ms} ms`);
      return id;
    },
    setTimeout(work: (...given: unknown[]) => void, ms?: number, ...given: []) {
      const id = setTimeout(() => {
        begun.delete(id);
        if (typeof work === 'function') work(...given);
      }, ms);
      begin(id, `timer of ${ms} ms`);
      return id;
    },
    clearInterval(id: number) {
      begun.delete(id);
      clearInterval(id);
    },
    clearTimeout(id: number) {
      begun.delete(id);
      clearTimeout(id);
    },
  });
  for (const kind of ['ResizeObserver', 'MutationObserver', 'IntersectionObserver'] as const) {
    const { observe, disconnect } = globalThis[kind].prototype as MutationObserver;
    Object.assign(globalThis[kind].prototype, {
      observe(this: MutationObserver, target: Node, ...options: []) {
        begun.set(this, { name: `${kind} of ${nameOf(target)}`, isOver: () => isGone(target) });
        observe.call(this, target, ...options);
      },
      disconnect(this: MutationObserver) {
        begun.delete(this);
        disconnect.call(this);
      },
    });
  }
  Object.assign(globalThis, {
    countBegun(): Record<string, number> {
      const counts: Record<string, number> = {};
      const add = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
      for (const { name, isOver } of begun.values()) if (!isOver()) add(name);
      // jQuery has one listener of its own for many.
      for (const target of [document, globalThis, document.body]) {
        const { $ } = globalThis as unknown as { $: { _data(of: unknown, what: string): Record<string, unknown[]> } };
        for (const [type, handlers] of Object.entries($._data(target, 'events') ?? {}))
          for (const _handler of handlers) add(`jQuery listener of ${nameOf(target)}: ${type}`);
      }
      return counts;
    },
  });
}

/** In the editor, once it has been loaded: the same for what Node-RED calls back. */
function keepAccountOfNodeRed(): void {
  interface Emitter {
    on(name: string, listener: unknown): void;
    off(name: string, listener: unknown): void;
  }
  interface Comms {
    subscribe(name: string, listener: unknown): void;
    unsubscribe(name: string, listener: unknown): void;
  }
  const { RED } = globalThis as unknown as { RED: { events: Emitter; comms: Comms & Emitter } };
  const begun: [name: string, listener: unknown][] = [];
  const wrap = (target: Emitter | Comms, whose: string, begin: string, end: string): void => {
    const functions = target as unknown as Record<string, (name: string, listener: unknown) => void>;
    const [on, off] = [functions[begin], functions[end]];
    functions[begin] = (name, listener) => {
      begun.push([`${whose}: ${name}`, listener]);
      on?.call(target, name, listener);
    };
    functions[end] = (name, listener) => {
      const at = begun.findIndex(([known, other]) => known === `${whose}: ${name}` && other === listener);
      if (at >= 0) begun.splice(at, 1);
      off?.call(target, name, listener);
    };
  };
  wrap(RED.events, 'listener of RED.events', 'on', 'off');
  wrap(RED.comms, 'listener of RED.comms', 'on', 'off');
  wrap(RED.comms, 'subscription of RED.comms', 'subscribe', 'unsubscribe');
  const page = globalThis as unknown as { countBegun(): Record<string, number> };
  const { countBegun } = page;
  page.countBegun = () => {
    const counts = countBegun();
    for (const [name] of begun) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  };
}

describeLong(`What forms and the tab "Cars" begin in a browser${pendingNote}`, function () {
  const started = useEditor(flow, {
    // Forms that open faster than a person opens them ask more often than the addresses of the
    // pack answer in a minute.
    isKnown: (text) => text.includes('status of 429 (Too Many Requests)'),
    prepare: (opened) => opened.addInitScript(keepAccount),
  });
  let page: Page;
  /**
   * Begun and not ended by each opening of a form of Node-RED's own. Node-RED 5 keeps the links of
   * each form that it has opened.
   */
  let leftByNodeRed: string[] = [];

  before(async () => {
    ({ page } = started);
    await page.evaluate(keepAccountOfNodeRed);
    leftByNodeRed = (await leftOver(() => openAndClose('debug'))).map(({ name }) => name);
  });

  const openAndClose = async (id: string): Promise<void> => {
    await openForm(page, id);
    await closeForm(page);
  };
  const openTab = async (): Promise<void> => {
    await page.evaluate("RED.sidebar.show('connected-vehicle-cars')");
    await page.locator('.cars-list tr').first().waitFor();
    await page.evaluate("RED.sidebar.show('info')");
  };
  const count = (): Promise<Record<string, number>> => page.evaluate('countBegun()');
  /**
   * What each opening begins and does not end: the names that grow with the openings. A timer that
   * has begun may end without a call.
   */
  const leftOver = async (open: () => Promise<void>): Promise<{ name: string; counts: string }[]> => {
    const times = async (openings: number): Promise<void> => {
      for (let opened = 0; opened < openings; opened += 1) await open();
    };
    await times(few);
    const before = await count();
    await times(many - few);
    const left = async (): Promise<{ name: string; counts: string }[]> =>
      Object.entries(await count())
        .filter(([name, now]) => now - (before[name] ?? 0) >= many - few && !leftByNodeRed.includes(name))
        .map(([name, now]) => ({ name, counts: `${before[name] ?? 0} after ${few} openings, ${now} after ${many}` }));
    let found = await left();
    for (let tries = 0; tries < 250 && found.length > 0; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      found = await left();
    }
    return found;
  };

  for (const [what, open] of [
    ...['car', ...types].map((id) => [`the form of ${id}`, () => openAndClose(id)] as const),
    ['the tab “Cars”', openTab] as const,
  ])
    it(`ends with ${what}`, async () => assert.deepEqual(await leftOver(open), []));
});
