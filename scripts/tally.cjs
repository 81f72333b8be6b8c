// Mocha's spec reporter, which also adds "<passes> <failures>" to the file that TALLY names.
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class Tally extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.TALLY;
    if (file) runner.once('end', () => appendFileSync(file, `${this.stats.passes} ${this.stats.failures}\n`));
  }
};
