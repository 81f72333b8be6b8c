import type { NodeAPI } from 'node-red';
import type { AnyReading } from '../../src/index';
import { languageOf, translate } from '../node-red/i18n';
import type { NodeStatus } from '../node-red/node-status';
import { describeReading } from './reading-text';

/** Shows what was read, in a few words with the time of day. */
export function showReading(nodeStatus: NodeStatus, RED: NodeAPI, reading: AnyReading): void {
  const words = { language: languageOf(RED), say: (key: string, values = {}) => translate(RED, key, values) };
  const described = describeReading(reading, words);
  if (described === null) nodeStatus.showWithTime('unclear', 'unknown');
  else nodeStatus.showWithTime(described.style, 'value', { value: described.text });
}

/** `value kept, 7 min old`: shown after the failure of a poll. */
export function keptNote(RED: NodeAPI, { vehicle: { ageSeconds = 0 } }: AnyReading): string {
  const minutes = Math.floor(ageSeconds / 60);
  const age = minutes < 1 ? `${ageSeconds} s` : minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
  return translate(RED, 'status.kept', { age });
}
