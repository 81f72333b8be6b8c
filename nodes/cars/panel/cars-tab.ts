import type { CarSummary } from '../runtime/cars';
import styles from './cars.css';
import { CarsPanel } from './cars-panel';
import { request } from './requests';
import { element } from '../../../src/drawing/elements';

const { errorText } = connectedVehicle;

/** How often the displayed ages are updated; sends no request. */
const agesEveryMs = 10_000;

/**
 * Fills the tab "Cars": it shows what flows have read, and asks the runtime only after its signal
 * that something is new.
 * @returns what is to be called whenever the tab is shown
 */
export function openCarsTab(content: HTMLElement): () => void {
  const panel = new CarsPanel(() => void update());
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
  let isCounting = false;
  /** A deploy or an import reports each node. */
  const countSoon = (): void => {
    if (isCounting) return;
    isCounting = true;
    requestAnimationFrame(() => {
      isCounting = false;
      if (isVisible()) panel.refreshFlow();
    });
  };
  const whenShown = (): void => {
    panel.refreshAges();
    panel.refreshFlow();
    if (isStale) void update();
  };

  content.replaceChildren(element('style', {}, styles), panel.root);
  for (const topic of ['connected-vehicle/changed', 'notification/runtime-deploy'])
    RED.comms.subscribe(topic, () => void update());
  RED.comms.on('connect', () => void update());
  for (const event of ['workspace:change', 'nodes:add', 'nodes:change', 'nodes:remove'])
    RED.events.on(event, countSoon);
  RED.events.on('sidebar:resize', whenShown);
  document.addEventListener('visibilitychange', whenShown);
  setInterval(() => isVisible() && panel.refreshAges(), agesEveryMs);
  return whenShown;
}
