import type { Redactor, VehicleError } from '../../../src/index';
import type { VehicleCredentials } from '../input/options';
import { runtime } from '../load';

let shared: Redactor | undefined;

/** The redactor that all nodes share: a secret that one of them knows is removed from the texts of all. */
export const redactor = (): Redactor => (shared ??= runtime().createRedactor());

/** Removes these credentials from every text from now on. The client id is no secret, because every sign-in address contains it. */
export const learnCredentials = ({ apiKey, clientSecret, accessToken, refreshToken }: VehicleCredentials): void =>
  redactor().learn(apiKey, clientSecret, accessToken, refreshToken);

/** A copy of a record, which a flow may change. The service's own words about a command can repeat a token or the VIN. */
export const safeRecord = <Told extends { message: string; reason?: string; async: object | null }>(
  record: Told,
): Told => ({
  ...record,
  async: record.async && { ...record.async },
  message: redactor().text(record.message),
  ...(record.reason !== undefined && { reason: redactor().text(record.reason) }),
});

const safeEntry = <Told extends { reason: string | null }>(entry: Told): Told => ({
  ...entry,
  reason: entry.reason === null ? null : redactor().text(entry.reason),
});

/** The same for a journal. */
export const safeJournal = <Told extends { payload: { reason: string | null }[] }>(reading: Told): Told => ({
  ...reading,
  payload: reading.payload.map(safeEntry),
});

/** Anything that was thrown, as an error that may be shown. */
export const safeError = (error: unknown): VehicleError => redactor().error(runtime().asVehicleError(error));
