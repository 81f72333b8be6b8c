import type { CarPart, CarViewState } from './car-view-state';
import { carSvg, drawCar, openingNames, partOf, signalCar, type CarViewWords } from './car-view';
import { element, type Say } from './elements';

/** The last command of a demo car. By its id, a command is shown once. */
interface LastCommand {
  id: string;
  command: string;
  acted: boolean;
}

/** A demo car can be clicked, also by keyboard, and flashes and honks for its commands. */
export class LiveDrawing {
  readonly root = element('div', { class: 'cars-view' });
  #isDemo: boolean | undefined;
  #car: string | undefined;
  /** The last command that was shown; undefined before the car was drawn. */
  #signalled: string | null | undefined;

  constructor(
    readonly words: CarViewWords,
    onClick: (part: CarPart) => void,
  ) {
    const click = (event: Event): void => {
      const part = partOf(event.target);
      if (part !== null) onClick(part);
    };
    this.root.addEventListener('click', click);
    this.root.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      // A space would scroll.
      event.preventDefault();
      click(event);
    });
  }

  /**
   * @param car names it
   * @param demo null for any other car than a demo car
   * @returns the command that it flashes or honks for: one that the car has carried out
   * since it was drawn first
   */
  show(car: string, state: CarViewState, demo: { lastCommand: LastCommand | null } | null): string | null {
    if (this.#isDemo !== (demo !== null)) {
      this.#isDemo = demo !== null;
      // The markup is constant; nothing of a service is in it.
      this.root.innerHTML = carSvg({ interactive: this.#isDemo });
    }
    const svg = this.root.querySelector('svg');
    if (svg === null) return null;
    drawCar(svg, state, this.words);
    if (car !== this.#car) this.#signalled = undefined;
    this.#car = car;
    const done = demo?.lastCommand?.acted === true ? demo.lastCommand : null;
    const isNew = this.#signalled !== undefined && done !== null && done.id !== this.#signalled;
    this.#signalled = done?.id ?? this.#signalled ?? null;
    if (!isNew || done === null) return null;
    // A real car also flashes when it is locked.
    if (/flash|lock/.test(done.command)) signalCar(svg, 'flash');
    if (done.command.includes('honk')) signalCar(svg, 'honk');
    return done.command;
  }
}

export function wordsOfDrawing(say: Say): CarViewWords {
  const parts = [...openingNames, 'lock', 'plug'].map((name) => [name, say(`part.${name}`)]);
  const states = ['open', 'ajar', 'closed', 'unknown', 'locked', 'unlocked', 'plugged', 'unplugged'];
  return {
    // `fromEntries` forgets the names.
    parts: Object.fromEntries(parts) as CarViewWords['parts'],
    states: Object.fromEntries(states.map((state) => [state, say(`state.${state}`)])) as CarViewWords['states'],
  };
}
