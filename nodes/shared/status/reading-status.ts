import type { NodeAPI } from 'node-red';
import type { AnyReading, Openness } from '../../../src/index';
import type { Badge } from './node-status';
import { isRecord } from '../input/input-handler';
import { word } from '../node-red/i18n';

/** Shows what was read, in a few words with the time of day. */
export function showReading(badge: Badge, RED: NodeAPI, { payload, vehicle }: AnyReading): void {
  if ('reads' in vehicle) {
    const ok = Object.keys(vehicle.reads).length;
    return badge.stamp(vehicle.errors.length === 0 ? 'good' : 'attention', 'several', {
      ok,
      all: ok + vehicle.errors.length,
    });
  }
  if (vehicle.open !== undefined) return showOpenness(badge, RED, vehicle);
  const text = valueText(payload);
  if (text === null) return badge.stamp('unclear', 'unknown');
  badge.stamp('good', 'value', { value: text });
}

/** `value kept, 7 min old`: what stands behind the failure of a poll. */
export function keptNote(RED: NodeAPI, { vehicle: { ageSeconds = 0 } }: AnyReading): string {
  const minutes = Math.floor(ageSeconds / 60);
  const age = minutes < 1 ? `${ageSeconds} s` : minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
  return word(RED, 'status.kept', { age });
}

function showOpenness(badge: Badge, RED: NodeAPI, { open = [], allClosed, locked }: Partial<Openness>): void {
  if (open.length > 0) {
    const names = open
      .slice(0, 8)
      .map((name) => word(RED, `members.${name}`, { defaultValue: name }))
      .join(', ');
    return badge.stamp('attention', 'open', { names });
  }
  if (allClosed === null || locked === null) return badge.stamp('unclear', 'unknown');
  if (locked === undefined) return badge.stamp('good', 'closed');
  badge.stamp(locked ? 'good' : 'attention', locked ? 'locked' : 'unlocked');
}

/** A resource's value with its unit, a list's length, a record's most telling word; null where nothing is known. */
function valueText(payload: unknown): string | null {
  if (Array.isArray(payload)) return String(payload.length);
  if (!isRecord(payload)) return null;
  const { value, unit, unavailableReason, descriptions } = payload;
  if (isRecord(descriptions)) return typeof descriptions['model'] === 'string' ? descriptions['model'] : null;
  if (value === null || value === undefined) return null;
  return [value, unit, unavailableReason]
    .filter((part) => part !== null && part !== undefined)
    .join(' ')
    .slice(0, 60);
}
