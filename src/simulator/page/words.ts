import de from '../../words/de.json';
import en from '../../words/en-US.json';
import fr from '../../words/fr.json';

/** The texts of the page in one language: its own, and the shared words under the names that the page has for them. */
function wordsFrom({ page, part, state, outcome, fault, demo, word, command }: typeof en) {
  return {
    ...page,
    ...demo,
    clickSets: demo.clicks,
    parts: capitalized(part),
    states: state,
    outcome,
    // Asked with any name that the service gives.
    command: command as Record<string, string>,
    fault,
    charging: word as Record<string, string>, // The same.
    switch: demo,
  };
}

function capitalized<Words extends Record<string, string>>(words: Words): Words {
  const entries = Object.entries(words).map(([key, text]) => [key, text.charAt(0).toUpperCase() + text.slice(1)]);
  // The keys stay.
  return Object.fromEntries(entries) as Words;
}

/** The words of a language, also where a region is named, `de-AT`; else English. */
export function wordsOf(language: string) {
  const [known, words] = Object.entries({ de, fr }).find(([one]) => language.toLowerCase().startsWith(one)) ?? [
    'en',
    en,
  ];
  return { ...wordsFrom(words), language: known };
}
