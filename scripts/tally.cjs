// Mocha's spec reporter, which also adds "<passes> <failures>" to the file that TALLY names, and
// the failed tests to the file beside it.
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class Tally extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.TALLY;
    if (!file) return;
    runner.on('fail', (test, error) =>
      appendFileSync(`${file}-failures`, `Node ${process.versions.node}: ${test.fullTitle()}\n${error.stack}\n\n`),
    );
    runner.once('end', () => appendFileSync(file, `${this.stats.passes} ${this.stats.failures}\n`));
  }
};
