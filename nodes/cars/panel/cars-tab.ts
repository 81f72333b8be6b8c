import type { CarPicture, CarSummary } from '../runtime/cars';
import type { Answer, Refusal } from '../../editor/runtime-request';
import styles from './cars.css';
import { CarsPanel, type PanelMessage } from './cars-panel';
import { element } from '../../../src/simulator/page/elements';

const { ask, checkFindings, errorText, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

/** How often the displayed ages are updated; sends no request. */
const agesEveryMs = 10_000;

/**
 * Fills the tab "Cars": it shows what flows have read, and asks the runtime only after it said that there is something new.
 * @returns what is to be called whenever the tab is shown
 */
export function openCarsTab(content: HTMLElement): () => void {
  const request = <Members>(id: string, action: string, body: object = {}): Promise<Answer<Members>> =>
    new Promise((resolve) => ask<Members>(id, action, body, resolve));

  const panel = new CarsPanel({
    async read(car) {
      const { failed = [], error } = await request<{ failed: Refusal[] }>(car.key, 'read-car');
      if (error) return [problem(errorText(error))];
      return failed.length > 0
        ? failed.map((refusal) => problem(errorText(refusal)))
        : [{ text: say('state.read'), isProblem: false }];
    },
    async pictures(car) {
      const { pictures = [], error } = await request<{ pictures: CarPicture[] }>(car.key, 'pictures');
      return error ? errorText(error) : pictures;
    },
    async map(car) {
      const { position } = await request<{ position: string | null }>(car.key, 'position');
      const [latitude, longitude] = position?.split('/') ?? [];
      return longitude === undefined
        ? null
        : `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${position}`;
    },
    check: (car) =>
      new Promise((resolve) =>
        checkFindings(car.config, (lines) => resolve(lines.map(([text, isProblem = false]) => ({ text, isProblem })))),
      ),
    async click(car, click) {
      const { error } = await request<object>(car.key, 'click', click);
      void update();
      return error ? [problem(errorText(error))] : [];
    },
    async diagnostics(car) {
      const { diagnostics, error } = await request<{ diagnostics: object }>(car.config, 'diagnostics');
      if (error) return [problem(errorText(error))];
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
        else panel.fail(error ? errorText(error) : '');
      }
    } finally {
      isAsking = false;
    }
  };
  const whenShown = (): void => {
    panel.refreshAges();
    if (isStale) void update();
  };

  content.replaceChildren(element('style', {}, styles), panel.root);
  for (const topic of ['connected-vehicle/changed', 'notification/runtime-deploy'])
    RED.comms.subscribe(topic, () => void update());
  RED.comms.on('connect', () => void update());
  RED.events.on('sidebar:resize', whenShown);
  document.addEventListener('visibilitychange', whenShown);
  setInterval(() => isVisible() && panel.refreshAges(), agesEveryMs);
  return whenShown;
}

const problem = (text: string): PanelMessage => ({ text, isProblem: true });
