// Part of `npm run lint`: finds phrases that always have a better word, in the documents, in the
// English texts of the forms, of the help, of statuses and of errors, in the examples, and in the
// comments of the code. Generated parts of documents have their source in these texts.
import { filesBelow, jsonOf, textOf } from './checkout.mjs';

/** Columns of a comment that stands alone on its lines. */
const commentWidth = 100;

const better = [
  [/\bfor everybody who\b/i, 'nothing, or the audience in the title'],
  [/\ball the same\b/i, 'anyway'],
  [/\bin vain\b/i, 'a verb such as “fails”'],
  [/\b(?:by (?:itself|themselves)|of (?:its|their) own accord)\b/i, 'automatically'],

  [/\bunder way\b/i, 'in progress'],
  [/\bsmall letters\b/i, 'lowercase'],
  [/\bwithout (?:a )?blanks?\b/i, 'without spaces'],
  [/\bmay want one day\b/i, 'might need later'],
  [
    /\bwhere there (?:is|are) (?:one|any|none)\b|\b(?:also|only|or|and) where (?:it|its|the|that|several)\b|; where it\b/i,
    '“if …”',
  ],
  [/\b(?:null|undefined|error|absent|empty|skipped|throws|fails?) where\b/i, '“if …”'],
  [/, too[.;]/i, '“also” before the verb'],
  [/\bany more\b/i, '“no longer”'],
  [/\b(?:goes|went) on\b/i, '“continues”'],
  [/\bblanks?\b/i, '“space”'],
  [/\b(?:one day|may ever|by surprise|out of order)\b/i, '“later”, “unexpectedly”, “unavailable”'],
  [/\b(?:seldom|likewise|oftener)\b/i, '“rarely”, “also”'],
  [/\b(?:power cut|afresh)\b/i, 'power outage; “as after their first …”'],
  [/(?<!cannot )\b(?:says?|said|tells?) (?:so|when|why|where|whether|of|what)\b/i, '“shows”, “states”, “reports”'],
  [
    /\b(?:became|becomes?|become) of\b|(?<!so )\bthat what\b|\bthe one of\b/i,
    'the noun: “the outcome”, “the status of …”',
  ],
  [/\b(?:taken|takes?) for (?:a|an|one)\b|\bg[ia]ve(?:s|n)? back\b/i, '“mistaken for”, “release”'],
];

const check = (text, place) => {
  for (const [phrase, word] of better) {
    const [found] = phrase.exec(text) ?? [];
    if (found === undefined) continue;
    console.error(`${place}: “${found}”: write ${word}`);
    process.exitCode = 1;
  }
};

const found = [...filesBelow('docs', '.md'), ...filesBelow('nodes/locales/en-US', '.html')];
const pages = found.filter((name) => !/node_modules|internals\/(?:service|vendor-api)\.md/.test(name));
for (const page of [...pages, 'README.md', 'SECURITY.md', 'CONTRIBUTING.md']) {
  // What is left out becomes empty lines, so that the numbers of the lines stay.
  const leftOut = /<!-- generated .*?<!-- end -->|^ *```.*?^ *```|<!--.*?-->|`[^`\n]+`/gms;
  const text = (await textOf(page)).replace(leftOut, (part) => part.replace(/[^\n]/g, ''));
  for (const [index, line] of text.split('\n').entries()) check(line, `${page}:${index + 1}`);
}

const code = ['src', 'nodes', 'scripts', 'test'].flatMap((folder) => filesBelow(folder));
for (const file of code.filter((name) => /(?<!prose)\.(?:ts|mjs|cjs)$/.test(name))) {
  const lines = (await textOf(file)).split('\n');
  // The lines of a comment are checked as one text, because a phrase can be broken between them.
  let comment = '';
  for (const [index, line] of [...lines, ''].entries()) {
    const [, content] = /^\s*(?:\/\/|\/\*\*?|\*)(?: (?!.*\*\/.)|$)(.*)$/.exec(line) ?? [];
    if (content !== undefined) comment += `${content.replaceAll(/`[^`]*`/g, '')} `;
    else if (comment !== '') {
      check(comment, `${file}:${index}`);
      comment = '';
    }
    if (content === undefined || line.length <= commentWidth || line.includes('://')) continue;
    console.error(`${file}:${index + 1}: wrap the comment at ${commentWidth} columns`);
    process.exitCode = 1;
  }
}

/** Checks each text of a JSON file, but the search words of the forms, which people type. */
const checkTexts = (value, place) => {
  if (typeof value === 'string') check(value, place);
  else if (value !== null && typeof value === 'object')
    for (const [key, part] of Object.entries(value)) if (key !== 'words') checkTexts(part, `${place} ${key}`);
};
const texts = [...filesBelow('nodes/locales/en-US', '.json'), ...filesBelow('examples', '.json')];
for (const file of [...texts, 'src/words/en-US.json']) checkTexts(await jsonOf(file), file);
// The sentences of the code are the keys of their translations.
for (const sentence of Object.keys(await jsonOf('nodes/locales/de/sentences.json'))) check(sentence, sentence);
