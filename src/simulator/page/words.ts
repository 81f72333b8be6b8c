import de from '../../words/de.json';
import en from '../../words/en-US.json';
import fr from '../../words/fr.json';
import { memberOf } from '../../util/json';
import type { Say } from '../../drawing/elements';

/** The texts of the page in a language, also if a region is named, `de-AT`; else in English. */
export function wordsOf(named: string): { language: string; say: Say } {
  const [language, words] = Object.entries({ de, fr }).find(([one]) => named.toLowerCase().startsWith(one)) ?? [
    'en',
    en,
  ];
  return {
    language,
    say(key) {
      const text = key.split('.').reduce<unknown>(memberOf, words);
      if (typeof text !== 'string') return key;
      return key.startsWith('part.') ? text.charAt(0).toUpperCase() + text.slice(1) : text;
    },
  };
}
