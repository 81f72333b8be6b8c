import { dayMs, historyNames, hourMs } from '../../../src/index';
import { button, element, iconOf } from '../../../src/drawing/elements';
import type { CarSummary } from '../runtime/cars';
import { ageOf } from './ages';
import { measureText } from './car-rows';
import { openConfiguration } from './flow-nodes';

const { numberText, sharedText, timeText, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

/** The parts of the panel that show the summary of a car and do nothing to it. */

export const titleOf = ({ name, service }: CarSummary): string =>
  name || sharedText(`service.${service}`, { defaultValue: service || say('label.car') });

/** @param isNamed the list of cars shows the name and the VIN already */
export function headOf({ car, isNamed }: { car: CarSummary; isNamed: boolean }): (Node | false)[] {
  const { value } = car.facts.model ?? {};
  const model = typeof value === 'string' ? value : '';
  if (isNamed) return [model !== '' && element('h3', {}, model)];
  const about = [model, car.vin].filter(Boolean).join(' · ');
  return [element('h3', {}, titleOf(car)), element('span', { class: 'cars-about' }, about)];
}

/** Why nothing can be read of the car. */
export const problemOf = ({ problem, session, vin }: Pick<CarSummary, 'problem' | 'session' | 'vin'>): string | null =>
  problem ?? session?.problem ?? (vin === null ? say('session.noCar') : null);

export function remedyButton(config: string, remedy: NonNullable<CarSummary['remedy']>): HTMLElement {
  const made = button(say(`remedy.${remedy}`), remedy === 'signIn' ? 'fa-sign-in' : 'fa-pencil', () => {
    openConfiguration(config);
    // The editor focuses the first field of a form that has slid in.
    if (remedy === 'signIn') setTimeout(() => $('[data-ask=sign-in]').trigger('focus'), 700);
  });
  made.dataset['key'] = 'remedy';
  return made;
}

const sevenDaysMs = 7 * dayMs;

/** A line for the battery and one for the fuel; for the range only if there is neither. */
export function linesOf({ lines, facts }: Pick<CarSummary, 'lines' | 'facts'>): (Node | false)[] {
  // A shorter line is a dot.
  const shown = historyNames.filter((name) => {
    const points = lines[name] ?? [];
    return (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0) >= 2 * hourMs;
  });
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

export function accountOf(
  car: Pick<CarSummary, 'service' | 'session' | 'problem' | 'quota' | 'readOnly' | 'vin'>,
): Node[] {
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

function quotaElements({ api, used, limit, pausedUntil }: CarSummary['quota'][number]): Node[] {
  const label = say(`quota.${api}`);
  return [
    limit === null ? element('p', {}, `${label}: ${numberText(used)}`) : quotaBar(label, used, limit),
    ...(pausedUntil === null
      ? []
      : [element('p', { class: 'cars-problem' }, say('quota.stopped', { at: timeText(pausedUntil) }))]),
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
export function commandsOf(car: Pick<CarSummary, 'commands' | 'events' | 'followed'>): (Node | false)[] {
  const { commands, events, followed } = car;
  const happened = [
    ...commands.map((command) => ({ at: command.sentAt, made: commandElement(command) })),
    ...events.map(({ at, text }) => ({ at, made: eventElement(at, text) })),
  ].sort((one, other) => other.at.localeCompare(one.at));
  return [
    element('h4', {}, say('heading.commands')),
    followed.length > 0 &&
      element(
        'ul',
        { 'aria-label': say('heading.watches') },
        ...followed.map(({ command, sentAt, requestStatus }) =>
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

function commandElement(sent: CarSummary['commands'][number]): HTMLElement {
  const { command, sentAt, outcome, reason, verified, sentBy } = sent;
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
