import de from '../../locales/de/dialog.json';
import en from '../../locales/en-US/dialog.json';
import type { Say } from './words';

const languages: Record<string, Record<string, string>> = { de };

/** The words of the dialog, in English where a language lacks them. */
export const sayIn =
  (language: string): Say =>
  (key, values = {}) => {
    const text = languages[language]?.[key] ?? (en as Record<string, string>)[key] ?? String(values['defaultValue'] ?? key);
    return text.replace(/__(\w+)__/g, (_, name: string) => String(values[name] ?? ''));
  };
