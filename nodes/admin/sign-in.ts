import type { Request, Response } from 'express';
import type { NodeAPI, NodeDef } from 'node-red';
import { memberOf, signInScopes, VehicleError, type Sentence, type Session, type SignedIn } from '../../src/index';
import { clientOf, serviceOf } from '../vehicle/account-options';
import { learnCredentials, redactor, safeError } from '../vehicle/redaction';
import { partOf } from '../pack';
import { sessionOf, throwIfInUse } from '../vehicle/state-store';
import { clock } from '../node-red/time';
import { wordsOf } from '../node-red/i18n';
import type { Form } from './form-routes';
import { storedNodes } from '../node-red/flows';
import { findVehicle } from '../vehicle/vehicle-node';
import { parseOptions } from '../node-red/options';
import { vehicleCredentials, vehicleOptions } from '../vehicle/options';

/** The result of the last sign-in of a config node, for the dialog that waits for it. */
interface SignInResult {
  /** ISO-8601. */
  at: string;
  error: { code: string; message: Sentence } | null;
  /** Scopes that were requested and not granted. */
  missing: SignedIn['missing'];
}
const maxResults = 100;

class SignInResults {
  readonly #byId = new Map<string, SignInResult>();

  find(id: string): SignInResult | null {
    return this.#byId.get(id) ?? null;
  }

  remember(id: string, error: SignInResult['error'], missing: SignInResult['missing'] = []): void {
    if (this.#byId.size >= maxResults) this.#byId.clear();
    this.#byId.set(id, { at: new Date(clock().now()).toISOString(), error, missing });
  }

  forget(id: string): void {
    this.#byId.delete(id);
  }
}

export const signInResultsOf = (RED: NodeAPI): SignInResults => partOf(RED, SignInResults);

/** @throws VehicleError CONFIG */
export function beginSignIn(
  RED: NodeAPI,
  { id, options, credentials }: Form,
  callback: string,
): { url: string; redirectUrl: string } {
  throwIfInUse(RED);
  const service = serviceOf(options);
  if (service.authorizeUrl === '' || service.tokenUrl === '') {
    throw new VehicleError(
      'CONFIG',
      'To sign in, enter the sign-in URL and the token URL first. Without them only pasted tokens work.',
    );
  }
  // The client of a custom service may have no secret, or one with blanks.
  if (options.service === 'volvo-cars' && credentials.clientId !== '' && !/^\S+$/.test(credentials.clientSecret)) {
    throw new VehicleError(
      'CONFIG',
      'The client secret is missing, or has a blank or a line break inside. Copy it again, in one piece, from your application at the developer portal into the vehicle configuration.',
    );
  }
  const redirectUrl = service.redirectUrl || callback;
  learnCredentials(credentials);
  signInResultsOf(RED).forget(id);
  const { url, state } = requireSession(RED).signIns.begin({
    authorizeUrl: service.authorizeUrl,
    client: clientOf(service, credentials),
    redirectUrl,
    ...signInScopes(service.availableInterfaces, options),
    configNodeId: id,
    refreshToken: credentials.refreshToken,
    accessToken: credentials.accessToken,
    onSecret: (secret) => redactor().learnRotated(secret),
  });
  redactor().learnRotated(state);
  return { url, redirectUrl };
}

/** @throws VehicleError */
export async function finishSignIn(RED: NodeAPI, redirected: string, configNodeId?: string) {
  const { signIns } = requireSession(RED);
  const id = configNodeId ?? signIns.configNodeIdOf(redirected);
  try {
    const signedIn = await signIns.finish({ redirected, ...(configNodeId !== undefined && { configNodeId }) });
    // A failure of this refresh is reported where the token is used.
    await findVehicle(RED, signedIn.configNodeId)
      ?.account()
      .then((account) => account.refreshToken())
      .catch(() => undefined);
    signInResultsOf(RED).remember(signedIn.configNodeId, null, signedIn.missing);
    return signedIn;
  } catch (error) {
    const { code, sentence: message } = safeError(error);
    if (id !== null) signInResultsOf(RED).remember(id, { code, message });
    throw error;
  }
}

/** Sign-ins that a deleted configuration has begun are refused. */
export const forgetSignIns = (RED: NodeAPI, id: string): void => sessionOf(RED)?.signIns.forget(id);

/**
 * Removes the saved grants of a deleted configuration. The grant of a pasted refresh token stays where another configuration, even a
 * disabled one, has the same token.
 * @throws VehicleError
 */
export async function removeStoredGrants(RED: NodeAPI, config: NodeDef, given: unknown): Promise<void> {
  const credentials = parseOptions(vehicleCredentials, given ?? {});
  if (credentials.clientId === '') return;
  const service = serviceOf(parseOptions(vehicleOptions, config));
  const refreshToken = isPastedElsewhere(RED, config.id, credentials.refreshToken) ? '' : credentials.refreshToken;
  if (service.tokenUrl !== '')
    await sessionOf(RED)?.signIns.forgetSaved({
      client: clientOf(service, credentials),
      configNodeId: config.id,
      refreshToken,
    });
}

function isPastedElsewhere(RED: NodeAPI, id: string, refreshToken: string): boolean {
  return storedNodes(RED).some((node) => {
    if (node.type !== 'connected-vehicle' || node.id === id) return false;
    const stored: unknown = findVehicle(RED, node.id)?.credentials ?? RED.nodes.getCredentials(node.id);
    const other = String(memberOf(stored, 'refreshToken') ?? '').trim();
    // The environment variables of a disabled node are not resolved.
    return other === refreshToken || other.startsWith('${');
  });
}

/** The page at the redirect URL. Anybody can request it, so it says only whether the sign-in worked. */
export function callbackPage(RED: NodeAPI) {
  return async (request: Request, response: Response): Promise<void> => {
    const { say, word } = wordsOf(RED);
    const result = await finishSignIn(RED, request.originalUrl).then(
      () => ({ status: 200, words: say('callback.done') }),
      (error: unknown) => ({
        status: 400,
        words: `${say('callback.failed')} ${word(safeError(error).sentence)}`,
      }),
    );
    response
      .status(result.status)
      .set({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .send(page(result.words));
  };
}

const page = (words: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Node-RED</title><style>:root{color-scheme:light dark}body{font:16px/1.5 sans-serif;max-width:32em;margin:4em auto;padding:0 1em}</style><p>${escapeHtml(words)}</p>\n`;

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function requireSession(RED: NodeAPI): Session {
  const found = sessionOf(RED);
  if (found === null)
    throw new VehicleError(
      'CONFIG',
      'This Node-RED has no user directory in which a sign-in could be saved. Paste an access token instead.',
    );
  return found;
}
