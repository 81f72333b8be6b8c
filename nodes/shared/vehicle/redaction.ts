import type { Redactor, VehicleError } from '../../../src/index';
import type { VehicleCredentials } from '../input/options';
import { runtime } from '../load';

let shared: Redactor | undefined;

/** The one redactor of all nodes: whatever any of them knows is taken out of whatever any of them says. */
export const redactor = (): Redactor => (shared ??= runtime().createRedactor());

/** From here on no text of the pack holds them. The client id is no secret: it stands in the address of every sign-in. */
export const learnCredentials = ({ apiKey, clientSecret, accessToken, refreshToken }: VehicleCredentials): void =>
  redactor().learn(apiKey, clientSecret, accessToken, refreshToken);

/** What the service says of a command in its own words may repeat a token or the VIN. A copy, which a flow may change. */
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

/** The same of a journal. */
export const safeJournal = <Told extends { payload: { reason: string | null }[] }>(reading: Told): Told => ({
  ...reading,
  payload: reading.payload.map(safeEntry),
});

/** Whatever was thrown, as an error that may be shown. */
export const safeError = (error: unknown): VehicleError => redactor().error(runtime().asVehicleError(error));
