import { openingKeys } from '../../src/catalogue/openings';

/** One text each. */
const plainKeys = [
  ...openingKeys,
  /** `car unlocked for {time}` */
  'unlocked',
  /** `less than a minute`, as `{time}` */
  'moment',
  /** `{text} (cannot be confirmed now)` */
  'unconfirmed',
  'allClosed',
  'allClosedAndLocked',
  /** All of these are closed, but the car has more openings: `{openings} closed` */
  'closed',
  'closedAndLocked',
  /** All of them together. */
  'windows',
  'doors',
  /** Only the lock was asked about: `car locked`. */
  'locked',
  /** `cannot tell whether the car is locked` */
  'cannotTellLock',
  /** `{text}, nor whether the car is locked` */
  'cannotTellAndLock',
] as const;

/** One text for each plural of the language: the key, `_`, and the category of CLDR, as in i18next. */
const pluralKeys = [
  /** `{openings} open for {time}`, by the number of openings */
  'open',
  /** `cannot tell whether {openings} … closed`, by the number of openings */
  'cannotTell',
  /** `{count} minutes`, as `{time}` */
  'minutes',
  'hours',
  'days',
] as const;

/** Every key of the guard's sentences that a table of words in this language needs. */
export const guardWordKeys = (language: string): string[] => [
  ...plainKeys,
  ...pluralKeys.flatMap((key) =>
    new Intl.PluralRules(language).resolvedOptions().pluralCategories.map((category) => `${key}_${category}`),
  ),
];
