import type { NodeAPI } from 'node-red';
import type { EventWords } from '../../../src/index';
import { languageOf, word } from '../node-red/i18n';
import { runtime } from '../load';

/** The words for the sentences of events, in the language of the runtime. */
export function eventWordsOf(RED: NodeAPI): EventWords {
  return {
    language: languageOf(RED),
    sentence: (key) => word(RED, `event.${key}`),
    name(event, member) {
      if (event.startsWith('warning-'))
        return word(RED, `event.name.${member}`, { defaultValue: runtime().titleOf(member) });
      const group = event.startsWith('door-') ? 'doors.' : member === 'sunroof' ? '' : 'windows.';
      return word(RED, `members.${group}${member}`, { defaultValue: member });
    },
  };
}
