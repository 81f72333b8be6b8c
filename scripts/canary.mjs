// `npm run canary`: secrets and VINs that exist nowhere else go through every success and every failure; then everything that came
// out of the process is searched for them, stdout, stderr and files included. Ends with 1 where one is found.
import { createRequire } from 'node:module';

const { runCanary } = createRequire(import.meta.url)('../dist/test/support/canary.js');
const { hits, searched, debug, ...used } = await runCanary('whole');
console.log('in use:  ', used);
console.log('searched:', searched);
console.log('debug:   ', `${debug.length} lines of NODE_DEBUG=connected-vehicle`);
for (const hit of hits) console.log(hit);
console.log(`hits:     ${hits.length}`);
process.exit(hits.length === 0 ? 0 : 1);
