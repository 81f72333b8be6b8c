import { createRedactor, type VehicleError } from '../../src/index';

/**
 * The redactor that all nodes share: a secret that one of them knows is removed
 * from the texts of all.
 */
export const redactor = createRedactor();

/** A failed read as a browser gets it. */
export const shownFailure = ([read, error]: readonly [read: string, error: VehicleError]) => {
  const { code, sentence } = redactor.error(error);
  return { read, code, message: sentence };
};

/**
 * A copy of a record, which a flow may change. The service's own words about a command can repeat a
 * token or the VIN.
 */
export const safeRecord = <Logged extends { message: string; reason?: string; text?: string; async: object | null }>(
  record: Logged,
): Logged => ({
  ...record,
  async: record.async && { ...record.async },
  message: redactor.text(record.message),
  ...(record.reason !== undefined && { reason: redactor.text(record.reason) }),
  ...(record.text !== undefined && { text: redactor.text(record.text) }),
});

/** Anything that was thrown, as an error that may be shown. */
export const safeError = (error: unknown): VehicleError => redactor.error(error);
