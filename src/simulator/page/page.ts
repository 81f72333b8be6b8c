import type { SimulatedCarView } from '../control/click';
import { demoFaultOf } from '../control/demo-faults';
import type { FaultOptions } from '../service/faults';
import { DemoControls } from './demo-controls';
import { element, Section } from '../../drawing/elements';
import { LiveDrawing, wordsOfDrawing } from '../../drawing/live-drawing';
import { wordsOf } from './words';

interface News {
  cars: SimulatedCarView[];
  faults: FaultOptions[];
}

const paints = [
  'light-dark(#d3dce5, #64748a)',
  'light-dark(#b7cbbd, #55705f)',
  'light-dark(#b9cbe0, #4d6684)',
  'light-dark(#ddd2c3, #75695a)',
];

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

function tell(text: string, isBad = false): void {
  byId('said').textContent = text;
  byId('said').className = isBad ? 'bad' : '';
}

/**
 * The page of the simulated service: shows its cars, live, and does to them what a person clicks.
 */
class DemoPage {
  #news: News = { cars: [], faults: [] };
  readonly #words = wordsOf(navigator.language);
  readonly #say = this.#words.say;
  readonly #token = document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content ?? '';
  readonly #controls = new DemoControls(this.#say, (click) => void this.#send(click));
  readonly #drawing = new LiveDrawing(wordsOfDrawing(this.#say), (part) => this.#controls.clickPart(part));
  readonly #cars = new Section<{ vin: string; text: string; isChosen: boolean }[]>('choice', (all) =>
    all.map(({ vin, text, isChosen }) => {
      const made = element('button', { type: 'button', 'data-key': vin, 'aria-pressed': String(isChosen) }, text);
      made.addEventListener('click', () => (location.hash = vin));
      return made;
    }),
  );

  /** Fills the page, and follows the cars until it is closed. */
  start(): void {
    const say = this.#say;
    document.documentElement.lang = this.#words.language;
    document.title = say('page.title');
    for (const marked of document.querySelectorAll<HTMLElement>('[data-word]'))
      marked.textContent = say(marked.dataset['word'] ?? '');
    byId('car').append(this.#drawing.root);
    byId('controls').append(this.#controls.root);
    byId('cars').append(this.#cars.root);
    byId('cars').setAttribute('aria-label', say('page.cars'));
    const events = new EventSource('/control/events');
    events.addEventListener('open', () => this.#showLink(true));
    events.addEventListener('error', () => {
      this.#showLink(false);
      // Another service may answer here later, with another token: only a new page has it.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
    });
    events.addEventListener('message', ({ data }) => {
      this.#news = JSON.parse(String(data)) as News; // The simulated service sends it.
      this.#show();
    });
    addEventListener('hashchange', () => this.#show());
  }

  /** The car that the address names, or the first one. */
  get #car(): SimulatedCarView | undefined {
    return this.#news.cars.find(({ vin }) => vin === location.hash.slice(1)) ?? this.#news.cars[0];
  }

  async #send(click: object): Promise<void> {
    if (this.#car === undefined) return;
    try {
      const headers = { 'content-type': 'application/json', 'x-page-token': this.#token };
      const path = `/control/cars/${this.#car.vin}/click`;
      const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(click) });
      if (response.ok) return tell('');
      // The simulated service answers in this shape.
      const { error } = (await response.json()) as { error?: { description?: string } };
      throw new Error(error?.description ?? String(response.status));
    } catch (error) {
      tell(`${this.#say('page.readOut.refused')} ${error instanceof Error ? error.message : String(error)}`, true);
    }
  }

  #show(): void {
    const car = this.#car;
    if (car === undefined) return;
    const [say, { cars, faults }] = [this.#say, this.#news];
    this.#cars.show(
      cars.map((one) => ({
        vin: one.vin,
        text: `${one.model}, ${say(`page.kinds.${kindOf(one)}`)}`,
        isChosen: one === car,
      })),
    );
    byId('model').textContent = car.model;
    byId('vin').textContent = car.vin;
    this.#drawing.root.style.setProperty('--car-paint', paints[cars.indexOf(car) % paints.length] ?? '');
    const command = this.#drawing.show(car.vin, car, car);
    this.#drawing.root.querySelector('svg')?.setAttribute('aria-label', say('page.car'));
    if (command !== null) tell(`${say('page.readOut.command')} ${command}.`);
    this.#controls.show({ ...car, faults: faults.map(demoFaultOf).filter((name) => name !== undefined) });
    byId('facts').replaceChildren(
      ...this.#factsOf(car).map(([name, value]) =>
        element('div', {}, element('dt', {}, name), element('dd', {}, value)),
      ),
    );
  }

  #factsOf({ range, odometer, chargingStatus, target, lastCommand: last }: SimulatedCarView) {
    const { language, say } = this.#words;
    const distance = (km: number | null): string =>
      km === null ? '?' : `${Math.round(km).toLocaleString(language)} km`;
    const charging = chargingStatus == null ? say('state.unknown') : say(`word.${chargingStatus}`);
    return [
      [say('page.range'), distance(range)],
      [say('page.odometer'), distance(odometer)],
      ...(chargingStatus === undefined ? [] : [[say('demo.level'), `${charging} (${say('page.target')} ${target} %)`]]),
      [
        say('page.lastCommand'),
        last === null ? say('page.noCommand') : `${say(`command.${last.command}`)}: ${say(`outcome.${last.outcome}`)}`,
      ],
    ];
  }

  #showLink(isLive: boolean): void {
    byId('link').textContent = this.#say(isLive ? 'page.live' : 'page.lost');
    byId('link').classList.toggle('lost', !isLive);
    byId('car').classList.toggle('faint', !isLive);
    for (const part of ['car', 'controls']) byId(part).inert = !isLive;
  }
}

const kindOf = ({ level, fuel }: SimulatedCarView): string =>
  level === undefined ? 'petrol' : fuel === undefined ? 'electric' : 'hybrid';

new DemoPage().start();
