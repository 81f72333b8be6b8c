import type { Answer, ServiceRequest } from './answer';

const drawings = {
  exterior:
    '<path d="M12 44c2-10 8-12 14-12l8-12h38l16 12c14 1 20 4 20 14v6H12z" fill="#c9d3dc"/><circle cx="32" cy="52" r="9" fill="#33414d"/><circle cx="88" cy="52" r="9" fill="#33414d"/>',
  interior:
    '<path d="M8 20h104v18H8z" fill="#33414d"/><circle cx="36" cy="42" r="14" fill="none" stroke="#c9d3dc" stroke-width="5"/><path d="M62 24h22v10H62z" fill="#7fb2d9"/>',
};

/** Its width by the angle (docs/internals/vendor-api.md 14.8); negative: it looks to the left. */
const widths = [0.8, 1, 0.8, 0.6, -0.8, -0.8, 0.6, -1];

/** Its address expires (docs/internals/service.md 2.2). Browsers fetch it without key and token. */
export function picture({ path, query }: ServiceRequest, now: number): Answer {
  const [, view] = /^\/images\/(exterior|interior)\.svg$/.exec(path) ?? [];
  const width = view === 'exterior' ? widths[Number(query.get('angle'))] : 1;
  if ((view !== 'exterior' && view !== 'interior') || width === undefined) return { status: 404 };
  if (!(Number(query.get('expires')) > now))
    return { status: 403, headers: { 'content-type': 'text/plain' }, body: 'This address has expired.' };
  return {
    status: 200,
    headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-store' },
    body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-60 0 120 72" width="480" height="288"><g transform="scale(${width} 1) translate(-60)">${drawings[view]}</g></svg>`,
  };
}
