import type { SeenValue } from '../car/facts';
import type { Reading } from '../car/reading';
import { chargingMemberNames, type ReadName } from '../catalogue/reads';
import { isRecord, memberOf } from '../util/json';
import { conditionValue, conditionValues, factOf, type ConditionValue } from './values';

const byRead = new Map<ReadName, readonly ConditionValue[]>();

/** The values of conditions that a read answers, each found once. */
function valuesOf(read: ReadName): readonly ConditionValue[] {
  const known = byRead.get(read);
  if (known !== undefined) return known;
  // Only these have members.
  const hasMembers = read === 'windows' || read === 'doors';
  const named = hasMembers ? conditionValues() : [];
  const names = named.flatMap(([, all]) => all.filter((name) => name.startsWith(`${read}.`)));
  const all = read === 'charging' ? chargingMemberNames : names.length > 0 ? names : [read];
  const values = all.map(conditionValue).filter((value) => value !== undefined);
  byRead.set(read, values);
  return values;
}

/** The values of a reading that conditions can name, as far as they are known. */
export const seenIn = (read: ReadName, { payload, vehicle }: Reading): SeenValue[] =>
  valuesOf(read).flatMap((value): SeenValue[] => {
    const member = read === 'charging' ? memberOf(payload, value.name) : payload;
    const { is, measuredAt } = factOf(value, { payload: member, vehicle });
    // All are closed since the last of them was.
    const at = value.member === 'allClosed' ? newestIn(payload) : measuredAt;
    return is === null ? [] : [[value.name, is, at]];
  });

function newestIn(payload: unknown): string | null {
  const members = Object.values(isRecord(payload) ? payload : {});
  const times = members.map((member) => memberOf(member, 'timestamp')).filter((time) => typeof time === 'string');
  return times.length === members.length ? (times.sort().at(-1) ?? null) : null;
}
