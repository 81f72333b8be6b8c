// `npm run test:file <spec...>`: builds what has changed and runs these files of tests, named as source or as compiled.
import { runMocha, runNode } from './mocha.mjs';

const specs = process.argv.slice(2).map((spec) => spec.replace(/^(\.\/)?test\//, 'dist/test/').replace(/\.ts$/, '.js'));
process.exitCode = (await runNode(['scripts/build.mjs', '--changed'])) || (await runMocha(specs));
