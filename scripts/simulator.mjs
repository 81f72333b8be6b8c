// Runs the simulated service alone: PORT (8080), DIALECT (plain or real).
import simulator from '../dist/src/simulator/index.js';

const { PORT = '8080', DIALECT: dialect = 'plain' } = process.env;
if (!/^\d+$/.test(PORT) || !['plain', 'real'].includes(dialect)) {
  console.error('PORT must be a number and DIALECT plain or real.');
  process.exit(1);
}

try {
  const running = await simulator.startSimulator({ port: Number(PORT), dialect });
  const { vin } = running.car();
  const car = `${running.url}/control/cars/${vin}`;
  console.log(`The simulated service (${dialect}) answers at ${running.url}

  key header      vendor-api-key: demo-key
  access token    demo-token
  VIN             ${vin}

Read the windows:
  curl ${running.url}/connected-vehicle/v2/vehicles/${vin}/windows -H 'authorization: Bearer demo-token' -H 'vendor-api-key: demo-key' -H 'accept: application/json'
Open one:
  curl -X PATCH ${car} -H 'content-type: application/json' -d '{"windows":{"frontLeft":"OPEN"}}'
Let the next request fail:
  curl ${running.url}/control/faults -H 'content-type: application/json' -d '{"error":"quota","times":1}'

Ctrl-C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => running.close());
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
