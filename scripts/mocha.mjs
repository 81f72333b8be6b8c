import { filesBelow, runNode } from './checkout.mjs';

const program = [
  'node_modules/mocha/bin/mocha.js',
  '--no-config',
  '--require',
  'dist/test/support/known-environment.js',
];
/** Ends a test that hangs, however slow the machine is. */
const limit = ['--timeout', '600000'];

/** Runs files of tests, without the choice of files in .mocharc.json. */
export const runMocha = (args, env, node) => runNode([...program, ...limit, ...args], env, node);

/** The compiled specs below a folder of dist/test. */
export const specsBelow = (folder) => filesBelow(`dist/test/${folder}`, '_spec.js');
