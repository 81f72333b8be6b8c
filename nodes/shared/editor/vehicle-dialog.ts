import type { Account, Finding, FoundVehicle } from '../../../src/index';
import { ask, type Answer, type Refusal } from './ask';
import { configField as field, options, part, textOf } from './forms';
import { callsOf } from './calls';
import { shared, type Say } from './words';

/** The buttons of the vehicle configuration: what they ask of the runtime, and how its answers are shown. */

const say: Say = (key, values) => shared(`dialog.${key}`, values);

/** What a password field shows in place of what is stored. */
const stored = '__PWRD__';

interface State {
  token: ReturnType<Account['token']> | null;
  quota: ReturnType<Account['quota']> | null;
  signIn: { error: Refusal | null } | null;
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

/** @param about what was asked, where a fault of it has words of its own: the sign-in service is not that of the vehicles */
export const complaint = ({ code, message }: Refusal, about = ''): string =>
  say(`check.${about}.${code}`, { defaultValue: say(`check.${code}`, { defaultValue: message }) });

/** What stands in the open form. */
function bodyOf(node: EditorNode<object>): object {
  const values = (names: object, of: (input: JQuery) => unknown): object =>
    Object.fromEntries(Object.keys(names).map((name) => [name, of(field(name))]));
  const typed = (input: JQuery): string | null => (input.val() === stored ? null : textOf(input));
  return {
    options: values(node._def.defaults, (input) => (input.is(':checkbox') ? input.prop('checked') : textOf(input))),
    credentials: values(node._def.credentials ?? {}, typed),
    callback: new URL('connected-vehicle/callback', location.href).href,
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
  const list = $('#connected-vehicle-found')
    .empty()
    .toggle(vehicles.length > 0);
  const names = vehicles.map(({ vin, model, year }) => ({
    value: vin,
    text: [model, year, vin].filter(Boolean).join(' '),
  }));
  list.append(options([{ value: '', text: say('choose', { count: vehicles.length }) }, ...names]));
  tell('found', error ? [complaint(error), true] : [vehicles.length > 0 ? '' : say('noVehicles'), true]);
}

type Line = [text: string, isBad?: boolean];

function linesOfFindings({ findings = [], error }: Answer<{ findings: Finding[] }>): Line[] {
  if (error) return [[complaint(error), true]];
  return findings.map(({ about, verdict, code, message, until, scopes, label }): [string, boolean] => {
    const at = until && timeOf(until);
    if (code === null)
      return [
        `${verdict === 'good' ? '✓' : '?'} ${say(`check.${verdict}.${about}`)}${at ? ` (${say('until', { at })})` : ''}`,
        false,
      ];
    const what =
      code === 'SCOPE_MISSING' && label
        ? say('check.node', { label, scopes: scopes.join(' ') })
        : complaint({ code, message: message ?? '' }, about);
    return [`✗ ${what}${at ? ` (${say('until', { at })})` : ''}`, true];
  });
}

/** Checks a configuration as it is in the flows, with its stored credentials. */
export function checkFindings(id: string, done: (lines: Line[]) => void): void {
  const { _def, ...node } = RED.nodes.node(id) as unknown as EditorNode<Record<string, unknown>>;
  const options = Object.fromEntries(Object.keys(_def.defaults).map((name) => [name, node[name]]));
  ask<{ findings: Finding[] }>(id, 'check', { options, credentials: {}, users: usersOf(id) }, (answer) =>
    done(linesOfFindings(answer)),
  );
}

function showState({ token, quota }: Partial<State>): void {
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
    tell('signIn', [error ? complaint(error) : say('signInDone'), Boolean(error)]);
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
    ask<{ findings: Finding[] }>(id, 'check', bodyOf(node), (answer) => tell('result', ...linesOfFindings(answer)));
  });
  on('diagnostics', () =>
    ask<{ diagnostics: object }>(id, 'diagnostics', {}, ({ diagnostics, error }) => {
      if (!error) RED.clipboard.copyText(JSON.stringify(diagnostics, null, 2));
      tell('result', [error ? complaint(error) : say('copied'), Boolean(error)]);
    }),
  );
  on('sign-in', () => {
    // At once, or the browser blocks it. The page must not reach back.
    popup = window.open('', '_blank');
    if (popup) popup.opener = null;
    ask<{ url: string; redirectUrl: string }>(id, 'sign-in', bodyOf(node), ({ url = '', redirectUrl, error }) => {
      waiting = true;
      if (error) return ended(error);
      popup?.location.replace(url);
      part('paste').show();
      tell('signIn', [say('signInOpen', { redirectUrl })]);
      part('signIn').append(
        $('<a target="_blank" rel="noopener noreferrer">').attr('href', url).text(say('signInLink')),
      );
    });
  });
  on('sign-in-finish', () =>
    ask(id, 'sign-in-finish', { redirected: textOf($('#connected-vehicle-redirected')) }, ({ error }) => ended(error)),
  );

  const calls = callsOf(id);
  part('calls').text(calls > 0 ? say('calls', { calls: calls.toLocaleString() }) : '');
  part('paste').hide();
  $('#connected-vehicle-found').hide();
  forgetElsewhere(node);
  follow(id, () => form !== undefined && document.contains(form), ended);
}

/** Where key, tokens, client id and client secret go. */
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
