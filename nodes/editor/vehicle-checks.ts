import { isRedirectUrl, type AccessName, type Finding, type InterfaceName } from '../../src/index';
import { chosenIn, configField as field, part, textOf } from './forms';
import { commandOf, nodesOf, readsOfNode } from './node-reads';
import { ask, errorText, type Answer } from './runtime-request';
import { sharedText, timeText, type Say } from './texts';
import type { Validity } from './validators';

/** The forms use these checks before a dialog is loaded; the tab “Cars” also uses them. */

const say: Say = (key, values) => sharedText(`dialog.${key}`, values);

/** A password field shows this in place of the stored value. */
export const stored = '__PWRD__';

export type Line = [text: string, isBad?: boolean];

export function showLines(name: string, ...lines: Line[]): void {
  part(name)
    .empty()
    .css('visibility', '')
    .append(...lines.map(([text, isBad = false]) => $('<div>').text(text).toggleClass('warning', isBad)));
}

/** Whether Home Assistant shows this editor, at an address with a token that it makes. */
export const isInHomeAssistant = (): boolean => location.pathname.startsWith('/api/hassio_ingress/');

/** The address of this editor to which the sign-in page sends the browser back. */
export function callbackUrl(): string {
  // The address of Home Assistant changes with a new installation, and requires its own login.
  if (isInHomeAssistant()) return 'http://localhost:1880/connected-vehicle/callback';
  const url = new URL('connected-vehicle/callback', location.href);
  // The portal accepts https, and http on localhost only. On another machine, the driver pastes the
  // address that the browser ends at.
  if (url.protocol === 'http:') url.hostname = 'localhost';
  return url.href;
}

/** Empty: the address of the editor, or `localhost`. */
export function validateRedirectUrl(value = ''): Validity {
  const address = value.trim();
  if (address === '') return true;
  if (!isRedirectUrl(address)) return sharedText('reason.redirectUrl', { address: callbackUrl() });
  const isAnswered = new URL(address).pathname.endsWith('/connected-vehicle/callback');
  return isAnswered || sharedText('reason.redirectPath', { address: callbackUrl() });
}

/** The lists of boxes that a form of the vehicle can have, and the names in each. */
interface Lists {
  access: AccessName;
  interfaces: InterfaceName;
}

export const listOf = <List extends keyof Lists>(list: List): Lists[List][] => chosenIn(list) as Lists[List][]; // The values that the boxes were made with.

/** The reads and commands of each node that uses a configuration. */
export const usesOf = (id: string): object[] =>
  nodesOf(id).map((node) => ({
    label: node.name || node.type,
    reads: readsOfNode(node).flatMap(({ reads }) => reads),
    commands: [commandOf(node) ?? []].flat(),
  }));

const isAccess = (about: string): boolean => ['key', 'token', 'scopes'].includes(about);

/** @param isDemo a demo car has neither key nor token to judge */
export function linesOfFindings({ findings = [], error }: Answer<{ findings: Finding[] }>, isDemo: boolean): Line[] {
  if (error) return [[`✗ ${errorText(error)}`, true]];
  const judged = isDemo ? findings.filter(({ about }) => !isAccess(about)) : findings;
  const lines = judged.map(({ about, result, code, message, until, scopes, label }): [string, boolean] => {
    const end = until ? ` (${say('until', { at: timeText(until) })})` : '';
    if (code === null)
      return [`${result === 'good' ? '✓' : '?'} ${say(`check.${result}.${about}`, { label })}${end}`, false];
    const what =
      code === 'SCOPE_MISSING' && label
        ? say('check.node', { label, scopes: scopes.join(' ') })
        : errorText({ code, message: message ?? '' });
    return [`✗ ${what}${end}`, true];
  });
  // Failed lines come first.
  return [...lines.filter(([, isBad]) => isBad), ...lines.filter(([, isBad]) => !isBad)];
}

/** Checks a configuration as it is in the flows, with its stored credentials. */
export function checkFindings(id: string, done: (lines: Line[]) => void): void {
  const found = RED.nodes.node(id) as EditorNode<Record<string, unknown>> | null | undefined;
  if (!found) return done(linesOfFindings({ error: { code: 'deleted', message: '' } }, false));
  const { _def, ...node } = found;
  const options = Object.fromEntries(Object.keys(_def.defaults).map((name) => [name, node[name]]));
  ask<{ findings: Finding[] }>(id, 'check', { options, credentials: {}, nodes: usesOf(id) }, (answer) =>
    done(linesOfFindings(answer, (node['service'] ?? 'demo') === 'demo')),
  );
}

/** The addresses that get key, tokens, client ID and client secret. */
export const addressNames = ['baseUrl', 'authorizeUrl', 'tokenUrl'];

/** A stored secret is for the addresses it was entered for. With others, saving removes it. */
export function clearSecretsForOtherAddress({ _def }: EditorNode<object>): void {
  const origin = (name: string): string => /^\w+:\/\/[^/]*/.exec(textOf(field(name)).toLowerCase())?.[0] ?? '';
  const serviceKey = (): string =>
    [textOf(field('service')), ...(textOf(field('service')) === 'custom' ? addressNames.map(origin) : [])].join(' ');
  const secrets = Object.keys(_def.credentials ?? {}).filter((name) => field(name).val() === stored);
  const before = serviceKey();
  const updateSecrets = (): void => {
    const [from, to] = serviceKey() === before ? ['', stored] : [stored, ''];
    for (const name of secrets) if (field(name).val() === from) field(name).val(to).trigger('change');
    showLines('moved', [serviceKey() === before || secrets.length === 0 ? '' : say('moved'), true]);
  };
  for (const name of ['service', ...addressNames]) field(name).on('change', updateSecrets);
}
