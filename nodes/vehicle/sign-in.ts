import type { Request, Response } from 'express';
import type { NodeAPI, NodeDef } from 'node-red';
import * as z from 'zod/mini';
import { dayMs, parseScopes, signInKey, signInScopes, VehicleError, type Session } from '../../src/index';
import { clientOf, learnCredentials, serviceOf } from './account-options';
import { safeError } from '../node-red/redaction';
import { perNodeRed } from '../per-node-red';
import { packOf, sessionOf, throwIfInUse } from '../node-red/storage';
import { clock } from '../node-red/time';
import { wordsOfRequest } from '../node-red/i18n';
import { deploysOf } from '../node-red/deploys';
import { storedNodes } from '../node-red/flows';
import { findVehicle } from '../node-red/vehicle-node';
import { parseOptions } from '../node-red/options';
import { vehicleCredentials, vehicleOptions, type VehicleCredentials, type VehicleOptions } from './options';

/** A grant that was saved before its config node was deployed; milliseconds since 1970. */
const undeployedSchema = z.lazy(() => z.object({ key: z.string(), at: z.number() }));
const maxUndeployedMs = dayMs;

export interface SignInForm {
  id: string;
  options: VehicleOptions;
  credentials: VehicleCredentials;
}

class SignInRoutes {
  readonly #RED: NodeAPI;

  /** Ends the calls at the end of each deploy. */
  readonly end: () => void;

  constructor(RED: NodeAPI) {
    this.#RED = RED;
    // The next deploy tries again what fails.
    this.end = deploysOf(RED).onEnd(() => void this.#removeUndeployed().catch(() => undefined));
  }

  /** The dialog waits for it. Null: there is no result, or no store. */
  async resultOf(id: string) {
    const signIns = sessionOf(this.#RED)?.signIns;
    return (await signIns?.resultOf(id).catch(() => null)) ?? null;
  }

  /** @throws VehicleError CONFIG, STORE_UNAVAILABLE */
  async begin({ id, options, credentials }: SignInForm, callback: string) {
    throwIfInUse(this.#RED);
    const service = serviceOf(options);
    if (service.authorizeUrl === '' || service.tokenUrl === '') {
      throw new VehicleError(
        'CONFIG',
        'Without a sign-in URL and a token URL, only pasted tokens work. Enter both, then sign in.',
      );
    }
    // The client of a custom service may have no secret, or one with spaces.
    if (options.service === 'volvo-cars' && credentials.clientId !== '' && !/^\S+$/.test(credentials.clientSecret)) {
      throw new VehicleError(
        'CONFIG',
        'The client secret is missing, or contains a space or a line break. Copy it again, in one piece, from your application at the developer portal into the vehicle configuration.',
      );
    }
    if (parseScopes(options.moreScopes) === null) {
      throw new VehicleError(
        'CONFIG',
        '“More scopes” has a comma or another character that is not part of a scope. Separate the scopes with spaces, without quotation marks, and sign in again.',
      );
    }
    const redirectUrl = service.redirectUrl || callback;
    learnCredentials(credentials);
    const { url } = await this.#requireSession().signIns.begin({
      authorizeUrl: service.authorizeUrl,
      client: clientOf(service, credentials),
      redirectUrl,
      ...signInScopes(service.availableInterfaces, options),
      configNodeId: id,
      deployedClient: this.#deployedClient(id),
      accessToken: credentials.accessToken,
    });
    return { url, redirectUrl };
  }

  /** Also null if a deployed configuration names no service that can be used. */
  #deployedClient(id: string): ReturnType<typeof clientOf> | null {
    const deployed = findVehicle(this.#RED, id);
    try {
      return (
        deployed &&
        clientOf(
          serviceOf(parseOptions(vehicleOptions, deployed.config)),
          parseOptions(vehicleCredentials, deployed.credentials ?? {}),
        )
      );
    } catch {
      return null;
    }
  }

  /** @throws VehicleError */
  async finish(redirected: string, configNodeId?: string) {
    const signedIn = await this.#requireSession().signIns.finish({
      redirected,
      ...(configNodeId !== undefined && { configNodeId }),
      deployedClient: (id) => this.#deployedClient(id),
    });
    const vehicle = findVehicle(this.#RED, signedIn.configNodeId);
    if (vehicle === null)
      await packOf(this.#RED).store.write(`undeployed/${signedIn.configNodeId}`, {
        key: signedIn.key,
        at: clock().now(),
      });
    // A failure of this refresh is reported where the token is used.
    await vehicle
      ?.account()
      .then((account) => account.refreshToken())
      .catch(() => undefined);
    return signedIn;
  }

  /**
   * Refuses the sign-ins that a deleted configuration has begun, and removes its saved grant.
   * @throws VehicleError
   */
  async forget(config: NodeDef, given: unknown): Promise<void> {
    const session = sessionOf(this.#RED);
    await session?.signIns.refuseAnswers(config.id);
    const credentials = parseOptions(vehicleCredentials, given ?? {});
    if (credentials.clientId === '') return;
    const service = serviceOf(parseOptions(vehicleOptions, config));
    if (service.tokenUrl !== '') await session?.removeGrant(signInKey(clientOf(service, credentials), config.id));
  }

  /** A grant goes after a day without a deploy, so that a form that was canceled leaves none. */
  async #removeUndeployed(): Promise<void> {
    const { store } = packOf(this.#RED);
    const deployed = new Set(storedNodes(this.#RED).map(({ id }) => id));
    for (const entry of await store.entries('undeployed/')) {
      const { key, at } = undeployedSchema.parse(entry.value);
      const isDeployed = deployed.has(entry.key.slice('undeployed/'.length));
      if (!isDeployed && clock().now() - at < maxUndeployedMs) continue;
      if (!isDeployed) await this.#requireSession().removeGrant(key);
      await store.remove(entry.key);
    }
  }

  /** Anybody can request this page, so it shows only whether the sign-in worked. */
  async answerCallback(request: Request, response: Response): Promise<void> {
    const { say, translate } = wordsOfRequest(this.#RED, request);
    const { originalUrl } = request;
    const isReloaded = await sessionOf(this.#RED)
      ?.signIns.isUsed(originalUrl)
      .catch(() => false);
    const { status, words } = await this.finish(originalUrl).then(
      ({ warning }) => ({
        status: 200,
        words: [say('callback.done'), ...(warning ? [translate(warning)] : [])].join(' '),
      }),
      (error: unknown) => {
        const why = translate(safeError(error).sentence);
        return { status: 400, words: isReloaded ? why : `${say('callback.failed')} ${why}` };
      },
    );
    response
      .status(status)
      .set({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .send(page(words));
  }

  #requireSession(): Session {
    const found = sessionOf(this.#RED);
    if (found === null)
      throw new VehicleError(
        'CONFIG',
        'This Node-RED has no user directory in which a sign-in could be saved. Paste an access token instead.',
      );
    return found;
  }
}

export const signInsOf = (RED: NodeAPI): SignInRoutes => perNodeRed(RED, SignInRoutes);

const page = (words: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Node-RED</title><style>:root{color-scheme:light dark}body{font:16px/1.5 sans-serif;max-width:32em;margin:4em auto;padding:0 1em}</style><p>${escapeHtml(words)}</p>\n`;

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
