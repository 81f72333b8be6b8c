// Runs the simulated service alone. The environment sets it up: PORT, DIALECT, CARS, LIMITS, KEY_HEADER,
// API_KEY, ACCESS_TOKEN.
import simulator from '../dist/src/simulator/index.js';
import { onceOrphaned } from './parent.mjs';

const {
  PORT = '8080',
  DIALECT: dialect = 'plain',
  CARS = 'petrol,electric,hybrid',
  LIMITS = 'none',
  KEY_HEADER: apiKeyHeader = dialect === 'real' ? 'vcc-api-key' : 'vendor-api-key',
  API_KEY: apiKey = 'demo-key',
  ACCESS_TOKEN: accessToken = 'demo-token',
} = process.env;
const profiles = CARS.split(',').map((name) => name.trim());

const problem = [
  [/^\d+$/.test(PORT) && Number(PORT) < 65536, 'PORT must be a number from 0 to 65535'],
  [['plain', 'real'].includes(dialect), 'DIALECT must be plain or real'],
  [['none', 'real'].includes(LIMITS), 'LIMITS must be none or real'],
  [/^[A-Za-z0-9-]+$/.test(apiKeyHeader), 'KEY_HEADER must be the name of a header, such as vcc-api-key'],
  [/^\S+$/.test(apiKey), 'API_KEY must not be empty and must not hold blanks'],
  [/^\S+$/.test(accessToken), 'ACCESS_TOKEN must not be empty and must not hold blanks'],
  [
    profiles.every(simulator.isCarProfile) && new Set(profiles).size === profiles.length,
    `CARS must be a list of different names among ${Object.keys(simulator.carProfiles).join(', ')}`,
  ],
].find(([isRight]) => !isRight)?.[1];
if (problem) {
  console.error(`${problem}.`);
  process.exit(1);
}

try {
  const cars = profiles.map((name) => simulator.carProfiles[name]);
  const running = await simulator.startSimulator({
    port: Number(PORT),
    dialect,
    cars,
    limits: LIMITS === 'real' ? simulator.realLimits : {},
    apiKeyHeader,
    apiKey,
    accessToken,
    mediaTypeVendor: dialect === 'real' ? 'volvocars' : 'vendor',
  });
  const [{ vin }] = cars;
  const list = profiles.map((name, index) => `  VIN (${name})`.padEnd(26) + cars[index].vin).join('\n');
  console.log(`The simulated service (${dialect}) answers at ${running.url}
Open this address in a browser to see the cars and to click them.

  key header              ${apiKeyHeader}: ${apiKey}
  access token            ${accessToken}
  limits                  ${LIMITS}
${list}

Read the windows:
  curl ${running.url}/connected-vehicle/v2/vehicles/${vin}/windows -H 'authorization: Bearer ${accessToken}' -H '${apiKeyHeader}: ${apiKey}'
Open one:
  curl -X PATCH ${running.url}/control/cars/${vin} -H 'content-type: application/json' -d '{"windows":{"frontLeft":"OPEN"}}'
Drive 12 km in 10 minutes:
  curl ${running.url}/control/cars/${vin}/drive -H 'content-type: application/json' -d '{"km":12,"minutes":10}'
Let the next request fail:
  curl ${running.url}/control/faults -H 'content-type: application/json' -d '{"error":"quota","times":1}'

Ctrl-C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => running.close());
  onceOrphaned(() => running.close());
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
