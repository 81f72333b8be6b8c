import type { NextFunction, Request, Response } from 'express';
import type { NodeAPI } from 'node-red';
import { wordsOfRequest } from '../node-red/i18n';
import { asSentence, minuteMs } from '../../src/index';
import { clock } from '../node-red/time';

const maxPerMinute = 120;
const maxBodyBytes = 200_000;
const maxUsers = 1_000;

type Handler = (request: Request, response: Response, next: NextFunction) => void;
type UserRequest = Request & { user?: unknown };

/**
 * Refuses requests of other web pages, of another type or size than the editor sends, and of a user
 * who sends more than a person causes. Node-RED 4.1 lets every web page send requests, with any
 * header, and read the answers; but no page can claim another origin than its own. Programs, which
 * send neither of the two headers that name the page, are accepted if they have the permission.
 */
export function protectRoute(RED: NodeAPI): Handler {
  /** The times of the last requests of each user. */
  const requests = new Map<string, number[]>();
  return (request, response, next) => {
    const refuse = (status: number, sentence: string): void => {
      const message = wordsOfRequest(RED, request).translate(asSentence(sentence));
      response.status(status).json({ error: { code: 'INPUT_INVALID', message, retryAt: null } });
    };
    if (!isOwnEditor(RED, request)) return refuse(403, 'This address answers the editor of this Node-RED only.');
    if (!request.is('application/json')) return refuse(415, 'This address accepts JSON only.');
    if (Number(request.headers['content-length'] ?? Infinity) > maxBodyBytes)
      return refuse(413, 'This request is larger than any that the editor sends.');
    const user = userOf(request);
    const now = clock().monotonic();
    const recent = (requests.get(user) ?? []).filter((time) => time > now - minuteMs);
    if (recent.length >= maxPerMinute) return refuse(429, 'The editor sent too many requests. Try again in a minute.');
    if (requests.size >= maxUsers) requests.clear();
    requests.set(user, [...recent, now]);
    next();
  };
}

/** The name of the user; without users, the address of the browser. */
function userOf({ user, ip }: UserRequest): string {
  const name = isLoggedIn(user) && 'username' in user ? user.username : undefined;
  return typeof name === 'string' ? `user ${name}` : `address ${ip ?? ''}`;
}

/**
 * Browsers name the relation of the page to this address over https and on this machine, and
 * otherwise the origin of the page. Programs send neither, so a request without both is accepted.
 */
function isOwnEditor(RED: NodeAPI, { headers, user }: UserRequest): boolean {
  const { origin, host, authorization } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)) return true;
  // A proxy may change the host. Then the token of a user who is logged in proves the origin:
  // no other page has it.
  return (
    Boolean((RED.settings as { adminAuth?: unknown }).adminAuth) && authorization !== undefined && isLoggedIn(user)
  );
}

/** Node-RED marks its default user as anonymous: that user gets in with any token. */
const isLoggedIn = (user: unknown): user is object =>
  typeof user === 'object' && user !== null && !('anonymous' in user && user.anonymous);
