import type { Answer } from './shared/editor/ask';
import { CarsPanel, type PanelMessage } from './shared/cars-tab/cars-panel';
import type { CarSummary } from './shared/overview/cars';

const { ask, checkFindings, complaint, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

const tabId = 'connected-vehicle-cars';

/** How often the ages are counted on. Nothing is asked for it. */
const agesEveryMs = 10_000;

/** The tab "Cars" of the sidebar: it shows what flows have read, and asks the runtime only after it said that there is something new. */
function addTab(): void {
  const request = <Members>(id: string, action: string, body: object = {}): Promise<Answer<Members>> =>
    new Promise((resolve) => ask<Members>(id, action, body, resolve));

  const panel = new CarsPanel({
    async read(car) {
      const { failed = [], error } = await request<{ failed: string[] }>(car.key, 'read-car');
      if (error) return [problem(complaint(error))];
      return failed.length > 0 ? failed.map(problem) : [{ text: say('state.read'), isProblem: false }];
    },
    check: (car) =>
      new Promise((resolve) =>
        checkFindings(car.config, (lines) => resolve(lines.map(([text, isProblem = false]) => ({ text, isProblem })))),
      ),
    async click(car, click) {
      const { error } = await request<object>(car.key, 'click', click);
      void update();
      return error ? [problem(complaint(error))] : [];
    },
    async diagnostics(car) {
      const { diagnostics, error } = await request<{ diagnostics: object }>(car.config, 'diagnostics');
      if (error) return [problem(complaint(error))];
      RED.clipboard.copyText(JSON.stringify(diagnostics, null, 2));
      return [{ text: say('state.copied'), isProblem: false }];
    },
  });

  let isStale = true;
  let isAsking = false;
  const isVisible = (): boolean => document.visibilityState === 'visible' && $(panel.root).is(':visible');

  const update = async (): Promise<void> => {
    isStale = true;
    if (isAsking || !isVisible()) return;
    isAsking = true;
    try {
      while (isStale && isVisible()) {
        isStale = false;
        const { cars, error } = await request<{ cars: CarSummary[] }>('all', 'cars');
        if (cars) panel.show(cars);
        else panel.fail(error ? complaint(error) : '');
      }
    } finally {
      isAsking = false;
    }
  };
  const whenShown = (): void => {
    panel.refreshAges();
    if (isStale) void update();
  };

  RED.sidebar.addTab({
    id: tabId,
    label: say('tab.label'),
    name: say('tab.name'),
    iconClass: 'fa fa-car cars-icon',
    content: panel.root,
    enableOnEdit: true,
    // The editor shows the content after this call.
    onchange: () => setTimeout(whenShown),
  });
  RED.actions.add(`${tabId}:show`, () => RED.sidebar.show(tabId));
  for (const topic of ['connected-vehicle/changed', 'notification/runtime-deploy'])
    RED.comms.subscribe(topic, () => void update());
  RED.comms.on('connect', () => void update());
  RED.events.on('sidebar:resize', whenShown);
  document.addEventListener('visibilitychange', whenShown);
  setInterval(() => isVisible() && panel.refreshAges(), agesEveryMs);
}

const problem = (text: string): PanelMessage => ({ text, isProblem: true });

RED.plugins.registerPlugin(tabId, { type: tabId, onadd: addTab });
