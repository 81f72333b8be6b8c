import { isLoopback } from '../../../src/index';
import type { CarClick } from '../../../src/simulator/index';
import { DemoControls } from '../../../src/simulator/page/demo-controls';
import { button, element, iconOf, Section } from '../../../src/drawing/elements';
import { carChanges, useCar } from '../../editor/whole-flow';
import type { Line } from '../../editor/vehicle-checks';
import type { CarPicture, CarSummary } from '../runtime/cars';
import { ageOf, refreshAges } from './ages';
import { CarDrawing } from './car-drawing';
import { rowGroupsOf, type CarRow } from './car-rows';
import { addCar, addNode, vinFor } from './flow-nodes';
import { logOf, shownLogOf, type ShownLog } from './logbook';
import { askMap, askPictures, buttonActions, sendClick } from './requests';
import { accountOf, commandsOf, headOf, linesOf, problemOf, remedyButton, titleOf } from './sections';

const { sharedText, timeText, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

const actionIcons = { read: 'fa-refresh', check: 'fa-check', diagnostics: 'fa-clipboard' };

/** The content of the tab: one car at a time, chosen in a list if there are several. */
export class CarsPanel {
  readonly root = element('div', { class: 'cars-tab' });
  readonly #body = element('div', { class: 'cars-body' });
  readonly #empty = element('div', { class: 'cars-empty' });
  readonly #live = element('div', { class: 'cars-live', role: 'status', 'aria-live': 'polite' });
  readonly #messages = element('div', { class: 'cars-messages', role: 'status' });
  readonly #chooser = element('select', { 'aria-label': say('label.choose') });
  readonly #head = new Section('head', headOf);
  readonly #problem = new Section<Pick<CarSummary, 'config' | 'remedy'> & { text: string | null }>(
    'problems',
    ({ text, config, remedy }) => [
      text !== null && element('p', { class: 'cars-problem' }, text),
      remedy !== null && remedyButton(config, remedy),
    ],
  );
  readonly #drawing: CarDrawing;
  readonly #demo: DemoControls;
  readonly #demoPage = new Section('page', pageOf);
  readonly #more = element('details', { class: 'cars-more' }, element('summary', {}, say('demo.more')));
  /**
   * The pictures are closed until a person opens them: the browser loads them from another host.
   */
  readonly #pictures = element('details', { class: 'cars-pictures' });
  readonly #shownPictures = element('div', { role: 'status' });
  readonly #list: Section<CarSummary['facts']>;
  readonly #lines = new Section('lines', linesOf);
  readonly #openedRecords = new Set<string>();
  readonly #log = new Section<ShownLog>('log', (log) => logOf(log, this.#openedRecords));
  readonly #account = new Section('account', accountOf);
  readonly #commands = new Section('commands', commandsOf);
  readonly #whole = button('', 'fa-car', () => this.#useForAll());
  readonly #refused = element('p', { class: 'cars-problem', role: 'status' });
  #cars: readonly CarSummary[] = [];
  #chosen = '';
  #drawn = '';

  /** @param onChange called when a demo car was changed */
  constructor(onChange: () => void) {
    const click = (what: CarClick): void => void this.#act((car) => sendClick(car, what).finally(onChange), false);
    this.#demo = new DemoControls(say, click);
    this.#drawing = new CarDrawing((part) => this.#demo.clickPart(part));
    this.#list = new Section('list', (facts) =>
      rowGroupsOf(facts).map(({ title, rows }) =>
        element('table', {}, element('caption', {}, title), element('tbody', {}, ...rows.map((row) => this.#row(row)))),
      ),
    );
    this.#more.append(this.#demo.root, this.#demoPage.root);
    this.#pictures.append(element('summary', {}, say('pictures.title')), this.#shownPictures);
    this.#pictures.addEventListener('toggle', () => void this.#showPictures());
    const buttons = element(
      'div',
      { class: 'cars-buttons', role: 'group', 'aria-label': say('label.actions') },
      ...(['read', 'check', 'diagnostics'] as const).map((name) =>
        button(say(`action.${name}`), actionIcons[name], () => void this.#act(buttonActions[name])),
      ),
      this.#whole,
    );
    this.#chooser.addEventListener('change', () => {
      this.#chosen = this.#chooser.value;
      this.#messages.replaceChildren();
      this.#draw();
    });
    this.#body.append(
      this.#head.root,
      this.#problem.root,
      element(
        'div',
        { class: 'cars-car' },
        element('div', { class: 'cars-picture' }, this.#drawing.root, this.#more, this.#pictures),
        element('div', { class: 'cars-values' }, this.#list.root, this.#lines.root),
      ),
      buttons,
      this.#messages,
      this.#log.root,
      this.#account.root,
      this.#commands.root,
    );
    this.root.append(this.#chooser, this.#empty, this.#body, this.#live);
    this.show([]);
  }

  show(cars: readonly CarSummary[]): void {
    const before = this.#car;
    this.#cars = cars;
    this.#announce(before, this.#car);
    this.#draw();
  }

  /** The cars cannot be shown: why not. What was shown stays, with its ages. */
  fail(text: string): void {
    if (this.#cars.length > 0) return this.#showMessages([[text, true]]);
    this.#empty.replaceChildren(element('p', { class: 'cars-problem' }, text));
  }

  refreshAges(): void {
    refreshAges(this.root);
  }

  /** The flow that is open was changed, or another one was opened. */
  refreshFlow(): void {
    const car = this.#car;
    if (car === undefined) return this.#drawEmpty();
    const vin = vinFor(car);
    const count = vin === undefined ? 0 : carChanges(car.config, vin).length;
    this.#whole.hidden = count === 0;
    const text = ` ${sharedText('wholeFlow', { count })}`;
    if (this.#whole.lastChild && this.#whole.textContent !== text) this.#whole.lastChild.textContent = text;
  }

  #useForAll(): void {
    const car = this.#car;
    const count = car ? useCar(car.config, vinFor(car)) : 0;
    this.#showMessages([[count === null ? say('use.locked') : say('use.addedForAll', { count })]]);
  }

  get #car(): CarSummary | undefined {
    return this.#cars.find(({ key }) => key === this.#chosen) ?? this.#cars[0];
  }

  #draw(): void {
    const car = this.#car;
    this.#chooser.replaceChildren(
      ...this.#cars.map((one) =>
        element('option', { value: one.key }, [titleOf(one), one.vin].filter(Boolean).join(' ')),
      ),
    );
    if (car !== undefined) this.#chooser.value = car.key;
    this.#chooser.hidden = this.#cars.length < 2;
    this.#body.hidden = car === undefined;
    this.#empty.hidden = car !== undefined;
    if (car === undefined) return this.#drawEmpty();
    this.#head.show({ car, isNamed: !this.#chooser.hidden });
    this.#problem.show({ text: problemOf(car), config: car.config, remedy: car.remedy });
    this.#drawing.show(car);
    if (this.#drawn !== car.key) this.#pictures.open = false;
    this.#drawn = car.key;
    this.#more.hidden = car.demo === null;
    if (car.demo !== null) this.#demo.show(car.demo);
    this.#demoPage.show(car.demoPage);
    this.#list.show(car.facts);
    this.#lines.show({ lines: car.lines, facts: car.facts });
    this.#log.show(shownLogOf(car));
    this.#account.show(car);
    this.#commands.show(car);
    this.refreshFlow();
    this.refreshAges();
  }

  /** Without a deployed car: adds one, or shows that one waits for the deploy. */
  #drawEmpty(): void {
    let isAdded = false;
    RED.nodes.eachConfig(({ type }) => (isAdded ||= type === 'connected-vehicle'));
    const text = say(isAdded ? 'empty.added' : 'empty.title');
    // A button that is replaced while it is pressed gets no click.
    if (this.#empty.textContent.startsWith(text)) return;
    const add = (service: 'demo' | 'volvo-cars', icon: string): HTMLElement =>
      button(say(`empty.${service}`), icon, () => {
        const why = addCar(service);
        this.#refused.textContent = why === null ? '' : say(why);
        this.#drawEmpty();
      });
    this.#refused.textContent = '';
    this.#empty.replaceChildren(
      iconOf('fa-car'),
      element('p', {}, text),
      ...(isAdded
        ? []
        : [
            element('div', { class: 'cars-buttons' }, add('demo', 'fa-plus'), add('volvo-cars', 'fa-key')),
            this.#refused,
          ]),
    );
  }

  /** Announces what has changed about the car that is shown, for people who do not see it. */
  #announce(before: CarSummary | undefined, now: CarSummary | undefined): void {
    if (before === undefined || now === undefined || before.key !== now.key) return;
    const texts = (car: CarSummary): Map<string, CarRow> =>
      new Map(rowGroupsOf(car.facts).flatMap(({ rows }) => rows.map((row) => [row.name, row] as const)));
    const old = texts(before);
    const news = [...texts(now).values()].filter(({ name, text }) => old.has(name) && old.get(name)?.text !== text);
    if (news.length > 0) this.#live.textContent = news.map(({ label, text }) => `${label}: ${text}`).join(', ');
  }

  #showMessages(messages: readonly Line[]): void {
    this.#messages.replaceChildren(
      ...messages.map(([text, isBad]) => element('div', { class: isBad ? 'cars-problem' : null }, text)),
    );
  }

  async #showPictures(): Promise<void> {
    const car = this.#car;
    this.#shownPictures.replaceChildren();
    if (car === undefined || !this.#pictures.open) return;
    this.#shownPictures.replaceChildren(say('state.asking'));
    const pictures = await askPictures(car);
    if (!this.#pictures.open || this.#car?.key !== car.key) return;
    if (typeof pictures === 'string')
      return this.#shownPictures.replaceChildren(element('p', { class: 'cars-problem' }, pictures));
    const fail = (): void => {
      if (this.#shownPictures.querySelector('figure') === null)
        this.#shownPictures.replaceChildren(say('pictures.none'));
    };
    this.#shownPictures.replaceChildren(...pictures.map((picture) => pictureElement(picture, fail)));
    fail();
  }

  /** A line has a button that puts its node into the flow, and the position a link to a map. */
  #row({ name, label, text, tone, fact }: CarRow): HTMLElement {
    const value = element('td', {}, text);
    const car = this.#car;
    if (name === 'location' && fact?.value != null && car !== undefined) void this.#linkToMap(car, value);
    const use = button('', 'fa-plus', () => this.#showMessages([[say(addNode(this.#car, name))]]));
    use.setAttribute('aria-label', `${say('action.use')}: ${label}`);
    use.title = say('action.use');
    use.dataset['key'] = `use-${name}`;
    return element(
      'tr',
      { class: `cars-${tone}`, 'data-fact': name },
      element('th', { scope: 'row' }, label),
      value,
      element('td', {}, fact && ageOf(fact.measuredAt ?? fact.receivedAt, ageTitle(fact))),
      element('td', {}, use),
    );
  }

  async #linkToMap(car: CarSummary, value: HTMLElement): Promise<void> {
    const href = await askMap(car);
    if (href !== null)
      value.replaceChildren(element('a', { href, target: '_blank', rel: 'noopener noreferrer' }, say('action.map')));
  }

  async #act(work: (car: CarSummary) => Promise<Line[]>, takesLong = true): Promise<void> {
    const car = this.#car;
    if (car === undefined) return;
    if (takesLong) this.#showMessages([[say('state.asking')]]);
    const lines = await work(car);
    // Another car may have been chosen meanwhile.
    if (this.#car?.key === car.key) this.#showMessages(lines);
  }
}

/**
 * @param onFailure called when the picture could not be loaded: not every car has one of each side
 */
function pictureElement({ side, url }: CarPicture, onFailure: () => void): HTMLElement {
  const label = say(side === null ? 'label.car' : `side.${side}`);
  // The service offers pictures of up to 1,920 pixels.
  const src = url.replace(/(?<=[?&]w=)\d+/, '480');
  const image = element('img', { src, alt: label, referrerpolicy: 'no-referrer' });
  const figure = element('figure', {}, image, element('figcaption', { 'aria-hidden': 'true' }, label));
  image.addEventListener('error', () => {
    figure.remove();
    onFailure();
  });
  return figure;
}

/** The demo service listens on the machine that Node-RED runs on. */
function pageOf(page: string | null): Node[] {
  if (page === null) return [];
  const link = { href: page, target: '_blank', rel: 'noopener noreferrer', 'data-key': 'page' };
  return [
    isLoopback(location.hostname)
      ? element('a', link, say('demo.page'))
      : element('p', {}, sharedText('demoCar.elsewhere', { page })),
  ];
}

function ageTitle({ measuredAt, receivedAt }: NonNullable<CarRow['fact']>): string {
  const read = say('age.read', { at: timeText(receivedAt) });
  return measuredAt === null ? read : `${say('age.reported', { at: timeText(measuredAt) })}\n${read}`;
}
