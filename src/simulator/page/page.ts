import type { SimulatedCarView } from '../control/click';
import { demoFaultOf } from '../control/demo-faults';
import type { Fault } from '../service/faults';
import { DemoControls } from './demo-controls';
import { element, Section } from './elements';
import { LiveDrawing, wordsOfDrawing } from './live-drawing';
import { wordsOf } from './words';

/** The page of the simulated service: shows its cars, live, and does to them what a person clicks. */

interface News {
  cars: SimulatedCarView[];
  faults: Fault[];
}

const { language, say } = wordsOf(navigator.language);
const token = document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content ?? '';

/** An element of the page, by its id. */
function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

document.documentElement.lang = language;
document.title = say('page.title');
for (const marked of document.querySelectorAll<HTMLElement>('[data-word]'))
  marked.textContent = say(marked.dataset['word'] ?? '');

let news: News = { cars: [], faults: [] };
let chosen = location.hash.slice(1);

const current = (): SimulatedCarView | undefined => news.cars.find(({ vin }) => vin === chosen) ?? news.cars[0];

function tell(text: string, isBad = false): void {
  byId('said').textContent = text;
  byId('said').className = isBad ? 'bad' : '';
}

async function send(path: string, body: object): Promise<void> {
  try {
    const headers = { 'content-type': 'application/json', 'x-page-token': token };
    const response = await fetch(`/control${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (response.ok) return tell('');
    // The simulated service answers in this shape.
    const { error } = (await response.json()) as { error?: { description?: string } };
    throw new Error(error?.description ?? String(response.status));
  } catch (error) {
    tell(`${say('page.readOut.refused')} ${error instanceof Error ? error.message : String(error)}`, true);
  }
}

const controls = new DemoControls(say, (click) => {
  const car = current();
  if (car !== undefined) void send(`/cars/${car.vin}/click`, click);
});
const drawing = new LiveDrawing(wordsOfDrawing(say), (part) => controls.clickPart(part));
byId('car').append(drawing.root);
byId('controls').append(controls.root);

/** The cars to choose from. */
const cars = new Section<{ vin: string; text: string; isChosen: boolean }[]>('choice', (all) =>
  all.map(({ vin, text, isChosen }) => {
    const made = element('button', { type: 'button', 'data-key': vin, 'aria-pressed': String(isChosen) }, text);
    made.addEventListener('click', () => (location.hash = vin));
    return made;
  }),
);
byId('cars').append(cars.root);
byId('cars').setAttribute('aria-label', say('page.cars'));

const kindOf = ({ level, fuel }: SimulatedCarView): string =>
  level === undefined ? 'petrol' : fuel === undefined ? 'electric' : 'hybrid';

const distance = (km: number | null): string => (km === null ? '?' : `${Math.round(km).toLocaleString(language)} km`);

function factsOf({ locked, range, odometer, chargingStatus, target, lastCommand: last }: SimulatedCarView) {
  const charging = chargingStatus == null ? say('state.unknown') : say(`word.${chargingStatus}`);
  return [
    [say('part.lock'), say(`state.${locked === null ? 'unknown' : locked ? 'locked' : 'unlocked'}`)],
    [say('page.range'), distance(range)],
    [say('page.odometer'), distance(odometer)],
    ...(chargingStatus === undefined ? [] : [[say('demo.level'), `${charging} (${say('page.target')} ${target} %)`]]),
    [
      say('page.lastCommand'),
      last === null ? say('page.noCommand') : `${say(`command.${last.command}`)}: ${say(`outcome.${last.outcome}`)}`,
    ],
  ];
}

function show(): void {
  const car = current();
  if (car === undefined) return;
  chosen = car.vin;
  cars.show(
    news.cars.map((one) => ({
      vin: one.vin,
      text: `${one.model}, ${say(`page.kinds.${kindOf(one)}`)}`,
      isChosen: one === car,
    })),
  );
  byId('model').textContent = car.model;
  byId('vin').textContent = car.vin;
  drawing.root.style.setProperty('--car-paint', paints[news.cars.indexOf(car) % paints.length] ?? '');
  const command = drawing.show(car.vin, car, car);
  drawing.root.querySelector('svg')?.setAttribute('aria-label', say('page.car'));
  if (command !== null) tell(`${say('page.readOut.command')} ${command}.`);
  controls.show({ ...car, faults: news.faults.map(demoFaultOf).filter((name) => name !== undefined) });
  byId('facts').replaceChildren(
    ...factsOf(car).map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
}

const paints = [
  'light-dark(#d3dce5, #64748a)',
  'light-dark(#b7cbbd, #55705f)',
  'light-dark(#b9cbe0, #4d6684)',
  'light-dark(#ddd2c3, #75695a)',
];

function showLink(isLive: boolean): void {
  byId('link').textContent = say(isLive ? 'page.live' : 'page.lost');
  byId('link').classList.toggle('lost', !isLive);
  byId('car').classList.toggle('faint', !isLive);
  for (const part of ['car', 'controls']) byId(part).inert = !isLive;
}

const events = new EventSource('/control/events');
events.addEventListener('open', () => showLink(true));
events.addEventListener('error', () => {
  showLink(false);
  // Another service may answer here later, with another token: only a new page has it.
  if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
});
events.addEventListener('message', ({ data }) => {
  news = JSON.parse(String(data)) as News; // The simulated service sends it.
  show();
});
addEventListener('hashchange', () => {
  chosen = location.hash.slice(1);
  show();
});
