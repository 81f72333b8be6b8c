import { historyNames, isLoopback } from '../../../src/index';
import type { CarClick } from '../../../src/simulator/index';
import { DemoControls } from '../../../src/simulator/page/demo-controls';
import { button, element, iconOf, Section } from '../../../src/simulator/page/elements';
import type { CarPicture, CarSummary } from '../runtime/cars';
import type { FactName } from '../runtime/facts';
import { ageOf, refreshAges } from './ages';
import { CarDrawing } from './car-drawing';
import { measureText, readFor, rowGroupsOf, type CarRow } from './car-rows';

const { numberText, sharedText, timeText, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

/** The actions of the buttons. Each one returns the lines to show, and whether they are a problem. */
interface PanelActions {
  read(car: CarSummary): Promise<PanelMessage[]>;
  check(car: CarSummary): Promise<PanelMessage[]>;
  diagnostics(car: CarSummary): Promise<PanelMessage[]>;
  /** The addresses of pictures of the car, or why there are none. */
  pictures(car: CarSummary): Promise<CarPicture[] | string>;
  /** The address of a map with the last position of the car; null if that cannot be shown. */
  map(car: CarSummary): Promise<string | null>;
  /** Changes a demo car. */
  click(car: CarSummary, click: CarClick): Promise<PanelMessage[]>;
}

export interface PanelMessage {
  text: string;
  isProblem: boolean;
}

/** The content of the tab: one car at a time, chosen in a list where there are several. */
export class CarsPanel {
  readonly root = element('div', { class: 'cars-tab' });
  readonly #actions: PanelActions;
  readonly #body = element('div', { class: 'cars-body' });
  readonly #empty = element('div', { class: 'cars-empty' });
  readonly #live = element('div', { class: 'cars-live', role: 'status', 'aria-live': 'polite' });
  readonly #messages = element('div', { class: 'cars-messages', role: 'status' });
  readonly #chooser = element('select', { 'aria-label': say('label.choose') });
  readonly #head = new Section<{ car: CarSummary; isNamed: boolean }>('head', headOf);
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
  /** Pictures from the service; closed until a person opens it, because the browser then loads them from the host that has them. */
  readonly #pictures = element('details', { class: 'cars-pictures' });
  readonly #shownPictures = element('div', { role: 'status' });
  readonly #list: Section<CarSummary['facts']>;
  readonly #lines = new Section<Pick<CarSummary, 'lines' | 'facts'>>('lines', linesOf);
  readonly #account = new Section<Pick<CarSummary, 'service' | 'session' | 'problem' | 'quota' | 'readOnly' | 'vin'>>(
    'account',
    accountOf,
  );
  readonly #commands = new Section<Pick<CarSummary, 'commands' | 'events' | 'watches'>>('commands', commandsOf);
  #cars: readonly CarSummary[] = [];
  #chosen = '';
  #drawn = '';

  constructor(actions: PanelActions) {
    this.#actions = actions;
    const click = (what: CarClick): void => void this.#act((car) => actions.click(car, what), false);
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
    const on =
      (work: (car: CarSummary) => Promise<PanelMessage[]>): (() => void) =>
      () =>
        void this.#act(work);
    const buttons = element(
      'div',
      { class: 'cars-buttons', role: 'group', 'aria-label': say('label.actions') },
      button(
        say('action.read'),
        'fa-refresh',
        on((car) => this.#actions.read(car)),
      ),
      button(
        say('action.check'),
        'fa-check',
        on((car) => this.#actions.check(car)),
      ),
      button(
        say('action.diagnostics'),
        'fa-clipboard',
        on((car) => this.#actions.diagnostics(car)),
      ),
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
    if (this.#cars.length > 0) return this.#showMessages([{ text, isProblem: true }]);
    this.#empty.replaceChildren(element('p', { class: 'cars-problem' }, text));
  }

  refreshAges(): void {
    refreshAges(this.root);
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
    this.#account.show(car);
    this.#commands.show(car);
    this.refreshAges();
  }

  /** Without a deployed car: adds one, or says that one waits for the deploy. */
  #drawEmpty(): void {
    let isAdded = false;
    RED.nodes.eachConfig(({ type }) => (isAdded ||= type === 'connected-vehicle'));
    const add = (service: 'demo' | 'volvo-cars', icon: string): HTMLElement =>
      button(say(`empty.${service}`), icon, () => {
        addCar(service);
        this.#draw();
      });
    this.#empty.replaceChildren(
      iconOf('fa-car'),
      element('p', {}, say(isAdded ? 'empty.added' : 'empty.title')),
      ...(isAdded
        ? []
        : [element('div', { class: 'cars-buttons' }, add('demo', 'fa-plus'), add('volvo-cars', 'fa-key'))]),
    );
  }

  /** Says what has changed about the car that is shown, for people who do not see it. */
  #announce(before: CarSummary | undefined, now: CarSummary | undefined): void {
    if (before === undefined || now === undefined || before.key !== now.key) return;
    const texts = (car: CarSummary): Map<string, CarRow> =>
      new Map(rowGroupsOf(car.facts).flatMap(({ rows }) => rows.map((row) => [row.name, row] as const)));
    const old = texts(before);
    const news = [...texts(now).values()].filter(({ name, text }) => old.has(name) && old.get(name)?.text !== text);
    if (news.length > 0) this.#live.textContent = news.map(({ label, text }) => `${label}: ${text}`).join(', ');
  }

  #showMessages(messages: readonly PanelMessage[]): void {
    this.#messages.replaceChildren(
      ...messages.map(({ text, isProblem }) => element('div', { class: isProblem ? 'cars-problem' : null }, text)),
    );
  }

  async #showPictures(): Promise<void> {
    const car = this.#car;
    this.#shownPictures.replaceChildren();
    if (car === undefined || !this.#pictures.open) return;
    this.#shownPictures.replaceChildren(say('state.asking'));
    const pictures = await this.#actions.pictures(car);
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

  /** A line of the list, with a link to a map for the position, and a button that puts its node into the flow. */
  #row({ name, label, text, tone, fact }: CarRow): HTMLElement {
    const value = element('td', {}, text);
    const car = this.#car;
    if (name === 'location' && fact?.value != null && car !== undefined) void this.#linkToMap(car, value);
    const use = button('', 'fa-plus', () =>
      this.#showMessages([{ text: say(addNode(this.#car, name)), isProblem: false }]),
    );
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
    const href = await this.#actions.map(car);
    if (href !== null)
      value.replaceChildren(element('a', { href, target: '_blank', rel: 'noopener noreferrer' }, say('action.map')));
  }

  async #act(work: (car: CarSummary) => Promise<PanelMessage[]>, takesLong = true): Promise<void> {
    const car = this.#car;
    if (car === undefined) return;
    if (takesLong) this.#showMessages([{ text: say('state.asking'), isProblem: false }]);
    this.#showMessages(await work(car));
  }
}

/** @param onFailure called when the picture could not be loaded: not every car has one of each side */
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

const titleOf = ({ name, service }: CarSummary): string =>
  name || sharedText(`service.${service}`, { defaultValue: service || say('label.car') });

/** @param isNamed the list of cars shows the name and the VIN already */
function headOf({ car, isNamed }: { car: CarSummary; isNamed: boolean }): (Node | false)[] {
  const { value } = car.facts.model ?? {};
  const model = typeof value === 'string' ? value : '';
  if (isNamed) return [model !== '' && element('h3', {}, model)];
  const about = [model, car.vin].filter(Boolean).join(' · ');
  return [element('h3', {}, titleOf(car)), element('span', { class: 'cars-about' }, about)];
}

function ageTitle({ measuredAt, receivedAt }: NonNullable<CarRow['fact']>): string {
  const read = say('age.read', { at: timeText(receivedAt) });
  return measuredAt === null ? read : `${say('age.reported', { at: timeText(measuredAt) })}\n${read}`;
}

/** Why nothing can be read of the car. */
const problemOf = ({ problem, session, vin }: Pick<CarSummary, 'problem' | 'session' | 'vin'>): string | null =>
  problem ?? session?.problem ?? (vin === null ? say('session.noCar') : null);

/** A node with the presets of its type. */
function nodeOf(type: string, values: object): object {
  const { defaults } = RED.nodes.getType(type);
  const presets = Object.entries(defaults).map(([name, { value }]) => [name, value]);
  return { ...(structuredClone(Object.fromEntries(presets)) as object), type, ...values };
}

/** A *car status* node in the visible part of the flow, below the nodes that are there. */
function statusNode(values: object): object {
  const [z, chart, scale] = [RED.workspaces.active(), $('#red-ui-workspace-chart'), RED.view.scale()];
  const onGrid = (pixels: number): number => Math.round(pixels / scale / 20) * 20;
  const place = { x: onGrid((chart.scrollLeft() ?? 0) + 200), y: onGrid((chart.scrollTop() ?? 0) + 100) };
  const others: FlowNode[] = [];
  RED.nodes.eachNode((node) => void (node.z === z && others.push(node)));
  const isTaken = ({ x = 0, y = 0 }: FlowNode): boolean => Math.abs(x - place.x) < 220 && Math.abs(y - place.y) <= 40;
  while (others.some(isTaken)) place.y += 20;
  return nodeOf('connected-vehicle-status', { id: RED.nodes.id(), z, ...place, wires: [[]], ...values });
}

/** As the editor imports nodes, so that it can be undone. */
const addToFlow = (nodes: object[]): void => RED.view.importNodes(nodes, { touchImport: true, notify: false });

/** Adds a configuration, and a node that reads the windows: the editor warns of a configuration that no node uses. */
function addCar(service: 'demo' | 'volvo-cars'): void {
  const vehicle = RED.nodes.id();
  addToFlow([nodeOf('connected-vehicle', { id: vehicle, service }), statusNode({ vehicle, poll: 120 })]);
  if (service !== 'demo') openConfiguration(vehicle);
}

/** Adds the node that reads what a line of the list shows. @returns the key of the text that says what became of it */
function addNode(car: CarSummary | undefined, name: FactName): string {
  const vin = car && vinFor(car);
  if (vin === undefined) return 'use.noVin';
  if (RED.workspaces.isLocked()) return 'use.locked';
  addToFlow([statusNode({ vehicle: car?.config, vin, read: readFor(name) })]);
  return 'use.added';
}

/** The property `vin` of a node of this car: the browser gets no whole VIN, but a node of the flows may have it. */
function vinFor({ config, vin, isDefault }: CarSummary): string | undefined {
  if (isDefault) return '';
  let found: string | undefined;
  RED.nodes.eachNode((node) => {
    if (node.vehicle === config && vin !== null && node.vin?.trim().toUpperCase().endsWith(vin.slice(1)))
      found = node.vin;
  });
  return found;
}

/** Opens the form of a configuration, where a person mends what is wrong. */
const openConfiguration = (id: string): void => RED.editor.editConfig('', 'connected-vehicle', id);

function remedyButton(config: string, remedy: NonNullable<CarSummary['remedy']>): HTMLElement {
  const made = button(say(`remedy.${remedy}`), remedy === 'signIn' ? 'fa-sign-in' : 'fa-pencil', () => {
    openConfiguration(config);
    // The editor gives the focus to the first field of a form that has slid in.
    if (remedy === 'signIn') setTimeout(() => $('[data-ask=sign-in]').trigger('focus'), 700);
  });
  made.dataset['key'] = 'remedy';
  return made;
}

const sevenDaysMs = 7 * 24 * 60 * 60_000;

/** A line for the battery and one for the fuel; for the range only where there is neither. */
function linesOf({ lines, facts }: Pick<CarSummary, 'lines' | 'facts'>): (Node | false)[] {
  const shown = historyNames.filter((name) => (lines[name]?.length ?? 0) > 1);
  const energy = shown.filter((name) => name === 'batteryChargeLevel' || name === 'fuelAmount');
  const drawn = (energy.length > 0 ? energy : shown.slice(0, 1)).map((name) => {
    const points = lines[name] ?? [];
    const values = points.map(([, value]) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const range = `${measureText(least)}–${measureText(most, facts[name]?.unit)}`;
    const top = name === 'batteryChargeLevel' ? 100 : most || 1;
    const start = Math.max(Date.now(), points.at(-1)?.[0] ?? 0) - sevenDaysMs;
    const places = points.map(([time, value]) => [((time - start) / sevenDaysMs) * 168, 32 - (value / top) * 30]);
    const picture = element('div', { role: 'img', 'aria-label': `${say(`name.${name}`)}: ${range}` });
    // Nothing but numbers is in the markup.
    picture.innerHTML = `<svg viewBox="0 0 168 34" preserveAspectRatio="none"><polyline points="${places.join(' ')}"/></svg>`;
    return element(
      'div',
      { class: 'cars-line' },
      element('span', {}, say(`name.${name}`)),
      element('span', {}, range),
      picture,
    );
  });
  return drawn.length === 0 ? [] : [element('h4', {}, say('heading.lines')), ...drawn];
}

function accountOf(car: Pick<CarSummary, 'service' | 'session' | 'problem' | 'quota' | 'readOnly' | 'vin'>): Node[] {
  return [
    element('h4', {}, say('heading.account')),
    ...(problemOf(car) === null ? [element('p', {}, sessionText(car))] : []),
    ...(car.readOnly ? [element('p', {}, say('session.readOnly'))] : []),
    ...car.quota.flatMap(quotaElements),
  ];
}

function sessionText({ service, session }: Pick<CarSummary, 'service' | 'session'>): string {
  if (service === 'demo') return say('session.demo');
  if (session === null || session.kind === 'none') return say('session.none');
  const { kind, expiresAt, signedInAt, endsAt, lastRefreshAt } = session;
  if (kind === 'pasted')
    return expiresAt === null ? say('session.pasted') : say('session.until', { at: timeText(expiresAt) });
  if (signedInAt === null || endsAt === null) return say('session.refreshing');
  return say('session.since', { until: timeText(endsAt), at: timeText(lastRefreshAt ?? signedInAt) });
}

function quotaElements({ api, used, limit, blockedUntil }: CarSummary['quota'][number]): Node[] {
  const label = say(`quota.${api}`);
  return [
    limit === null ? element('p', {}, `${label}: ${numberText(used)}`) : quotaBar(label, used, limit),
    ...(blockedUntil === null
      ? []
      : [element('p', { class: 'cars-problem' }, say('quota.stopped', { at: timeText(blockedUntil) }))]),
  ];
}

function quotaBar(label: string, used: number, limit: number): HTMLElement {
  const text = say('quota.used', { used: numberText(used), all: numberText(limit) });
  const share = limit > 0 ? Math.min(1, used / limit) : 0;
  const fill = element('div', { class: share > 0.9 ? 'cars-full' : null });
  fill.style.width = `${share * 100}%`;
  const meter = {
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': '0',
    'aria-valuemax': String(limit),
    'aria-valuenow': String(Math.min(used, limit)),
    'aria-valuetext': text,
  };
  return element(
    'div',
    { class: 'cars-quota' },
    element('span', {}, label),
    element('span', {}, text),
    element('div', meter, fill),
  );
}

const outcomeIcons: Readonly<Record<CarSummary['commands'][number]['outcome'], string>> = {
  pending: 'fa-clock-o',
  succeeded: 'fa-check-circle',
  failed: 'fa-times-circle',
  undetermined: 'fa-question-circle',
};

const commandText = (command: string): string => sharedText(`command.${command}`, { defaultValue: command });

const maxHappenings = 20;

/** Shows the commands that are followed now, and the last events and commands, the newest first. */
function commandsOf({
  commands,
  events,
  watches,
}: Pick<CarSummary, 'commands' | 'events' | 'watches'>): (Node | false)[] {
  const happened = [
    ...commands.map((command) => ({ at: command.sentAt, made: commandElement(command) })),
    ...events.map(({ at, text }) => ({ at, made: eventElement(at, text) })),
  ].sort((one, other) => other.at.localeCompare(one.at));
  return [
    element('h4', {}, say('heading.commands')),
    watches.length > 0 &&
      element(
        'ul',
        { 'aria-label': say('heading.watches') },
        ...watches.map(({ command, sentAt, requestStatus }) =>
          element(
            'li',
            { class: 'cars-watch' },
            iconOf('fa-eye'),
            element('span', {}, commandText(command)),
            element('span', {}, say('command.followed', { status: requestStatus ?? '…' })),
            ageOf(sentAt, timeText(sentAt)),
          ),
        ),
      ),
    happened.length === 0
      ? element('p', { class: 'cars-quiet' }, say('command.none'))
      : element('ul', {}, ...happened.slice(0, maxHappenings).map(({ made }) => made)),
  ];
}

const eventElement = (at: string, text: string): HTMLElement =>
  element('li', { class: 'cars-event' }, iconOf('fa-bell-o'), element('span', {}, text), ageOf(at, timeText(at)));

function commandElement({
  command,
  sentAt,
  outcome,
  reason,
  verified,
  sentBy,
}: CarSummary['commands'][number]): HTMLElement {
  const verdict = `${say(`outcome.${outcome}`)}${verified === true ? `, ${say('command.verified')}` : ''}`;
  const isGood = outcome === 'succeeded' || outcome === 'pending';
  return element(
    'li',
    {
      class: `cars-${outcome}`,
      title: [sentBy && say('command.sentBy', { name: sentBy }), reason].filter(Boolean).join('\n'),
    },
    iconOf(outcomeIcons[outcome]),
    element('span', {}, commandText(command)),
    element('span', {}, verdict),
    ageOf(sentAt, timeText(sentAt)),
    !isGood && reason !== null && element('div', { class: 'cars-reason' }, reason),
  );
}
