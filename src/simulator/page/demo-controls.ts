import type { CarPart } from '../../drawing/car-view-state';
import type { CarClick, SimulatedCarView } from '../control/click';
import { demoFaultNames, type DemoFault } from '../control/demo-faults';
import { button, element, Section, type Say } from '../../drawing/elements';

type ShownCar = Omit<SimulatedCarView, 'vin'>;

interface CarSwitch {
  /** Null: unknown. Undefined: the car does not have it. */
  isOn(car: ShownCar): boolean | null | undefined;
  click(on: boolean): CarClick;
}

const carSwitches = {
  lock: { isOn: ({ locked }) => locked, click: (on) => ({ part: 'lock', to: on ? 'locked' : 'unlocked' }) },
  plug: { isOn: ({ plugged }) => plugged, click: (on) => ({ part: 'plug', to: on }) },
  wallbox: { isOn: ({ wallbox }) => wallbox, click: (on) => ({ part: 'wallbox', to: on }) },
  // A car with a battery and no tank has no engine.
  engine: {
    isOn: ({ engineRunning, fuel, level }) => (fuel === undefined && level !== undefined ? undefined : engineRunning),
    click: (on) => ({ part: 'engine', to: on }),
  },
  climate: { isOn: ({ climateRunning }) => climateRunning === true, click: (on) => ({ part: 'climate', to: on }) },
  asleep: { isOn: ({ asleep }) => asleep, click: (on) => ({ part: 'asleep', to: on }) },
  inUse: { isOn: ({ inUse }) => inUse, click: (on) => ({ part: 'inUse', to: on }) },
  noInternet: { isOn: ({ noInternet }) => noInternet, click: (on) => ({ part: 'noInternet', to: on }) },
  fast: {
    isOn: ({ level, timeLapse }) => (level === undefined ? undefined : timeLapse > 1),
    click: (on) => ({ part: 'timeLapse', to: on ? 100 : 1 }),
  },
} as const satisfies Record<string, CarSwitch>;

type CarSwitchName = keyof typeof carSwitches;
export const carSwitchNames = Object.keys(carSwitches) as CarSwitchName[];

export const carSliders = {
  level: { max: 100, unit: '%' },
  fuel: { max: 70, unit: 'l' },
} as const satisfies Partial<Record<keyof ShownCar, { max: number; unit: string }>>;

/** The state of an opening after a click; `toggle`: the other one. */
export const clickModes = ['toggle', 'ajar', 'unknown'] as const;

/** A demo car, and the faults that the next requests to its service get. */
interface DemoState extends ShownCar {
  faults: readonly DemoFault[];
}

/** The controls of a demo car besides its drawing, on its page and in the tab "Cars". */
export class DemoControls {
  readonly root = element('div');
  readonly #say: Say;
  readonly #click: (what: CarClick) => void;
  readonly #mode: HTMLSelectElement;
  readonly #section = new Section<DemoState>('demo', (car) => this.#draw(car));

  constructor(say: Say, click: (what: CarClick) => void) {
    this.#say = say;
    this.#click = click;
    this.#mode = element(
      'select',
      {},
      ...clickModes.map((mode) => element('option', { value: mode }, say(`demo.${mode}`))),
    );
    this.root.append(
      element('label', { class: 'cars-mode' }, element('span', {}, say('demo.clicks')), this.#mode),
      this.#section.root,
    );
  }

  show(car: DemoState): void {
    this.#section.show(car);
  }

  clickPart(part: CarPart): void {
    const mode = clickModes.find((one) => one === this.#mode.value) ?? 'toggle';
    this.#click(part === 'lock' || part === 'plug' || mode === 'toggle' ? { part } : { part, to: mode });
  }

  #draw(car: DemoState): (Node | false)[] {
    const say = this.#say;
    const drive = button(say(car.driving ? 'demo.driving' : 'demo.drive'), 'fa-road', () =>
      this.#click({ part: 'drive' }),
    );
    drive.disabled = car.driving;
    drive.dataset['key'] = 'drive';
    const reset = button(say('demo.reset'), 'fa-undo', () => this.#click({ part: 'reset' }));
    reset.dataset['key'] = 'reset';
    return [
      group(
        say('demo.state'),
        carSwitchNames.map((name) => {
          const { isOn, click } = carSwitches[name];
          const text = say(name === 'lock' || name === 'plug' ? `part.${name}` : `demo.${name}`);
          return this.#toggle(name, text, isOn(car), click);
        }),
      ),
      this.#slider('level', car.level),
      this.#slider('fuel', car.fuel),
      element('div', { class: 'cars-buttons' }, drive, reset),
      element('h4', {}, say('demo.faults')),
      element('p', {}, say('demo.faultsHint')),
      group(
        say('demo.faults'),
        demoFaultNames.map((name) =>
          this.#toggle(name, say(`fault.${name}`), car.faults.includes(name), (to) => ({ part: 'fault', name, to })),
        ),
      ),
    ];
  }

  /** @param isOn null: unknown; undefined: the car does not have it */
  #toggle(
    key: string,
    text: string,
    isOn: boolean | null | undefined,
    clickOf: (on: boolean) => CarClick,
  ): HTMLElement | false {
    if (isOn === undefined) return false;
    const pressed = isOn === null ? 'mixed' : String(isOn);
    const made = element(
      'button',
      { type: 'button', class: 'cars-switch', 'data-key': key, 'aria-pressed': pressed },
      text,
    );
    made.addEventListener('click', () => this.#click(clickOf(isOn !== true)));
    return made;
  }

  #slider(part: keyof typeof carSliders, value: number | null | undefined): HTMLElement | false {
    if (value === undefined) return false;
    const { max, unit } = carSliders[part];
    const input = element('input', { type: 'range', min: '0', max: String(max), 'data-key': part });
    input.value = String(value ?? 0);
    const shown = element('output', {}, value === null ? '?' : `${Math.round(value)} ${unit}`);
    input.addEventListener('input', () => (shown.textContent = `${input.value} ${unit}`));
    input.addEventListener('change', () => this.#click({ part, to: Number(input.value) }));
    return element('label', { class: 'cars-slider' }, element('span', {}, this.#say(`demo.${part}`)), input, shown);
  }
}

const group = (label: string, switches: (HTMLElement | false)[]): HTMLElement =>
  element('div', { class: 'cars-switches', role: 'group', 'aria-label': label }, ...switches);
