import type { NextFunction, Request, Response } from 'express';
import type { NodeAPI } from 'node-red';

const perMinute = 120;
const largestBody = 200_000;

type Handler = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Lets through what this Node-RED's own editor asks, and no more often than a person does. Node-RED 4.1 lets every web
 * page ask, with any header, and read the answer; what a page cannot do is say that it comes from elsewhere than it does.
 */
export function guard(RED: NodeAPI): Handler {
  const asked: number[] = [];
  return (request, response, next) => {
    const refuse = (status: number, message: string): void =>
      void response.status(status).json({ error: { code: 'INPUT_INVALID', message, retryAt: null } });
    const now = Date.now();
    while (asked.length > 0 && (asked[0] ?? 0) <= now - 60_000) asked.shift();
    if (!isOwnEditor(RED, request)) return refuse(403, 'This address answers the editor of this Node-RED only.');
    if (!request.is('application/json')) return refuse(415, 'This address takes JSON only.');
    if (Number(request.headers['content-length'] ?? Infinity) > largestBody)
      return refuse(413, 'This is more than the editor ever sends.');
    if (asked.length >= perMinute) return refuse(429, 'The editor asks too often. Try again in a minute.');
    asked.push(now);
    next();
  };
}

/** A browser says so itself where it can (over https and on this machine), else by the address of its page. Other programs say nothing. */
function isOwnEditor(RED: NodeAPI, { headers, user }: Request & { user?: unknown }): boolean {
  const { origin, host, authorization } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)) return true;
  // Behind a proxy that changes the host, the token of a user who is logged in tells: no other page has it.
  return (
    Boolean((RED.settings as { adminAuth?: unknown }).adminAuth) && authorization !== undefined && isLoggedIn(user)
  );
}

/** Where everybody has a default user, a token that nobody gave out is as good as none: Node-RED then says `anonymous`. */
const isLoggedIn = (user: unknown): boolean =>
  typeof user === 'object' && user !== null && !('anonymous' in user && user.anonymous);
