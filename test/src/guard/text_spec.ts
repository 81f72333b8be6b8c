import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { guardText } from '../../../src/guard/text';
import type { GuardEvent, NamedOpening, OpenOpening } from '../../../src/guard/types';
import { guardWordKeys } from '../../support/guard-words';

/** The sentence of an event with the texts of a table, in which a missing text is its key. */
const sentenceOf = (event: GuardEvent, { language = '', ...texts }: Readonly<Record<string, string>>): string =>
  guardText(event, { language, text: (key) => texts[key] ?? key });

const catalogue = JSON.parse(
  readFileSync(resolve(__dirname, '../../../../dist/nodes/locales/en-US/runtime.json'), 'utf8'),
) as { part: Record<string, string>; guard: Record<string, string> }; // A cast: a file of this repository.
const english = { language: 'en-US', ...catalogue.part, ...catalogue.guard };

const open = (kind: OpenOpening['kind'], name: string, minutes: number, confirmed = true): OpenOpening => ({
  kind,
  name,
  since: '',
  minutes,
  confirmed,
});
const window = (name: string, minutes = 12, confirmed = true) => open('window', name, minutes, confirmed);
const hood = (minutes: number) => open('hood', 'hood', minutes);
const lock = (minutes: number) => open('lock', 'carLocked', minutes);

const alert = (openings: OpenOpening[], unknown: NamedOpening[] = []): GuardEvent => ({
  type: 'alert',
  at: '',
  reason: 'open-too-long',
  openings,
  unknown,
});
const closed = { type: 'clear', at: '', reason: 'closed' } as const;
const clear = (...openings: NamedOpening[]): GuardEvent => ({ ...closed, openings, everything: false });
const allClear = (...openings: NamedOpening[]): GuardEvent => ({ ...closed, openings, everything: true });
const cannotTell = (...openings: NamedOpening[]): GuardEvent => ({
  type: 'cannot-tell',
  at: '',
  reason: 'asked',
  openings,
});
const four = (kind: 'window' | 'door'): NamedOpening[] =>
  ['frontLeft', 'frontRight', 'rearLeft', 'rearRight'].map((name) => ({ kind, name }));
const tailGate: NamedOpening = { kind: 'tailGate', name: 'tailGate' };
const locked: NamedOpening = { kind: 'lock', name: 'carLocked' };

describe('guardText', () => {
  const sentences: [event: GuardEvent, text: string][] = [
    [alert([window('frontLeft')]), 'Front-left window open for 12 minutes'],
    [alert([window('frontLeft', 1)]), 'Front-left window open for 1 minute'],
    [alert([window('frontLeft', 0)]), 'Front-left window open for less than a minute'],
    [alert([window('frontLeft', 119)]), 'Front-left window open for 119 minutes'],
    [alert([window('frontLeft', 120)]), 'Front-left window open for 2 hours'],
    [alert([window('frontLeft', 47 * 60 + 59)]), 'Front-left window open for 47 hours'],
    [alert([window('frontLeft', 48 * 60)]), 'Front-left window open for 2 days'],
    [alert([window('frontLeft', 1234 * 1440)]), 'Front-left window open for 1,234 days'],
    [alert([window('frontLeft'), window('rearRight')]), 'Front-left window and rear-right window open for 12 minutes'],
    [
      alert([window('frontLeft'), window('rearRight'), hood(12)]),
      'Front-left window, rear-right window, and hood open for 12 minutes',
    ],
    [
      alert([window('frontLeft'), hood(3), window('rearRight')]),
      'Front-left window and rear-right window open for 12 minutes and hood open for 3 minutes',
    ],
    [alert([{ ...window('frontLeft'), kind: 'door' }]), 'Front-left door open for 12 minutes'],
    [alert([lock(40)]), 'Car unlocked for 40 minutes'],
    [alert([window('frontLeft'), lock(12)]), 'Front-left window open for 12 minutes and car unlocked for 12 minutes'],
    [alert([window('frontLeft', 12, false)]), 'Front-left window open for 12 minutes (cannot be confirmed now)'],
    [
      alert([window('frontLeft', 12, false), hood(12)]),
      'Front-left window open for 12 minutes (cannot be confirmed now) and hood open for 12 minutes',
    ],
    [
      alert([window('frontLeft')], [tailGate]),
      'Front-left window open for 12 minutes; cannot tell whether the tailgate is closed',
    ],
    [allClear(window('frontLeft'), tailGate), 'All closed'],
    [allClear(tailGate, locked), 'All closed and locked'],
    [clear(...four('door')), 'Doors closed'],
    [clear(...four('window'), ...four('door'), tailGate), 'Windows, doors, and tailgate closed'],
    [clear({ kind: 'door', name: 'frontLeft' }, tailGate), 'Front-left door and tailgate closed'],
    [clear(tailGate, locked), 'Tailgate closed, car locked'],
    [clear(locked), 'Car locked'],
    [cannotTell(tailGate), 'Cannot tell whether the tailgate is closed'],
    [
      cannotTell(window('rearLeft'), tailGate, locked),
      'Cannot tell whether the rear-left window and tailgate are closed, nor whether the car is locked',
    ],
    [cannotTell(locked), 'Cannot tell whether the car is locked'],
  ];
  it('names what is open, closed or unknown, since when, in the words of its language', () => {
    for (const [event, text] of sentences) assert.equal(sentenceOf(event, english), text);
  });

  it('keeps apart what is open for different times in a language that names the openings last', () => {
    const french = { ...english, language: 'fr', open_one: 'ouvert depuis {time} : {openings}' };
    assert.equal(
      sentenceOf(alert([window('frontLeft', 12), hood(5)]), french),
      'Ouvert depuis 12 minutes : front-left window; ouvert depuis 5 minutes : hood',
    );
    assert.equal(
      sentenceOf(alert([window('frontLeft', 12), lock(12)]), french),
      'Ouvert depuis 12 minutes : front-left window; car unlocked for 12 minutes',
    );
  });

  it("follows the plurals, the list and the numbers of the words' own language", () => {
    assert.deepEqual(
      guardWordKeys('pl').filter((key) => key.startsWith('minutes_')),
      ['minutes_few', 'minutes_many', 'minutes_one', 'minutes_other'],
    );
    const polish = {
      ...english,
      language: 'pl',
      frontLeftWindow: 'lewe przednie okno',
      hood: 'maska',
      open_one: '{openings}: otwarte od {time}',
      open_few: '{openings}: otwarte od {time}',
      minutes_one: '{count} minuty',
      minutes_few: '{count} minut (few)',
      minutes_many: '{count} minut (many)',
    };
    assert.equal(
      sentenceOf(alert([window('frontLeft', 22), hood(22)]), polish),
      'Lewe przednie okno i maska: otwarte od 22 minut (few)',
    );
    assert.equal(
      sentenceOf(alert([window('frontLeft', 12)]), polish),
      'Lewe przednie okno: otwarte od 12 minut (many)',
    );
  });

  it('shows the key of a word that is missing, and no words at all do not break it', () => {
    const { frontLeftWindow: _missing, ...withoutWindow } = english as Record<string, string>;
    assert.equal(sentenceOf(alert([window('frontLeft')]), withoutWindow), 'FrontLeftWindow open for 12 minutes');
    assert.equal(sentenceOf(alert([window('frontLeft')]), {}), 'Open_one');
    assert.equal(
      sentenceOf(alert([window('frontLeft')]), { ...english, language: 'not a language' }),
      'Front-left window open for 12 minutes',
    );
  });
});
