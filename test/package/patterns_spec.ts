import { strict as assert } from 'node:assert';
import { parse } from 'acorn';
import { full } from 'acorn-walk';
import { transformSync } from 'esbuild';
import { createRedactor } from '../../src/index';
import { filesBelow, readText } from './checkout';

interface Pattern {
  file: string;
  pattern: RegExp;
}

/** The sources, because the bundle holds patterns of other packages, too. */
const isOurs = (file: string): boolean => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.includes('.editor.');

/** Every regular expression literal of src and nodes. */
function patternsOf(file: string): Pattern[] {
  const found: Pattern[] = [];
  const { code } = transformSync(readText(file), { loader: 'ts', format: 'cjs' });
  full(parse(code, { ecmaVersion: 2023, sourceType: 'script', allowHashBang: true }), (node) => {
    if (node.type !== 'Literal' || !('regex' in node) || typeof node.regex !== 'object' || node.regex === null) return;
    const { pattern, flags } = node.regex as { pattern: string; flags: string };
    found.push({ file, pattern: new RegExp(pattern, flags) });
  });
  return found;
}

/** One text for each way in which a pattern may be led on: its own words, and characters that its classes take. */
function piecesFor({ source }: RegExp): string[] {
  const words = [
    ...source
      .replace(/\\[bBdDsSwW]|\(\?(?:[:=!]|<[=!]|<\w+>)|\{[\d,]*\}/g, ' ')
      .replace(/\\(.)/g, '$1')
      .matchAll(/[^()[\]|?*+^$\s]+/g),
  ].map(([word]) => word.slice(0, 40));
  const characters = ['a', 'A', '0', ' ', '-', '_', '/', '.', ':', '=', '"', '\\', '%', 'A1', '\n', '\t'];
  const joined = words.slice(0, 6).flatMap((word) => ['-', 'a', '0', ' '].map((character) => word + character));
  return [...new Set([...words, ...characters, ...joined])];
}

const longest = 16_000;

/** Milliseconds of CPU time for a text of that length that no pattern is likely to match as a whole. */
function timeOf(work: (text: string) => unknown, piece: string, length: number): number {
  const text = `${piece.repeat(Math.ceil(length / piece.length))}\u0000`;
  const began = process.cpuUsage();
  work(text);
  return process.cpuUsage(began).user / 1000;
}

/**
 * True where four times the text takes far more than four times as long. A quick end for this size is harmless. The CPU time is that of
 * all threads, so a garbage collection or a compilation beside the work counts, too: only what is slow in each round is slow.
 */
function isSlow(work: (text: string) => unknown, piece: string, size = longest, rounds = 4): boolean {
  const isSlowNow = (): boolean => {
    if (timeOf(work, piece, size) < 15) return false;
    const best = (length: number): number => Math.min(...[1, 2, 3].map(() => timeOf(work, piece, length)));
    const long = best(size);
    return long > 15 && long / best(size / 4) > 9;
  };
  return Array.from({ length: rounds }).every(isSlowNow);
}

const replaceBy =
  (pattern: RegExp) =>
  (text: string): string =>
    text.replace(pattern, '');

describe('The patterns', function () {
  this.timeout(240_000);

  const patterns = ['src', 'nodes'].flatMap((folder) => filesBelow(folder).filter(isOurs).flatMap(patternsOf));

  it('take time in proportion to a text that is made to slow them down', () => {
    assert.ok(patterns.length > 60, `${patterns.length} patterns`);
    const slow = patterns.flatMap(({ file, pattern }) =>
      piecesFor(pattern)
        .filter((piece) => isSlow(replaceBy(pattern), piece))
        .slice(0, 1)
        .map((piece) => `${file}: ${pattern} at ${JSON.stringify(piece)}`),
    );
    assert.deepEqual(slow, []);
  });

  it('that the redactor puts together do so, too', () => {
    const redactor = createRedactor();
    redactor.learn('a-secret-of-some-length');
    redactor.learnVin('ABCDEFGHIJKLMNOPQ');
    const pieces = [
      '-a',
      '_',
      'eyJ',
      'eyJ-',
      'a.',
      'Bearer ',
      'api-',
      'api_key',
      'api_key ',
      'password:',
      '"\\',
      'A1',
      ' ',
      '\t',
      '&code=',
    ];
    assert.deepEqual(
      pieces.filter((piece) => isSlow(redactor.text, piece)),
      [],
    );
  });

  it('would be found where they are slow', () => {
    for (const [pattern, piece] of [
      [/reset\w*\s+in/, 'reset'],
      [/\beyJ[\w-]{5,}\.[\w-]{5,}/g, 'eyJ-'],
      [/\/+$/, '/'],
    ] as const) {
      assert.ok(piecesFor(pattern).includes(piece), `${pattern}: ${piecesFor(pattern).join(' ')}`);
      // On a busy machine a single measurement can be off by more than the factor that it looks for.
      assert.ok(
        // A shorter text and one round: these patterns take a tenth of a second for it.
        [1, 2, 3, 4, 5].some(() => isSlow(replaceBy(pattern), piece, 10_000, 1)),
        String(pattern),
      );
    }
  });
});
