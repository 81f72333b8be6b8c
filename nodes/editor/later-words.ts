import { sharedText } from './texts';

/**
 * Adds the texts that only an open form or the tab "Cars" needs to those that Node-RED has loaded,
 * in the language of the editor; the build divides the catalogues. A language that the forms do not
 * have gets the English ones, as in what Node-RED loads.
 */
export async function loadWords(): Promise<void> {
  if (sharedText('dialog.asking', { defaultValue: '' }) !== '') return;
  const [language = ''] = i18next.languages;
  const own = ['de', 'fr'].find((known) => language.startsWith(known));
  const address = `resources/@connected-vehicle/node-red/connected-vehicle-words-${own ?? 'en-US'}.json`;
  const found = (await $.getJSON(address)) as Record<string, object>; // As the build wrote it.
  for (const [type, texts] of Object.entries(found))
    i18next.addResourceBundle(own ? language : 'en-US', `@connected-vehicle/node-red/${type}`, texts, true);
}
