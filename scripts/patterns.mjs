// Part of `npm run lint`: every regular expression of src and nodes takes time in proportion to the
// text, also to one that is made to slow it down. The analyzer counts steps and uses no clock, so
// each machine gets the same result. What it found in order is stored in .cache.
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { parse } from 'acorn';
import { full } from 'acorn-walk';
import { transform } from 'esbuild';
import { filesBelow, jsonOf, root, textOf } from './checkout.mjs';

// The build without Java and without a program for each system.
process.env.RECHECK_BACKEND = 'pure';
const require = createRequire(import.meta.url);
const { checkSync } = require('recheck');

const options = {
  randomSeed: 1,
  // Larger automata take minutes; the fuzzer looks at these patterns.
  maxNFASize: 500,
  maxIteration: 10,
  maxGenerationSize: 50,
  incubationLimit: 10_000,
  // A pattern is slow if it takes more than 1,600 steps for each character of the longest text.
  maxAttackStringSize: 30_000,
  attackLimit: 50_000_000,
  // No clock ends a search.
  timeout: null,
  incubationTimeout: null,
  attackTimeout: null,
  recallTimeout: -1,
};

/**
 * If each repetition has a limit, and all of them together a small one, each place of a
 * text takes a few steps.
 */
function mayBeSlow(source) {
  const bare = source.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'c');
  const limits = [...bare.matchAll(/\{\d+,(\d+)\}/g)].map(([, limit]) => Number(limit));
  return /[*+]|\{\d+,\}/.test(bare) || limits.reduce((product, limit) => product * limit, 1) > 1_000;
}

async function patternsOf(file) {
  const found = [];
  const { code } = await transform(await textOf(file), { loader: 'ts', format: 'cjs' });
  full(parse(code, { ecmaVersion: 2023, sourceType: 'script', allowHashBang: true }), ({ type, regex }) => {
    if (type === 'Literal' && regex && mayBeSlow(regex.pattern)) found.push({ file, ...regex });
  });
  return found;
}

const isSafe = ({ pattern, flags }) => checkSync(pattern, flags, options).status === 'safe';
const keyOf = ({ pattern, flags }) => `/${pattern}/${flags}`;

const sources = ['src', 'nodes']
  .flatMap((folder) => filesBelow(folder, '.ts'))
  .filter((name) => !name.endsWith('.d.ts'));
const patterns = (await Promise.all(sources.map(patternsOf))).flat();

const cache = '.cache/patterns.json';
const conditions = JSON.stringify([require('recheck/package.json').version, options]);
const last = await jsonOf(cache).catch(() => ({}));
const known = new Set(last.conditions === conditions ? last.safe : []);
// An analyzer that no longer finds anything would let everything pass.
const slow = [/reset\w*\s+in/, /\/+$/, /^(a+)+$/];
if (known.size === 0)
  for (const { source: pattern, flags } of slow)
    if (isSafe({ pattern, flags })) throw new Error(`The analyzer no longer finds /${pattern}/.`);
if (patterns.length < 60) throw new Error(`Only ${patterns.length} patterns were found in src and nodes.`);

const found = patterns.filter((one) => !known.has(keyOf(one)) && !isSafe(one));
for (const one of found) {
  console.error(`${one.file}: ${keyOf(one)} can be slow: a text may take more time than in proportion to its length.`);
  process.exitCode = 1;
}
const safe = [...new Set(patterns.filter((one) => !found.includes(one)).map(keyOf))];
await mkdir(`${root}.cache`, { recursive: true });
await writeFile(root + cache, JSON.stringify({ conditions, safe }));
