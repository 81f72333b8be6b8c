import dns from 'node:dns';

/**
 * Loaded into a process with `NODE_OPTIONS=--require`: every name below `.test` is an address of
 * this machine, 127.0.0.1, as if a name server had returned it. No name server answers for `.test`
 * (RFC 6761). The name itself reaches TLS and HTTP unchanged. `WORLD_ADDRESSES` gives a name other
 * addresses: `{"two.test":["127.0.0.9","127.0.0.1"]}`.
 */
const addresses = JSON.parse(process.env['WORLD_ADDRESSES'] ?? '{}') as Record<string, string[]>;

type Answer = { address: string; family: number };
type Callback = (error: Error | null, address: string | Answer[], family?: number) => void;

const answersFor = (hostname: string): Answer[] | undefined =>
  hostname.endsWith('.test')
    ? (addresses[hostname] ?? ['127.0.0.1']).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    : undefined;

const { lookup } = dns;

// A cast: the overloads of `lookup` cannot be written as one implementation.
dns.lookup = Object.assign(
  (hostname: string, ...rest: unknown[]): void => {
    const answers = answersFor(hostname);
    const options = rest[0];
    if (answers === undefined) return void Reflect.apply(lookup, dns, [hostname, ...rest]);
    const callback = rest.at(-1) as Callback;
    const wantsAll = typeof options === 'object' && options !== null && 'all' in options && options.all === true;
    const [first] = answers;
    process.nextTick(() =>
      wantsAll ? callback(null, answers) : callback(null, first?.address ?? '', first?.family ?? 4),
    );
  },
  { __promisify__: lookup.__promisify__ },
) as typeof lookup;
