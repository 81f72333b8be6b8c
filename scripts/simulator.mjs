// Runs the simulated service alone. The environment sets it up: PORT, DIALECT, CARS, LIMITS,
// KEY_HEADER, API_KEY, ACCESS_TOKEN.
import simulator from '../dist/src/simulator/index.js';
import { onceOrphaned } from './parent.mjs';

const { PORT = '8080', DIALECT = 'plain', CARS = 'petrol,electric,hybrid', LIMITS = 'none' } = process.env;
const isReal = DIALECT === 'real';
const {
  KEY_HEADER: apiKeyHeader = isReal ? 'vcc-api-key' : 'vendor-api-key',
  API_KEY: apiKey = 'demo-key',
  ACCESS_TOKEN: accessToken = 'demo-token',
} = process.env;
const profiles = CARS.split(',').map((name) => name.trim());

const isRight = {
  'PORT must be a number from 0 to 65535': /^\d+$/.test(PORT) && Number(PORT) < 65536,
  'DIALECT must be plain or real': ['plain', 'real'].includes(DIALECT),
  'LIMITS must be none or real': ['none', 'real'].includes(LIMITS),
  'KEY_HEADER must be the name of a header, such as vcc-api-key': /^[A-Za-z0-9-]+$/.test(apiKeyHeader),
  'API_KEY must not be empty and must not hold spaces': /^\S+$/.test(apiKey),
  'ACCESS_TOKEN must not be empty and must not hold spaces': /^\S+$/.test(accessToken),
  [`CARS must be a list of different names among ${Object.keys(simulator.carProfiles).join(', ')}`]:
    profiles.every((name) => Object.hasOwn(simulator.carProfiles, name)) && new Set(profiles).size === profiles.length,
};

try {
  for (const [rule, isKept] of Object.entries(isRight)) if (!isKept) throw new Error(`${rule}.`);
  const cars = profiles.map((name) => simulator.carProfiles[name]);
  const { url, close } = await simulator.startSimulator({
    port: Number(PORT),
    dialect: DIALECT,
    cars,
    limits: LIMITS === 'real' ? simulator.realLimits : {},
    apiKeyHeader,
    apiKey,
    accessToken,
    mediaTypeVendor: isReal ? 'volvocars' : 'vendor',
  });
  const car = `${url}/control/cars/${cars[0].vin} -H 'content-type: application/json'`;
  const vins = cars.map(({ vin }, index) => `  VIN (${profiles[index]})`.padEnd(26) + vin);
  console.log(`The simulated service (${DIALECT}) answers at ${url}
Open this address in a browser to see the cars and to click them.

  key header              ${apiKeyHeader}: ${apiKey}
  access token            ${accessToken}
  limits                  ${LIMITS}
${vins.join('\n')}

Read the windows:
  curl ${url}/connected-vehicle/v2/vehicles/${cars[0].vin}/windows -H 'authorization: Bearer ${accessToken}' -H '${apiKeyHeader}: ${apiKey}'
Open one:
  curl -X PATCH ${car} -d '{"windows":{"frontLeft":"OPEN"}}'
Drive 12 km in 10 minutes:
  curl ${url}/control/cars/${cars[0].vin}/drive -H 'content-type: application/json' -d '{"km":12,"minutes":10}'
Let the next request fail:
  curl ${url}/control/faults -H 'content-type: application/json' -d '{"error":"quota","times":1}'

Ctrl-C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, close);
  onceOrphaned(close);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
