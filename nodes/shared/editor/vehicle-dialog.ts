import { isLoopback, type Account, type Finding, type FoundVehicle } from '../../../src/index';
import type { VehicleOptions } from '../input/options';
import { ask, type Answer, type Refusal } from './ask';
import { complaint } from './complaint';
import { configField as field, options, part, textOf } from './forms';
import { callsOf } from './calls';
import { shared, type Say } from './words';

/** The buttons of the vehicle configuration: what they ask of the runtime, and how its answers are shown. */

const say: Say = (key, values) => shared(`dialog.${key}`, values);

/** A password field shows this in place of the stored value. */
const stored = '__PWRD__';

interface State {
  token: ReturnType<Account['token']> | null;
  quota: ReturnType<Account['quota']> | null;
  signIn: { error: Refusal | null } | null;
  /** Null while no demo car is deployed. */
  demoPage: string | null;
}

const timeOf = (iso: string): string => {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
};

/** Shows lines of text, as warnings where they are bad. */
function tell(name: string, ...lines: [text: string, isBad?: boolean][]): void {
  part(name)
    .empty()
    .append(...lines.map(([text, isBad = false]) => $('<div>').text(text).toggleClass('warning', isBad)));
}

/** The address of this editor to which the sign-in page sends the browser back. */
const callbackUrl = (): string => new URL('connected-vehicle/callback', location.href).href;

/** The redirect address that the application at the portal has to list. */
const redirectUrl = (): string => textOf(field('redirectUrl')) || callbackUrl();

/** The names that are checked in a list of the open form. */
export const listOf = <List extends 'access' | 'interfaces'>(list: List): VehicleOptions[List] =>
  part(list)
    .find<HTMLInputElement>('input:checked')
    .get()
    .map(({ value }) => value) as VehicleOptions[List];

/** The values of the open form. */
function bodyOf(node: EditorNode<object>): object {
  const values = (names: object, of: (input: JQuery) => unknown): object =>
    Object.fromEntries(Object.keys(names).map((name) => [name, of(field(name))]));
  const typed = (input: JQuery): string | null => (input.val() === stored ? null : textOf(input));
  return {
    options: {
      ...values(node._def.defaults, (input) => (input.is(':checkbox') ? input.prop('checked') : textOf(input))),
      access: listOf('access'),
      interfaces: listOf('interfaces'),
    },
    credentials: values(node._def.credentials ?? {}, typed),
    callback: callbackUrl(),
    users: usersOf(node.id),
  };
}

/** The nodes that use the configuration, deployed or not, and what each of them does. */
function usersOf(id: string): object[] {
  const users: object[] = [];
  RED.nodes.eachNode(({ vehicle, type, name, read, reads, command, verify }) => {
    if (vehicle !== id) return;
    const needed = {
      '-status': read === 'several' ? reads : [read],
      '-command-status': verify ? ['doors'] : [],
      '-guard': ['windows', 'doors'],
    }[type.slice(17)];
    users.push({
      label: name || type,
      reads: needed ?? [],
      commands: type.endsWith('-command') && command ? [command] : [],
    });
  });
  return users;
}

function showVehicles({ vehicles = [], error }: Answer<{ vehicles: FoundVehicle[] }>): void {
  const [first, ...others] = vehicles;
  const list = $('#connected-vehicle-found')
    .empty()
    .toggle(others.length > 0);
  const named = ({ vin, model, year }: FoundVehicle): string => [model, year, vin].filter(Boolean).join(' ');
  list.append(
    options([
      { value: '', text: say('choose', { count: vehicles.length }) },
      ...vehicles.map((vehicle) => ({ value: vehicle.vin, text: named(vehicle) })),
    ]),
  );
  if (error) return tell('found', [formComplaint(error), true]);
  if (first === undefined) return tell('found', [say('noVehicles'), true]);
  if (others.length > 0) return tell('found');
  field('vin').val(first.vin).trigger('change');
  tell('found', [say('foundOne', { vehicle: named(first) })]);
}

type Line = [text: string, isBad?: boolean];

const isAccess = (about: string): boolean => ['key', 'token', 'scopes'].includes(about);

/** @param isDemo a demo car has neither key nor token to judge */
function linesOfFindings({ findings = [], error }: Answer<{ findings: Finding[] }>, isDemo: boolean): Line[] {
  if (error) return [[`✗ ${formComplaint(error)}`, true]];
  const judged = isDemo ? findings.filter(({ about }) => !isAccess(about)) : findings;
  return judged.map(({ about, verdict, code, message, until, scopes, label }): [string, boolean] => {
    const at = until && timeOf(until);
    if (code === null)
      return [
        `${verdict === 'good' ? '✓' : '?'} ${say(`check.${verdict}.${about}`)}${at ? ` (${say('until', { at })})` : ''}`,
        false,
      ];
    const what =
      code === 'SCOPE_MISSING' && label
        ? say('check.node', { label, scopes: scopes.join(' ') })
        : formComplaint({ code, message: message ?? '' }, about);
    return [`✗ ${what}${at ? ` (${say('until', { at })})` : ''}`, true];
  });
}

/** Checks a configuration as it is in the flows, with its stored credentials. */
export function checkFindings(id: string, done: (lines: Line[]) => void): void {
  const { _def, ...node } = RED.nodes.node(id) as unknown as EditorNode<Record<string, unknown>>;
  const options = Object.fromEntries(Object.keys(_def.defaults).map((name) => [name, node[name]]));
  ask<{ findings: Finding[] }>(id, 'check', { options, credentials: {}, users: usersOf(id) }, (answer) =>
    done(linesOfFindings(answer, (node['service'] ?? 'demo') === 'demo')),
  );
}

/** The demo service listens on the machine that Node-RED runs on, so only a browser there can open its page. */
function showDemoPage(page: string | null): void {
  part('demoPage').toggle(page !== null && isLoopback(location.hostname));
  if (page !== null) part('demoPage').find('a').attr('href', page);
}

function showState({ token, quota, demoPage = null }: Partial<State>): void {
  showDemoPage(demoPage);
  const { kind, expiresAt, signedInAt, lastRefreshAt, problem } = token ?? {};
  const signedIn = signedInAt
    ? say('signedIn', { since: timeOf(signedInAt), at: timeOf(lastRefreshAt ?? signedInAt) })
    : '';
  const ends = kind === 'pasted' && expiresAt ? say('tokenEnds', { at: timeOf(expiresAt) }) : '';
  tell('token', [problem ?? (signedIn || ends), Boolean(problem)]);
  part('used').text(
    quota ? say('used', { used: quota.usedToday.toLocaleString(), all: quota.perDay.toLocaleString() }) : '',
  );
}

/** A failure that a field of this form explains, else the failure's own words. */
function formComplaint(error: Refusal, about = ''): string {
  const missing = ['apiKey', 'clientId'].find((name) => field(name).is(':visible') && textOf(field(name)) === '');
  return error.code === 'CONFIG' && missing !== undefined ? say(`missing.${missing}`) : complaint(error, about);
}

/** How much of the day's quota the nodes of the vehicle use; a demo car has none. */
function showCalls(id: string): void {
  const calls = callsOf(id);
  const limit = Number(textOf(field('requestsPerDay')));
  part('calls')
    .text(
      calls > 0 && textOf(field('service')) !== 'demo'
        ? say('calls', { calls: calls.toLocaleString(), limit: limit.toLocaleString() })
        : '',
    )
    .toggleClass('warning', calls > limit);
}

/** Asks again and again while the dialog is open. */
function follow(id: string, isOpen: () => boolean, onSignIn: (error: Refusal | null) => void): void {
  ask<State>(id, 'state', {}, (state) => {
    if (!isOpen()) return;
    if (!state.error) showState(state);
    if (state.signIn) onSignIn(state.signIn.error);
    setTimeout(follow, 3000, id, isOpen, onSignIn);
  });
}

export function prepareDialog(node: EditorNode<object>): void {
  const { id } = node;
  const form = $('.car-form').has('#connected-vehicle-found').get(0);
  let waiting = false;
  let popup: Window | null = null;

  const on = (action: string, work: () => void): void => void $(`[data-ask=${action}]`).on('click', work);
  const ended = (error: Refusal | null | undefined): void => {
    if (!waiting) return;
    waiting = false;
    popup?.close();
    part('paste').hide();
    tell('signIn', [error ? formComplaint(error, 'signIn') : say('signInDone'), Boolean(error)]);
  };

  on('vehicles', () => {
    tell('found', [say('asking')]);
    ask(id, 'vehicles', bodyOf(node), showVehicles);
  });
  $('#connected-vehicle-found').on('change', (event) => {
    if (textOf($(event.target)))
      field('vin')
        .val(textOf($(event.target)))
        .trigger('change');
  });
  on('check', () => {
    tell('result', [say('asking')]);
    ask<{ findings: Finding[] }>(id, 'check', bodyOf(node), (answer) =>
      tell('result', ...linesOfFindings(answer, textOf(field('service')) === 'demo')),
    );
  });
  on('diagnostics', () =>
    ask<{ diagnostics: object }>(id, 'diagnostics', {}, ({ diagnostics, error }) => {
      if (!error) RED.clipboard.copyText(JSON.stringify(diagnostics, null, 2));
      tell('result', [error ? complaint(error) : say('copied'), Boolean(error)]);
    }),
  );
  on('copy-redirect', () => RED.clipboard.copyText(redirectUrl()));
  on('sign-in', () => {
    // At once, or the browser blocks it. The page must not reach back.
    popup = window.open('', '_blank');
    if (popup) popup.opener = null;
    ask<{ url: string; redirectUrl: string }>(
      id,
      'sign-in',
      bodyOf(node),
      ({ url = '', redirectUrl: address, error }) => {
        waiting = true;
        if (error) return ended(error);
        popup?.location.replace(url);
        part('paste').show();
        tell('signIn', [say('signInOpen', { redirectUrl: address })]);
        part('signIn').append(
          $('<a target="_blank" rel="noopener noreferrer">').attr('href', url).text(say('signInLink')),
        );
      },
    );
  });
  on('sign-in-finish', () =>
    ask(id, 'sign-in-finish', { redirected: textOf($('#connected-vehicle-redirected')) }, ({ error }) => ended(error)),
  );

  field('redirectUrl').attr('placeholder', callbackUrl());
  field('service')
    .add(field('requestsPerDay'))
    .on('change', () => showCalls(id));
  showCalls(id);
  part('paste').hide();
  $('#connected-vehicle-found').hide();
  forgetElsewhere(node);
  follow(id, () => form !== undefined && document.contains(form), ended);
}

/** The addresses that get key, tokens, client ID and client secret. */
const places = ['baseUrl', 'authorizeUrl', 'tokenUrl'];

/** A stored secret is meant for the place that it was typed for: at another one its field is empty, and saving forgets it. */
function forgetElsewhere({ _def }: EditorNode<object>): void {
  const origin = (name: string): string => /^\w+:\/\/[^/]*/.exec(textOf(field(name)).toLowerCase())?.[0] ?? '';
  const place = (): string =>
    [textOf(field('service')), ...(textOf(field('service')) === 'custom' ? places.map(origin) : [])].join(' ');
  const secrets = Object.keys(_def.credentials ?? {}).filter((name) => field(name).val() === stored);
  const before = place();
  const look = (): void => {
    const [from, to] = place() === before ? ['', stored] : [stored, ''];
    for (const name of secrets) if (field(name).val() === from) field(name).val(to).trigger('change');
    tell('moved', [place() === before || secrets.length === 0 ? '' : say('moved'), true]);
  };
  for (const name of ['service', ...places]) field(name).on('change', look);
}
