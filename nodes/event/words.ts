import type { NodeAPI } from 'node-red';
import { titleOf } from '../../src/index';
import { languageOf, translate } from '../node-red/i18n';

/** The words for the sentences of events, in the language of the runtime. */
export function eventWordsOf(RED: NodeAPI) {
  return {
    language: languageOf(RED),
    sentence: (key: string) => translate(RED, `event.${key}`),
    name(event: string, member: string): string {
      if (event.startsWith('warning-'))
        return translate(RED, `event.name.${member}`, { defaultValue: titleOf(member) });
      const group = event.startsWith('door-') ? 'doors.' : member === 'sunroof' ? '' : 'windows.';
      return translate(RED, `members.${group}${member}`, { defaultValue: member });
    },
  };
}
