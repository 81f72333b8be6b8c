// The arguments with which Node runs files of tests, without the choice of files in .mocharc.json.
export const mocha = [
  'node_modules/mocha/bin/mocha.js',
  '--no-config',
  '--require',
  'dist/test/support/known-environment.js',
];
