import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isReadName, readThemes, systemClock, type Clock } from '../../src/index';

/** Stands for `{vin}` in the answers. */
export const vin = 'YV1CT9551B1570982';
/** In milliseconds since 1970. */
export const now = Date.parse('2026-11-23T08:00:00Z');
/** Pauses between tries pass at once. */
export const clock: Clock = { ...systemClock, now: () => now, sleep: () => Promise.resolve() };
/** Every read of the service, as the dropdown lists them. */
export const reads = readThemes().flatMap(([, names]) => names.filter(isReadName));

/** An answer of the service as a file of `test/fixtures/answers` holds it. */
export interface Answer {
  method: string;
  /** `{vin}` replaces the VIN. */
  path: string;
  status: number;
  /** JSON, or a text that is not JSON. `{base}` in it replaces the address of the service. */
  body: unknown;
}

/** What one car or one version of the service answered. */
interface Recorded {
  name: string;
  /** Where it was published, and what of it was filled in. */
  source: string;
  answers: Answer[];
}

/** The answer to one read, command or refresh. */
interface RecordedFailure extends Pick<Answer, 'status' | 'body'> {
  source: string;
  read: string;
}

const folder = resolve(__dirname, '../../../test/fixtures');
// The casts: the files are written by hand in these shapes.
const readJson = (name: string): object => JSON.parse(readFileSync(join(folder, name), 'utf8')) as object;

export const recorded = readdirSync(join(folder, 'answers')).map(
  (file) => ({ name: file.replace('.json', ''), ...readJson(`answers/${file}`) }) as Recorded,
);
/** The answers of the vendor's own demo car, verbatim. */
export const vendorDemoCar = readJson('vendor-demo-car/2026-09.json') as Omit<Recorded, 'name'>;
export const recordedFailures = readJson('failures.json') as RecordedFailure[];
