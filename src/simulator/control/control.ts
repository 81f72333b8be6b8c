import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../../util/clock';
import { VehicleError } from '../../errors';
import { ok, type Answer, type ServiceRequest } from '../service/answer';
import type { Car } from '../car/car';
import type { CarChanges, Trip } from '../car/changes';
import { clickCar, parseClick, viewOf } from './click';
import { parseFault, type Faults } from '../service/faults';
import { Router } from '../service/router';
import type { RecordedRequest } from '../service/server';

/**
 * The control interface: the cars, the faults and the record of requests as JSON below `/control`,
 * and a page at `/` that shows the cars and lets a person click them.
 *
 * It is for programs on this machine and for its own page. A browser states with `Origin` and
 * `Sec-Fetch-Site` which page a request comes from: requests of other pages are refused. What
 * changes something needs, from a browser, the token of the page as well. No answer allows
 * another origin to read it.
 */
interface ControlParts {
  clock: Clock;
  cars: ReadonlyMap<string, Car>;
  faults: Faults;
  requests: readonly RecordedRequest[];
  secretHeaders: readonly string[];
  /** The page has it, and sends it with what changes something. */
  pageToken: string;
}

/** @param json parses the body of the request; the caller checks it */
type Handler = (parameters: Record<string, string>, json: () => unknown) => Answer;

const controlPath = '/control';
const tokenHeader = 'x-page-token';

/** Open pages and programs that read the events. */
const maxReaders = 50;

export const isControl = (path: string): boolean =>
  path === '/' || path === controlPath || path.startsWith(`${controlPath}/`);

export class Control {
  readonly #parts: ControlParts;
  readonly #router = new Router<Handler>();
  #readers = 0;

  constructor(parts: ControlParts) {
    this.#parts = parts;
    for (const [method, path, handler] of this.#handlers()) this.#router.add(method, controlPath + path, handler);
  }

  answer({ method, path, headers, body }: ServiceRequest): Answer {
    if (this.#isForeign(method, headers))
      return problem(403, 'The control interface is for programs on this machine, not for web pages.');
    if (path === '/' && method === 'GET') return controlPage(this.#parts.pageToken);
    const found = this.#router.find(method, path);
    if (found === null) return problem(404, `There is nothing here. Look at ${controlPath}.`);
    if (found.endpoint === null)
      return {
        ...problem(405, 'This address does not take this method.'),
        headers: { allow: found.methods.join(', ') },
      };
    try {
      return found.endpoint(found.parameters, () => JSON.parse(body) as unknown);
    } catch (error) {
      if (error instanceof VehicleError) return problem(422, error.message);
      if (error instanceof SyntaxError) return problem(400, 'The body is not JSON.');
      throw error;
    }
  }

  /**
   * Whether a request comes from a web page other than the own one, or changes something
   * without the token of that.
   */
  #isForeign(method: string, headers: IncomingHttpHeaders): boolean {
    const { origin, host, 'sec-fetch-site': site } = headers;
    if (origin === undefined && site === undefined) return false;
    if (origin !== undefined && origin !== `http://${host}`) return true;
    // An address that a person typed or followed is `none` or of another site; it
    // reads, and shows the page.
    const isNavigation = method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
    if (site !== undefined && site !== 'same-origin' && !isNavigation) return true;
    return method !== 'GET' && !this.#isToken(headers[tokenHeader]);
  }

  #isToken(token: unknown): boolean {
    const [expected, actual] = [Buffer.from(this.#parts.pageToken), Buffer.from(String(token))];
    return expected.length === actual.length && timingSafeEqual(expected, actual);
  }

  #handlers(): [method: string, path: string, handler: Handler][] {
    const { cars, faults, requests } = this.#parts;
    const withCar =
      (act: (car: Car, json: () => unknown) => unknown): Handler =>
      ({ vin = '' }, json) => {
        const car = cars.get(vin);
        return car === undefined ? problem(404, 'There is no such car.') : ok(act(car, json));
      };
    const click = (car: Car, json: () => unknown): object => {
      clickCar(car, faults, parseClick(json()));
      return viewOf(car);
    };
    return [
      ['GET', '', () => ok({ cars: [...cars.keys()], faults: faults.list })],
      ['GET', '/cars/{vin}', withCar(describe)],
      ['PATCH', '/cars/{vin}', withCar((car, json) => describe(car.set(json() as CarChanges)))], // `set` checks it, and so does `drive`.
      ['POST', '/cars/{vin}/drive', withCar((car, json) => describe(car.drive(json() as Trip)))],
      ['POST', '/cars/{vin}/click', withCar(click)],
      ['GET', '/events', () => this.#events()],
      ['POST', '/faults', (_, json) => ({ status: 201, body: faults.add(parseFault(json())) })],
      ['DELETE', '/faults', () => (faults.clear(), ok(faults.list))],
      ['GET', '/requests', () => ok(requests.map((record) => this.#withoutSecrets(record)))],
    ];
  }

  /** Server-sent events: at once, after each change, and when a car changes without a request. */
  #events(): Answer {
    if (this.#readers >= maxReaders) return problem(503, 'Too many pages are open. Close some of them.');
    // One connection can ask for several at once, before the first one gets its answer.
    this.#readers += 1;
    const { cars, faults, clock } = this.#parts;
    const watched = [...cars.values()];
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      stream: (send) => {
        let sent = '';
        let cancel = (): void => undefined;
        let isReading = false;
        const push = (): void => {
          // Reading a car can let something happen to it, which calls back here.
          if (isReading) return;
          isReading = true;
          cancel();
          const text = JSON.stringify({ cars: watched.map(viewOf), faults: faults.list });
          if (text !== sent) send(`data: ${text}\n\n`);
          sent = text;
          const next = Math.min(...watched.map((car) => car.nextEventAt ?? Infinity));
          cancel = next === Infinity ? () => undefined : clock.after(Math.max(0, next - clock.now()), push);
          isReading = false;
        };
        const ends = [...watched, faults].map((source) => source.onChange(push));
        push();
        return () => {
          this.#readers -= 1;
          cancel();
          for (const end of ends) end();
        };
      },
    };
  }

  /** Tokens, keys and what is sent to the identity service stay out. */
  #withoutSecrets({ headers, body, path, ...record }: RecordedRequest): object {
    const safe = Object.entries(headers).map(([name, value]) => [
      name,
      this.#parts.secretHeaders.includes(name) ? '…' : value,
    ]);
    const isIdentity = path.startsWith('/as/');
    return {
      ...record,
      path: isIdentity ? path.replace(/\?.*/, '') : path,
      headers: Object.fromEntries(safe),
      body: isIdentity ? '…' : body,
    };
  }
}

const describe = (car: Car): object => ({
  vin: car.vin,
  ...car.state,
  climateUntil: car.climateUntil === null ? null : new Date(car.climateUntil).toISOString(),
  driving: car.isDriving,
  invocations: car.invocations.map((invocation) => ({
    id: invocation.id,
    command: invocation.command,
    interface: invocation.interface,
    receivedAt: new Date(invocation.receivedAt).toISOString(),
    status: car.statusOf(invocation),
    acted: invocation.actedAt !== null,
  })),
});

const problem = (status: number, description: string): Answer => ({ status, body: { error: { description } } });

/** The page with its token. Nothing but its own script runs in it. */
function controlPage(token: string): Answer {
  // The build bundles the sources in `page/` into one file and puts it beside this one
  // (scripts/build.mjs).
  const html = readFileSync(join(__dirname, 'page.html'), 'utf8');
  const nonce = randomBytes(16).toString('base64');
  const policy = {
    'default-src': "'none'",
    'script-src': `'nonce-${nonce}'`,
    'style-src': "'unsafe-inline'",
    'connect-src': "'self'",
    'img-src': 'data:',
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy': Object.entries(policy)
        .map(([name, value]) => `${name} ${value}`)
        .join('; '),
    },
    body: html.replace('{{token}}', token).replace('{{nonce}}', nonce),
  };
}
