import { chargingMembers } from './reads';

const statuses: readonly unknown[] = chargingMembers.chargingStatus.values;

/** By the word of `chargingStatus`; null for a word that is not known. */
export const isChargingWord = (word: unknown): boolean | null => (statuses.includes(word) ? word === 'CHARGING' : null);

/** By the word of `chargerConnectionStatus`; null for any other word. */
export const isPluggedInWord = (word: unknown): boolean | null =>
  word === 'CONNECTED' ? true : word === 'DISCONNECTED' ? false : null;
