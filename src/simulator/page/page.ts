import type { CarClick, SimulatedCarView } from '../control/click';
import { carSliders, carSwitches, carSwitchNames, clickModes, clickOn, type ClickMode } from '../control/controls';
import { demoFaultNames, demoFaultOf, demoFaults } from '../control/demo-faults';
import type { Fault } from '../service/faults';
import type { CarPart } from '../control/car-view-state';
import { carSvg, drawCar, partOf, signalCar } from './car-view';
import { wordsOf } from './words';

/** The page of the simulated service: shows its cars, live, and does to them what a person clicks. */

interface News {
  cars: SimulatedCarView[];
  faults: Fault[];
}

const words = wordsOf(navigator.language);
const token = document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content ?? '';

/** An element of the page, by its id. */
function element<Kind extends HTMLElement>(id: string, kind: { new (): Kind } = HTMLElement as never): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${id}.`);
  return found;
}

document.documentElement.lang = words.language;
document.title = words.title;
for (const marked of document.querySelectorAll<HTMLElement>('[data-word]')) {
  // A name that the words do not have gives no text.
  const text = words[marked.dataset['word'] as keyof typeof words];
  if (typeof text === 'string') marked.textContent = text;
}

const place = element('car');
place.innerHTML = carSvg({ interactive: true });
const svg = place.querySelector<SVGSVGElement>('svg') as SVGSVGElement; // `carSvg` has just written it.
svg.setAttribute('aria-label', words.car);

let news: News = { cars: [], faults: [] };
let chosen = location.hash.slice(1);
let mode: ClickMode = 'toggle';
const shownCommands = new Map<string, string | null>();

const current = (): SimulatedCarView | undefined => news.cars.find(({ vin }) => vin === chosen) ?? news.cars[0];

async function send(method: string, path: string, body?: object): Promise<void> {
  const said = element('said');
  try {
    const response = await fetch(`/control${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-page-token': token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.ok) {
      said.textContent = '';
      said.className = '';
      return;
    }
    // The own service answers in this shape.
    const { error } = (await response.json()) as { error?: { description?: string } };
    throw new Error(error?.description ?? String(response.status));
  } catch (error) {
    said.textContent = `${words.readOut.refused} ${error instanceof Error ? error.message : String(error)}`;
    said.className = 'bad';
  }
}

function click(body: CarClick): void {
  const car = current();
  if (car !== undefined) void send('POST', `/cars/${car.vin}/click`, body);
}

const clickPart = (part: CarPart): void => click(clickOn(part, mode));

place.addEventListener('click', ({ target }) => {
  const part = partOf(target);
  if (part !== null) clickPart(part);
});
place.addEventListener('keydown', (event) => {
  const part = partOf(event.target);
  if (part === null || (event.key !== 'Enter' && event.key !== ' ')) return;
  event.preventDefault();
  clickPart(part);
});

function button(text: string, act: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.addEventListener('click', act);
  return made;
}

/** The cars to choose from. */
const carButtons = new Map<string, HTMLButtonElement>();
function showCars(): void {
  const group = element('cars');
  group.setAttribute('aria-label', words.cars);
  const vins = news.cars.map(({ vin }) => vin);
  if (vins.join() === [...carButtons.keys()].join()) return;
  carButtons.clear();
  for (const { vin, model, level, fuel } of news.cars) {
    const kind = level === undefined ? 'petrol' : fuel === undefined ? 'electric' : 'hybrid';
    carButtons.set(
      vin,
      button(`${model}, ${words.kinds[kind]}`, () => {
        chosen = vin;
        location.hash = vin;
        show();
      }),
    );
  }
  group.replaceChildren(...carButtons.values());
}

const modes = element('mode');
const modeButtons = clickModes.map((name) => {
  const made = button(name === 'toggle' ? words.toggle : words.states[name], () => choose(name));
  made.setAttribute('role', 'radio');
  made.dataset['mode'] = name;
  made.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    if (step === undefined) return;
    const next = modeButtons[(modeButtons.indexOf(made) + step + modeButtons.length) % modeButtons.length];
    choose(next?.dataset['mode'] as ClickMode); // Set above.
    next?.focus();
  });
  return made;
});
modes.append(...modeButtons);
function choose(name: ClickMode): void {
  mode = name;
  for (const made of modeButtons) {
    made.setAttribute('aria-checked', String(made.dataset['mode'] === name));
    made.tabIndex = made.dataset['mode'] === name ? 0 : -1;
  }
}
choose('toggle');

const switches = carSwitchNames.map((name) => {
  const { isOn, click: clickOf } = carSwitches[name];
  const made = button(name === 'lock' || name === 'plug' ? words.parts[name] : words.switch[name], () => {
    const car = current();
    if (car !== undefined) click(clickOf(isOn(car) !== true));
  });
  element('switches').append(made);
  return { made, isOn };
});

function slider(part: 'level' | 'fuel'): (value: number | null | undefined) => void {
  const { max, unit } = carSliders[part];
  const row = document.createElement('label');
  const input = document.createElement('input');
  const output = document.createElement('output');
  Object.assign(input, { type: 'range', min: '0', max: String(max), step: '1' });
  input.addEventListener('input', () => (output.textContent = `${input.value} ${unit}`));
  input.addEventListener('change', () => click({ part, to: Number(input.value) }));
  row.append(words[part], input, output);
  element('sliders').append(row);
  return (value) => {
    row.hidden = value === undefined;
    row.style.display = value === undefined ? 'none' : '';
    if (document.activeElement !== input) input.value = String(value ?? 0);
    output.textContent = value === null ? '?' : `${Math.round(value ?? 0)} ${unit}`;
  };
}
const showLevel = slider('level');
const showFuel = slider('fuel');

const drive = element('drive', HTMLButtonElement);
drive.addEventListener('click', () => click({ part: 'drive' }));
element('reset').addEventListener('click', () => click({ part: 'reset' }));

for (const name of demoFaultNames)
  element('add-fault').append(
    button(words.fault[name], () => void send('POST', '/faults', { ...demoFaults[name], times: 1 })),
  );

function nameOf(fault: Fault): string {
  const known = demoFaultOf(fault);
  return known === undefined ? String(fault.error ?? fault.cut ?? fault.latencyMs ?? '') : words.fault[known];
}

function showFaults(): void {
  const list = document.createElement('ul');
  for (const fault of news.faults) {
    const row = document.createElement('li');
    const remove = button(words.remove, () => void send('DELETE', `/faults/${fault.id}`));
    remove.setAttribute('aria-label', `${words.remove}: ${nameOf(fault)}`);
    row.append(nameOf(fault), remove);
    list.append(row);
  }
  const hint = document.createElement('p');
  hint.className = 'hint';
  hint.textContent = news.faults.length > 0 ? words.waiting : words.noFaults;
  const all = button(words.removeAll, () => void send('DELETE', '/faults'));
  element('faults').replaceChildren(hint, ...(news.faults.length > 0 ? [list, all] : []));
}

const distance = (km: number | null): string =>
  km === null ? '?' : `${Math.round(km).toLocaleString(words.language)} km`;

function showFacts(car: SimulatedCarView): void {
  const { lastCommand: last } = car;
  const facts: [string, string][] = [
    [words.parts.lock, words.states[car.locked === null ? 'unknown' : car.locked ? 'locked' : 'unlocked']],
    [words.range, distance(car.range)],
    [words.odometer, distance(car.odometer)],
    ...(car.chargingStatus === undefined
      ? []
      : [
          [
            words.level,
            `${words.charging[car.chargingStatus ?? ''] ?? words.states.unknown} (${words.target} ${car.target} %)`,
          ] satisfies [string, string],
        ]),
    [
      words.lastCommand,
      last === null
        ? words.noCommand
        : `${words.command[last.command] ?? last.command}: ${words.outcome[last.outcome]}`,
    ],
  ];
  element('facts').replaceChildren(
    ...facts.map(([name, value]) => {
      const fact = document.createElement('div');
      const term = document.createElement('dt');
      const description = document.createElement('dd');
      term.textContent = name;
      description.textContent = value;
      fact.append(term, description);
      return fact;
    }),
  );
}

/** Shows that the car carried a command out. */
function signal({ vin, lastCommand: last }: SimulatedCarView): void {
  const before = shownCommands.get(vin);
  const done = last?.acted === true ? last.id : null;
  shownCommands.set(vin, done);
  if (before === undefined || done === null || done === before || last === null) return;
  const signals: ('flash' | 'honk')[] = [];
  if (/flash|lock/.test(last.command)) signals.push('flash');
  if (last.command.startsWith('honk')) signals.push('honk');
  signalCar(svg, ...signals);
  element('said').textContent = `${words.readOut.command} ${last.command}.`;
  element('said').className = '';
}

function show(): void {
  showCars();
  showFaults();
  const car = current();
  if (car === undefined) return;
  chosen = car.vin;
  for (const [vin, made] of carButtons) made.setAttribute('aria-pressed', String(vin === car.vin));
  element('model').textContent = car.model;
  element('vin').textContent = car.vin;
  svg.style.setProperty('--car-paint', paints[news.cars.indexOf(car) % paints.length] ?? '');
  drawCar(svg, car, words);
  showFacts(car);
  for (const { made, isOn } of switches) {
    const on = isOn(car);
    made.hidden = on === undefined;
    made.style.display = on === undefined ? 'none' : '';
    made.setAttribute('aria-pressed', on === null ? 'mixed' : String(on));
  }
  showLevel(car.level);
  showFuel(car.fuel);
  drive.textContent = car.driving ? words.driving : words.drive;
  drive.disabled = car.driving;
}

const paints = [
  'light-dark(#d3dce5, #64748a)',
  'light-dark(#b7cbbd, #55705f)',
  'light-dark(#b9cbe0, #4d6684)',
  'light-dark(#ddd2c3, #75695a)',
];

function showLink(isLive: boolean): void {
  const link = element('link');
  link.textContent = isLive ? words.live : words.lost;
  link.classList.toggle('lost', !isLive);
  place.classList.toggle('faint', !isLive);
  for (const part of [place, ...document.querySelectorAll<HTMLElement>('.panels')]) part.inert = !isLive;
}

const events = new EventSource('/control/events');
events.addEventListener('open', () => showLink(true));
events.addEventListener('error', () => {
  showLink(false);
  // Another service may answer here later, with another token: only a new page has it.
  if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
});
events.addEventListener('message', ({ data }) => {
  news = JSON.parse(String(data)) as News; // From the own service.
  for (const car of news.cars)
    if (car.vin !== current()?.vin) shownCommands.set(car.vin, car.lastCommand?.acted ? car.lastCommand.id : null);
  const car = current();
  if (car !== undefined) signal(car);
  show();
});
addEventListener('hashchange', () => {
  chosen = location.hash.slice(1);
  show();
});
