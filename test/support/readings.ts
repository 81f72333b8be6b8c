import type { Reading } from '../../src/index';

/** The time at which conditions are judged, in milliseconds since 1970. */
export const now = Date.parse('2026-06-01T12:00:00Z');

/** ISO-8601. */
export const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

/** A reading as the client gives it (docs/internals/contract.md 3). */
export const readingOf = (read: string, payload: object, more: object = {}): Reading =>
  ({
    payload,
    vehicle: { vin: null, read, interface: null, receivedAt: minutesAgo(0), measuredAt: null, source: 'live', ...more },
  }) as Reading;

/** The reading of a single value. @param age in minutes */
export const single = (read: string, value: unknown, unit: string | null = null, age = 5): Reading =>
  readingOf(read, { value, unit, timestamp: minutesAgo(age) });
