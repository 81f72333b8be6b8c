import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openingKeys } from '../../src/index';
import { openingNames } from '../../src/drawing/car-view-state';
import { carSliders, carSwitchNames, clickModes } from '../../src/simulator/page/demo-controls';
import { demoFaultNames } from '../../src/simulator/control/demo-faults';
import { wordsOf } from '../../src/simulator/page/words';
import { languages, words } from '../support/editor-halves';

const root = resolve(__dirname, '../../..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const shared = ['drawing/live-drawing', 'simulator/page/demo-controls'].map((file) => textOf(`src/${file}.ts`));
const sources = [
  textOf('nodes/cars/form.ts'),
  ...readdirSync(join(root, 'nodes/cars/panel')).map((file) => textOf(`nodes/cars/panel/${file}`)),
  ...shared,
];
const askedIn = (source: string): string[] =>
  [...source.matchAll(/\bsay\('([\w.]+)'|data-word="([\w.]+)"/g)].map(([, key, marked]) => key ?? marked ?? '');

const catalogue = (language: string): Map<string, string> => words(language, 'connected-vehicle-cars');

describe('The words of the tab "Cars"', () => {
  for (const language of languages) {
    it(`are the same keys with the same places in ${language} as in English`, () => {
      const [own, english] = [catalogue(language), catalogue('en-US')];
      assert.deepEqual([...own.keys()].sort(), [...english.keys()].sort());
      const places = (text = ''): string[] => (text.match(/__\w+__/g) ?? []).sort();
      for (const [key, text] of own) {
        assert.notEqual(text.trim(), '', key);
        assert.deepEqual(places(text), places(english.get(key)), key);
      }
    });
  }

  it('are in the catalogue for everything that the tab asks for', () => {
    const known = catalogue('en-US');
    const asked = sources.flatMap(askedIn);
    assert.ok(asked.length > 20);
    for (const key of asked) assert.ok(known.has(key), key);
  });

  it('are in the catalogue for every fact, every word and every outcome', () => {
    const known = catalogue('en-US');
    for (const name of openingKeys) assert.ok(known.has(`name.${name}`), name);
    for (const name of [...openingNames, 'lock', 'plug']) assert.ok(known.has(`part.${name}`), name);
    for (const name of [...carSwitchNames, ...Object.keys(carSliders), ...clickModes])
      assert.ok(known.has(`demo.${name}`) || known.has(`part.${name}`), name);
    for (const name of demoFaultNames) assert.ok(known.has(`fault.${name}`), name);
    for (const word of ['AVAILABLE', 'POWER_SAVING_MODE', 'CHARGING', 'DONE', 'FAULT', 'DISCONNECTED'])
      assert.ok(known.has(`word.${word}`), word);
    for (const outcome of ['pending', 'succeeded', 'failed', 'undetermined'])
      assert.ok(known.has(`outcome.${outcome}`));
  });

  it('are there for each source of a number of the logbook, and for each reason why there is none', () => {
    const known = catalogue('en-US');
    const files = ['record', 'reducer', 'charges', 'tariff', 'wallbox']
      .map((file) => textOf(`src/logbook/${file}.ts`))
      .join('\n');
    const reasons = new Set([...files.matchAll(/'([A-Z]{2,}(?:_[A-Z]+)*)'/g)].map(([, word]) => word));
    const sources = new Set(
      [...files.matchAll(/\bsource: (?:\w[^']*\? )?'([a-z-]+)'(?: : '([a-z-]+)')?/g)].flatMap(([, ...found]) => found),
    );
    for (const word of ['CONFIG', 'NO_PLACE', 'NOT_A_TRIP']) reasons.delete(word);
    assert.ok(reasons.has('NOT_READ') && sources.has('level-gross') && sources.has('level-net'));
    sources.add('wallbox');
    for (const reason of reasons) assert.ok(known.has(`log.reason.${reason}`), reason);
    for (const source of sources) if (source !== undefined) assert.ok(known.has(`log.source.${source}`), source);
  });

  it('are there for everything that the page of the demo cars asks for, in each of its languages', () => {
    const page = ['page.ts', 'index.html'].map((file) => textOf(`src/simulator/page/${file}`));
    const asked = [...page, ...shared].flatMap(askedIn);
    assert.ok(asked.length > 20);
    for (const language of ['en', 'de', 'fr'])
      for (const key of asked) assert.notEqual(wordsOf(language).say(key), key, language);
  });

  it('name each outcome of a command as the statuses of the nodes do', () => {
    for (const language of languages)
      for (const outcome of ['pending', 'succeeded', 'failed', 'undetermined'])
        assert.equal(
          words(language, 'runtime').get(`status.outcome.${outcome}`),
          `__command__${language === 'fr' ? ' : ' : ': '}${wordsOf(language).say(`outcome.${outcome}`)}`,
        );
  });
});
