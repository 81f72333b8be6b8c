import type { SeenValue } from '../car/facts';
import type { Reading } from '../car/reading';
import { chargingMemberNames, type ReadName } from '../catalogue/reads';
import { isRecord, memberOf } from '../util/json';
import { conditionValue, conditionValues, knownIn, unitOfValue, type ConditionValue } from './values';

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
export function seenIn(read: ReadName, reading: Reading): SeenValue[] {
  const { payload, vehicle } = reading;
  const seen: SeenValue[] = [];
  for (const value of valuesOf(read)) {
    const { is, measuredAt } = knownIn(
      value,
      read === 'charging' ? { payload: memberOf(payload, value.name), vehicle } : reading,
      unitOfValue(value),
    );
    // All are closed since the last of them was.
    const at = value.member === 'allClosed' ? newestIn(payload) : measuredAt;
    if (is !== null) seen.push([value.name, is, at]);
  }
  return seen;
}

/** Null if a member has no time. */
function newestIn(payload: unknown): string | null {
  let newest: string | null = null;
  for (const member of Object.values(isRecord(payload) ? payload : {})) {
    const time = memberOf(member, 'timestamp');
    if (typeof time !== 'string') return null;
    if (newest === null || time > newest) newest = time;
  }
  return newest;
}
