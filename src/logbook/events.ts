import { iso } from '../util/clock';
import { logRecordOf, type LogRecord } from './record';
import { minuteMs } from '../util/durations';

/** Events whose message has a record. */
const kinds: Readonly<Record<string, 'trips' | 'charges'>> = {
  'trip-ended': 'trips',
  'charging-stopped': 'charges',
  'charging-done': 'charges',
};

export const hasRecord = (event: string): boolean => Object.hasOwn(kinds, event);

/**
 * The record of an event; null if the logbook has none: the readings of other nodes can show it
 * later than the event.
 */
export function recordOfEvent(
  { event, between: { since } }: { event: string; between: { since: string | null } },
  log: Readonly<Record<'trips' | 'charges', readonly LogRecord[]>>,
): LogRecord | null {
  const kind = kinds[event];
  const [newest] = kind === undefined ? [] : log[kind];
  // At the same time, too: the service gives some times in whole seconds.
  return newest !== undefined && newest.to.at >= (since ?? iso(0)) ? newest : null;
}

export function sampleRecord(event: string, at: number): LogRecord {
  const isTrip = kinds[event] === 'trips';
  return logRecordOf(
    {
      from: at - 30 * minuteMs,
      to: at,
      seen: [at - 28 * minuteMs, at - minuteMs],
      positions: [null, null],
      odometer: 12_012,
      km: isTrip ? { value: 12, source: 'odometer' } : 'NOT_A_TRIP',
      kWh: { value: 2.4, source: 'level-gross' },
      liters: isTrip ? { value: 0, source: 'level' } : 'NOT_A_TRIP',
      batteryFrom: isTrip ? 53 : 50,
      batteryTo: isTrip ? 50 : 53,
      cost: { perKWh: 0.3, currency: 'EUR', source: isTrip ? 'last-charge' : 'tariff' },
    },
    { tariff: null },
  );
}
