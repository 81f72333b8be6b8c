import { isPluggedInWord, openings } from '../../../src/index';
import type { CarPart, CarViewState, OpeningName, OpeningState } from '../../../src/simulator/index';
import { openingNames, type CarViewWords } from '../../../src/drawing/car-view';
import { element } from '../../../src/drawing/elements';
import { LiveDrawing, wordsOfDrawing } from '../../../src/drawing/live-drawing';
import type { CarSummary } from '../runtime/cars';
import type { ShownName } from '../../vehicle/shown-values';

const { wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

export function stateOf(facts: CarSummary['facts']): CarViewState {
  const opening = (name: OpeningName): OpeningState => {
    const fact = facts[name];
    // Not every car has a sunroof: until one was read, it is not drawn.
    if (fact === undefined) return 'ifFitted' in openings[name] ? 'absent' : 'unknown';
    const known: readonly unknown[] = ['open', 'ajar', 'closed', 'absent'] satisfies OpeningState[];
    return known.includes(fact.value) ? (fact.value as OpeningState) : 'unknown';
  };
  const flag = (name: ShownName): boolean | null => {
    const value = facts[name]?.value;
    return typeof value === 'boolean' ? value : null;
  };
  const number = (name: ShownName): number | null => {
    const value = facts[name]?.value;
    return typeof value === 'number' ? value : null;
  };
  const has = (name: ShownName): boolean => facts[name] !== undefined && facts[name].value !== 'absent';
  const charging = facts.chargingStatus?.value;
  return {
    ...(Object.fromEntries(openingNames.map((name) => [name, opening(name)])) as Record<OpeningName, OpeningState>),
    notRead: new Set(openingNames.filter((name) => facts[name] === undefined)),
    locked: flag('carLocked'),
    engineRunning: flag('engineRunning'),
    ...(has('chargerConnectionStatus') && {
      plugged: isPluggedInWord(facts.chargerConnectionStatus?.value),
    }),
    chargingStatus: has('chargingStatus') && typeof charging === 'string' ? charging : null,
    ...(has('batteryChargeLevel') && { level: number('batteryChargeLevel') }),
    ...(has('fuelAmount') && { fuel: number('fuelAmount'), fuelUnit: facts.fuelAmount?.unit ?? 'liters' }),
  };
}

/** The car from above: what flows have read of a real car, or a demo car as it is, to click. */
export class CarDrawing {
  readonly root = element('div', { class: 'cars-drawing' });
  /** Names what is open, because the words beside the parts are small in a low tab. */
  readonly #open = element('p', { class: 'cars-open' });
  readonly #caption = element('p', { class: 'cars-caption' });
  readonly #drawing: LiveDrawing;

  constructor(onClick: (part: CarPart) => void) {
    this.#drawing = new LiveDrawing(wordsOfDrawing(say), onClick);
    this.root.append(this.#open, this.#drawing.root, this.#caption);
  }

  show({ key, facts, demo }: Pick<CarSummary, 'key' | 'facts' | 'demo'>): void {
    const read = stateOf(facts);
    const state = demo ?? read;
    this.#drawing.show(key, state, demo);
    this.#open.textContent = openPartsOf(state, this.#drawing.words).join(', ');
    this.#caption.textContent = demo === null ? '' : say(isAsRead(demo, read) ? 'demo.caption' : 'demo.notRead');
  }
}

/** Whether flows have read openings and lock as they are, but for what need not be there. */
const isAsRead = (demo: CarViewState, read: CarViewState): boolean =>
  demo.locked === read.locked &&
  openingNames.every((name) => [demo[name], read[name]].includes('absent') || demo[name] === read[name]);

/** `Rear-right window open`, as the status of a node shows it, and the unlocked lock. */
function openPartsOf(state: CarViewState, { parts, states }: CarViewWords): string[] {
  const text = (part: string, word: string): string => say('state.of', { part, word });
  const open = openingNames.flatMap((name) => {
    const word = state[name];
    return word === 'open' || word === 'ajar' ? [text(parts[name], states[word])] : [];
  });
  return state.locked === false ? [...open, text(parts.lock, states.unlocked)] : open;
}
