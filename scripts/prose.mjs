// Part of `npm run lint`: finds phrases in the documents that always have a better word. Code, comments and generated parts are not
// checked, because their texts have another source.
import { readFileSync, readdirSync } from 'node:fs';

const better = [
  [/\bfor everybody who\b/i, 'nothing, or the audience in the title'],
  [/\ball the same\b/i, 'anyway'],
  [/\bin vain\b/i, 'a verb such as “fails”'],
  [/\b(?:by (?:itself|themselves)|of (?:its|their) own accord)\b/i, 'automatically'],
  // The status “Lock: under way” is a label.
  [/(?<!: )\bunder way\b/i, 'in progress'],
  [/\bsmall letters\b/i, 'lowercase'],
  [/\bwithout (?:a )?blanks?\b/i, 'without spaces'],
  [/\bmay want one day\b/i, 'might need later'],
  [
    /\bwhere there (?:is|are) (?:one|any|none)\b|\b(?:also|only|or|and) where (?:it|its|the|that|several)\b|; where it\b/i,
    '“if …”',
  ],
  [/, too[.;]/i, '“also” before the verb'],
  [/\b(?:power cut|afresh)\b/i, 'power outage; “as after their first …”'],
];

const pages = readdirSync('docs', { recursive: true })
  .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.md') && !/node_modules|internals\/(?:service|vendor-api)\.md/.test(name));
for (const page of [...pages, 'README.md', 'SECURITY.md', 'CONTRIBUTING.md']) {
  // What is left out becomes empty lines, so that the numbers of the lines stay.
  const text = readFileSync(page, 'utf8').replace(
    /<!-- generated .*?<!-- end -->|^ *```.*?^ *```|<!--.*?-->|`[^`\n]+`/gms,
    (part) => part.replace(/[^\n]/g, ''),
  );
  for (const [index, line] of text.split('\n').entries())
    for (const [phrase, word] of better) {
      const [found] = phrase.exec(line) ?? [];
      if (found === undefined) continue;
      console.error(`${page}:${index + 1}: “${found}”: write ${word}`);
      process.exitCode = 1;
    }
}
