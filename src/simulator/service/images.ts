import type { Answer } from './answer';
import type { Car } from '../car/car';
import type { ServiceRequest } from './request';

const drawings = {
  exterior:
    '<path d="M12 44c2-10 8-12 14-12l8-12h38l16 12c14 1 20 4 20 14v6H12z" fill="#c9d3dc"/><circle cx="32" cy="52" r="9" fill="#33414d"/><circle cx="88" cy="52" r="9" fill="#33414d"/>',
  interior:
    '<path d="M8 20h104v18H8z" fill="#33414d"/><circle cx="36" cy="42" r="14" fill="none" stroke="#c9d3dc" stroke-width="5"/><path d="M62 24h22v10H62z" fill="#7fb2d9"/>',
};

/** A generic picture of a car; its address expires (docs/service.md 2.2). Pictures are fetched by browsers: no key, no token. */
export function picture({ path, query }: ServiceRequest, cars: ReadonlyMap<string, Car>, now: number): Answer {
  const [, vin = '', view] = /^\/images\/(\w+)\/(exterior|interior)\.svg$/.exec(path) ?? [];
  if (!cars.has(vin) || (view !== 'exterior' && view !== 'interior')) return { status: 404 };
  if (!(Number(query.get('expires')) > now))
    return { status: 403, headers: { 'content-type': 'text/plain' }, body: 'This address has expired.' };
  return {
    status: 200,
    headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-store' },
    body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 72" width="480" height="288">${drawings[view]}</svg>`,
  };
}
