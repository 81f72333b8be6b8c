import { chargingMembers } from './reads';

const statuses: readonly unknown[] = chargingMembers.chargingStatus.values;

/** The word of `chargingStatus` decides; null: it is not known. */
export const isChargingWord = (word: unknown): boolean | null => (statuses.includes(word) ? word === 'CHARGING' : null);

/** The word of `chargerConnectionStatus` decides; null: it is another one. */
export const isPluggedInWord = (word: unknown): boolean | null =>
  word === 'CONNECTED' ? true : word === 'DISCONNECTED' ? false : null;
