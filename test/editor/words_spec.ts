import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandNames, eventNames, openingKinds, openings } from '../../src/index';
import { guardWordKeys } from '../support/guard-words';
import { interfaceNames, resources, themes, readNames } from '../../src/catalogue/reads';
import { scopesOfRead } from '../../src/catalogue/scopes';
import { errorCodes } from '../../src/errors';
import { outcomes } from '../../src/catalogue/outcomes';
import {
  allSources,
  definition,
  has,
  help,
  languages,
  root,
  sharedSources,
  source,
  sourceAtStart,
  template,
  types,
  words,
  wordsAtStart,
} from '../support/editor-halves';

/** Titles that a language may leave out: the words of the name are then used. */
const isTitle = (key: string): boolean => key.startsWith('read.');

/**
 * Each line of a help that describes a property: the line, the name of the property
 * and its description.
 */
const propertiesOf = (language: string, type: string): [line: string, name: string, text: string][] =>
  [
    ...readFileSync(join(root, 'nodes/locales', language, `${type}.html`), 'utf8').matchAll(
      /^: [^*\n]+ \((\w+)\) : (.+)$/gm,
    ),
  ]
    .map(([line, name = '', text = '']): [string, string, string] => [line, name, text])
    .filter(([, name]) => !['object', 'string'].includes(name));

/** The keys of texts that a source asks for by name. */
const asked = (source: string, asks: RegExp): string[] => [...source.matchAll(asks)].map(([, key]) => key ?? '');

describe('The words of the editor', () => {
  for (const language of languages) {
    describe(language, () => {
      const shared = words(language, 'connected-vehicle');

      for (const type of types) {
        const texts = words(language, type);

        it(`${type} has the same keys as in English`, () => {
          const keys = (of: Map<string, string>): string[] => [...of.keys()].filter((key) => !isTitle(key)).sort();
          assert.deepEqual(keys(texts), keys(words('en-US', type)));
          assert.deepEqual(
            [...texts].filter(([, text]) => text.trim() === ''),
            [],
          );
        });

        it(`${type} fills the same places as in English`, () => {
          const places = (text = ''): string[] => (text.match(/__\w+__/g) ?? []).sort();
          for (const [key, text] of texts)
            if (!isTitle(key)) assert.deepEqual(places(text), places(words('en-US', type).get(key)), key);
        });

        it(`${type} has a text for everything its form asks for`, () => {
          for (const [, names = ''] of template(type).matchAll(/data-i18n="([^"]*)"/g)) {
            for (const key of names.split(';').map((name) => name.replace(/^\[[^\]]*\]/, ''))) {
              const sharedKey = key.split('@connected-vehicle/node-red/connected-vehicle:')[1];
              assert.ok(
                key.startsWith('node-red:') || (sharedKey === undefined ? has(texts, key) : has(shared, sharedKey)),
                key,
              );
            }
          }
          for (const key of asked(source(type), /\bsay\('([\w.]+)'/g)) assert.ok(has(texts, key), key);
          for (const key of asked(source(type), /\bsharedText\('([\w.]+)'/g)) assert.ok(has(shared, key), key);
        });

        it(`${type} has a text in what every editor loads for everything that its label and its validators ask for`, () => {
          const [own, all] = [type, 'connected-vehicle'].map((name) => wordsAtStart(language, name));
          const code = sourceAtStart(type);
          const isVehicle = type === 'connected-vehicle';
          for (const key of asked(code, /\bsay\(\s*'([\w.]+)'/g)) assert.ok(has((isVehicle ? all : own)!, key), key);
          for (const key of asked(code, /\bsharedText\(\s*'([\w.]+)'/g)) assert.ok(has(all!, key), key);
        });

        it(`${type} has a help that names every property and what to do about an error`, () => {
          const text = help(language, type);
          const { category, defaults, credentials = {} } = definition(type);
          // The type of a typed input is described with its property.
          const names = Object.keys(defaults).filter(
            (name) => !(name.replace(/Type$/, '') in defaults && name.endsWith('Type')),
          );
          const described = new Set(propertiesOf(language, type).map(([, name]) => name));
          for (const name of [...names, ...Object.keys(credentials)]) assert.ok(described.has(name), name);
          assert.ok(text.includes(`data-help-name="${type}"`));
          if (category !== 'config')
            for (const name of ['error.code', 'msg.vehicle.error']) assert.ok(text.includes(`\`${name}\``), name);
        });

        it(`${type} has a help that takes label and hint of each field from the form, by their keys`, () => {
          const described = new Map(propertiesOf(language, type).map(([line, name]) => [name, line]));
          for (const [row, name = ''] of template(type).matchAll(
            /<label for="node-[a-z-]*input-(\w+)"><i.*?(?=<i |$)/gs,
          )) {
            const keys = [
              ...row.matchAll(
                /(?:<\/i> <span|"hint"|<label for="[^"]*") data-i18n="([^"]*label\.[^"]*|[^"]*hint\.[^"]*)"/g,
              ),
            ]
              .map(([, key = '']) => `{${key.replace('@connected-vehicle/node-red/connected-vehicle:', 'shared:')}}`)
              .filter((key) => key !== '{node-red:common.label.name}');
            for (const key of keys) assert.ok(described.get(name)?.includes(key), `${name} ${key}`);
          }
        });

        it(`${type} has a help that the editor can lay out: a list entry holds no colon of its own`, () => {
          const broken = help(language, type)
            .split('\n')
            .filter((line) => line.startsWith(':') && !/^: [^:(]+ \([^:)]+\) : [^:]+$/.test(line));
          assert.deepEqual(broken, []);
        });
      }

      it('describes each property once: no help repeats a text of a form or of another help', () => {
        const hints = types.flatMap((type) => [...words(language, type).values()]).filter((text) => text.length > 40);
        const texts = types
          .flatMap((type) => propertiesOf(language, type))
          .map(([, , text]) => text.replace(/\{.*?\}/g, ''));
        assert.ok(texts.length > 60);
        assert.deepEqual(
          texts.filter(
            (text, at) =>
              text.length > 40 &&
              (texts.indexOf(text) !== at || hints.some((hint) => text.toLowerCase().includes(hint.toLowerCase()))),
          ),
          [],
        );
      });

      it('has a text for everything the shared parts of the forms ask for', () => {
        const keys = sharedSources.flatMap((text) => asked(text, /\bsharedText\('([\w.]+)'/g));
        const dialogKeys = sharedSources.flatMap((text) => asked(text, /\bsay\('([\w.]+)'/g));
        assert.ok(keys.length > 0 && dialogKeys.length > 0);
        for (const key of [...keys, ...dialogKeys.map((key) => `dialog.${key}`)]) assert.ok(has(shared, key), key);
        for (const about of ['proxy', 'service', 'quota', 'key', 'token', 'vehicle', 'scopes'])
          assert.ok(has(shared, `dialog.check.good.${about}`), about);
      });

      it('has a text for every status of a node', () => {
        const keys = asked(allSources, /\b(?:nodeStatus|status)\.show\(\s*'\w+',\s*'(\w+)'/g);
        assert.ok(keys.includes('reading') && keys.includes('waiting'));
        for (const key of keys) assert.ok(has(words(language, 'runtime'), `status.${key}`), key);
      });

      it('has a status text for every error, short enough to be read at a glance', () => {
        for (const code of Object.keys(errorCodes)) {
          const text = words(language, 'runtime').get(`status.failed.${code}`);
          assert.ok(text !== undefined && text.length <= 28, `${code}: ${text}`);
        }
      });

      it('names every outcome, command, member and theme, every unit and every word of a value', () => {
        const status = words(language, 'connected-vehicle-status');
        const runtime = words(language, 'runtime');
        const need = (texts: Map<string, string>, prefix: string, names: readonly string[]): void => {
          for (const name of names) assert.ok(texts.has(`${prefix}.${name}`), `${prefix}.${name}`);
        };
        need(
          runtime,
          'status.outcome',
          Object.values(outcomes).map(({ outcome }) => outcome),
        );
        need(shared, 'command', commandNames);
        need(words(language, 'connected-vehicle-command'), 'does', commandNames);
        need(runtime, 'part', Object.keys(openings));
        need(status, 'theme', themes);
        for (const resource of Object.values(resources)) {
          if ('unit' in resource) assert.ok(has(status, `unit.${resource.unit}`), resource.unit);
          if ('words' in resource) need(status, 'word', Object.values(resource.words));
        }
        need(words(language, 'connected-vehicle-guard'), 'kind', openingKinds);
        need(words(language, 'connected-vehicle-event'), 'event', eventNames);
        need(runtime, 'event', [...eventNames, 'service-soon', 'service-overdue']);
        need(
          runtime,
          'guard',
          guardWordKeys(language).filter((key) => !Object.hasOwn(openings, key)),
        );
        need(status, 'read', readNames.slice(0, 6));
        need(status, 'gives', readNames.slice(0, 6));
      });

      it('names its language for the runtime, and has the same runtime words as English with the same places', () => {
        assert.equal(shared.get('language'), language);
        const [own, english] = [words(language, 'runtime'), words('en-US', 'runtime')];
        assert.deepEqual([...own.keys()].sort(), [...english.keys()].sort());
        const places = (text = ''): string[] => (text.match(/__\w+__|\{\w+\}/g) ?? []).sort();
        for (const [key, text] of own) assert.deepEqual(places(text), places(english.get(key)), key);
      });

      it('lists every name to read with its scopes, and says that reading does not wake the car', () => {
        const text = help(language, 'connected-vehicle-status');
        for (const name of readNames) {
          const line = text.split('\n').find((one) => one.startsWith('- `') && one.split(/[`, ]+/).includes(name));
          for (const scope of scopesOfRead(name, interfaceNames)) assert.ok(line?.includes(`\`${scope}\``), name);
        }
        assert.match(text, /does not wake the car|weckt das Auto nicht|ne réveille pas la voiture/);
      });
    });
  }

  it('are all asked for: no text is left that nothing shows', () => {
    const quoted = new Set(allSources.match(/(?<=(["'`]))[\w.-]+(?=\1)/g));
    // A key is asked for as a whole, by its last part, or by `prefix.${…}` or `${…}.last`. Node-RED
    // itself asks for the category.
    const isAsked = (key: string, mayBeBuilt: boolean): boolean => {
      const whole = key.replace(/_(one|other)$/, '');
      const last = whole.slice(whole.lastIndexOf('.') + 1);
      const prefix = whole.slice(0, -last.length);
      return (
        [whole, `dialog.${whole}`, whole.replace(/^warning\./, ''), last].some((name) => quoted.has(name)) ||
        [']', ';', ':', '"', "'"].some((before) => allSources.includes(before + whole)) ||
        (mayBeBuilt && prefix !== '' && (allSources.includes(`${prefix}\${`) || allSources.includes(`}.${last}\``)))
      );
    };
    const unused = [...types, 'connected-vehicle-cars', 'runtime'].flatMap((type) =>
      [...words('en-US', type).keys()]
        .filter((key) => !isTitle(key) && !key.startsWith('palette.label.'))
        .filter((key) => !isAsked(key, type !== 'runtime' || !/^status\.\w+$/.test(key)))
        .map((key) => `${type} ${key}`),
    );
    assert.deepEqual(unused, []);
  });

  it('are in the catalogues alone, and not in the forms', () => {
    for (const type of types)
      assert.deepEqual(
        template(type)
          .replace(/<[^>]*>/g, ' ')
          .trim(),
        '',
        type,
      );
  });
});
