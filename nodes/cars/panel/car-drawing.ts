import { openings } from '../../../src/index';
import type { CarPart, CarViewState, OpeningName, OpeningState } from '../../../src/simulator/index';
import {
  carSvg,
  drawCar,
  openingNames,
  partOf,
  signalCar,
  type CarViewWords,
} from '../../../src/simulator/page/car-view';
import type { CarSummary } from '../runtime/cars';
import type { FactName } from '../runtime/facts';
import { element } from './elements';

const { wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

/** The drawing of what flows have read. */
export function stateOf(facts: CarSummary['facts']): CarViewState {
  const opening = (name: OpeningName): OpeningState => {
    const fact = facts[name];
    // Not every car has a sunroof: until one was read, it is not drawn.
    if (fact === undefined) return 'ifFitted' in openings[name] ? 'absent' : 'unknown';
    const known: readonly unknown[] = ['open', 'ajar', 'closed', 'absent'] satisfies OpeningState[];
    return known.includes(fact.value) ? (fact.value as OpeningState) : 'unknown';
  };
  const flag = (name: FactName): boolean | null => {
    const value = facts[name]?.value;
    return typeof value === 'boolean' ? value : null;
  };
  const number = (name: FactName): number | null => {
    const value = facts[name]?.value;
    return typeof value === 'number' ? value : null;
  };
  const has = (name: FactName): boolean => facts[name] !== undefined && facts[name].value !== 'absent';
  const plug = facts.chargerConnectionStatus?.value;
  const charging = facts.chargingStatus?.value;
  return {
    ...(Object.fromEntries(openingNames.map((name) => [name, opening(name)])) as Record<OpeningName, OpeningState>),
    notRead: new Set(openingNames.filter((name) => facts[name] === undefined)),
    locked: flag('carLocked'),
    engineRunning: flag('engineRunning'),
    ...(has('chargerConnectionStatus') && {
      plugged: plug === 'CONNECTED' ? true : plug === 'DISCONNECTED' ? false : null,
    }),
    chargingStatus: has('chargingStatus') && typeof charging === 'string' ? charging : null,
    ...(has('batteryChargeLevel') && { level: number('batteryChargeLevel') }),
    ...(has('fuelAmount') && { fuel: number('fuelAmount') }),
  };
}

/** The car from above: what flows have read of a real car, or a demo car as it is, to click. */
export class CarDrawing {
  readonly root = element('div', { class: 'cars-drawing' });
  /** Names what is open, because the words beside the parts are small in a low tab. */
  readonly #open = element('p', { class: 'cars-open' });
  readonly #view = element('div', { class: 'cars-view' });
  readonly #caption = element('p', { class: 'cars-caption' });
  readonly #onClick: (part: CarPart) => void;
  #interactive: boolean | undefined;
  #words: CarViewWords | undefined;
  /** The last command that was shown; undefined before a demo car was drawn. */
  #signalled: string | null | undefined;

  constructor(onClick: (part: CarPart) => void) {
    this.#onClick = onClick;
    this.root.append(this.#open, this.#view, this.#caption);
    this.root.addEventListener('click', (event) => this.#click(event));
    this.root.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      // A blank would scroll the tab.
      event.preventDefault();
      this.#click(event);
    });
  }

  show({ facts, demo }: Pick<CarSummary, 'facts' | 'demo'>, isOtherCar: boolean): void {
    const interactive = demo !== null;
    if (interactive !== this.#interactive) {
      this.#interactive = interactive;
      // The markup is constant; nothing of a service is in it.
      this.#view.innerHTML = carSvg({ interactive });
      this.#caption.textContent = interactive ? say('demo.caption') : '';
    }
    const svg = this.root.querySelector('svg');
    if (svg === null) return;
    this.#words ??= wordsOfDrawing();
    const state = demo ?? stateOf(facts);
    drawCar(svg, state, this.#words);
    this.#open.textContent = openPartsOf(state, this.#words).join(', ');
    if (isOtherCar) this.#signalled = undefined;
    if (demo !== null) this.#signal(svg, demo);
  }

  /** Flashes and honks for a command that the car has carried out since it was drawn first. */
  #signal(svg: SVGSVGElement, { lastCommand }: NonNullable<CarSummary['demo']>): void {
    const done = lastCommand?.acted === true ? lastCommand : null;
    const isNew = this.#signalled !== undefined && done !== null && done.id !== this.#signalled;
    this.#signalled = done?.id ?? this.#signalled ?? null;
    if (!isNew || done === null) return;
    // A real car flashes when it is locked, too.
    if (/flash|lock/.test(done.command)) signalCar(svg, 'flash');
    if (done.command.includes('honk')) signalCar(svg, 'honk');
  }

  #click(event: Event): void {
    const part = partOf(event.target);
    if (part !== null) this.#onClick(part);
  }
}

/** `Rear-right window: open` for each part that is not closed, and the lock where it is unlocked. */
function openPartsOf(state: CarViewState, { parts, states }: CarViewWords): string[] {
  const open = openingNames.flatMap((name) => {
    const word = state[name];
    return word === 'open' || word === 'ajar' ? [`${parts[name]}: ${states[word]}`] : [];
  });
  return state.locked === false ? [...open, `${parts.lock}: ${states.unlocked}`] : open;
}

function wordsOfDrawing(): CarViewWords {
  const parts = Object.fromEntries([...openingNames, 'lock', 'plug'].map((name) => [name, say(`part.${name}`)]));
  const states = ['open', 'ajar', 'closed', 'unknown', 'locked', 'unlocked', 'plugged', 'unplugged'];
  // Each name has its text.
  return {
    parts: parts as CarViewWords['parts'],
    states: Object.fromEntries(states.map((state) => [state, say(`state.${state}`)])) as CarViewWords['states'],
  };
}
