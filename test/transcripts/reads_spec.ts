import { strict as assert } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { demoCar, electricCar } from '../../src/simulator/index';
import { isRecord } from '../../src/index';
import { StoredTranscripts } from './stored-transcripts';
import { TimedFlow } from './timed-flow';

/** docs/internals/contract.md 3 and docs/internals/service.md 2.8. */
const reads = [
  'vehicles details windows doors commands accessibility',
  'charging batteryChargeLevel electricRange chargerConnectionStatus chargingStatus chargingType chargerPowerStatus',
  'estimatedChargingTimeToTargetBatteryChargeLevel chargingCurrentLimit targetBatteryChargeLevel chargingPower chargingDoneAt',
  'chargingCapabilities location fuel statistics tyres warnings diagnostics brakes engine engine-status',
  'averageEnergyConsumption averageEnergyConsumptionAutomatic averageEnergyConsumptionSinceCharge',
  'averageFuelConsumptionAutomatic averageSpeedAutomatic distanceToEmptyTank distanceToEmptyBattery',
  'averageFuelConsumption averageSpeed backupBatteryRemaining brakeFluid bulbFailure cabOpen carLocked distanceToEmpty',
  'engineCoolantLevel engineCoolantTemp engineHoursToService engineRunning externalTemp frontLeftDoorOpen',
  'frontRightDoorOpen rearLeftDoorOpen rearRightDoorOpen fuelAmount hoodOpen kmToService mainBatteryStatus',
  'monthsToService odometer oilLevel oilPressure serviceWarningStatus serviceWarningTrigger tailGateOpen tripMeter1',
  'tripMeter2 frontLeftTyrePressure frontRightTyrePressure rearLeftTyrePressure rearRightTyrePressure washerFluidLevel',
  'frontLeftWindowOpen frontRightWindowOpen rearLeftWindowOpen rearRightWindowOpen',
]
  .join(' ')
  .split(' ');

/**
 * Of one car: what the node sends or how it fails, its status, and the requests,
 * by read and interface.
 */
async function readAll(
  timedFlow: TimedFlow,
  names: readonly (readonly [read: string, version: string])[],
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const [read, version] of names) {
    timedFlow.forget();
    await timedFlow.send({ read, interface: version, topic: undefined });
    await timedFlow.pass(10);
    const { node = {}, requests } = timedFlow.heard();
    const { 'output 1': sent = [], catch: caught = [], status = [] } = node as Record<string, unknown[]>;
    found.push({
      ...shortened(read, sent[0] ?? caught[0]),
      status: status.at(-1),
      requests: Object.keys(requests ?? {}),
    });
  }
  return found;
}

/** Without what is the same for each read. */
function shortened(read: string, heard: unknown): object {
  if (!isRecord(heard)) return {};
  assert.ok(heard['topic'] === '<set>' || 'error' in heard);
  const without = (members: Record<string, unknown>, names: RegExp): object =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !names.test(name)));
  const vehicle = isRecord(heard['vehicle']) ? heard['vehicle'] : {};
  if ('payload' in heard) assert.equal(vehicle['read'], read);
  return {
    ...without(heard, /^(_msgid|as it came|topic|vehicle)$/),
    vehicle: without(vehicle, /^(receivedAt|source|vin|read)$/),
  };
}

describe('What a flow receives for each read', function () {
  const transcripts = new StoredTranscripts('reads.json');
  const names = [
    ...reads.map((read) => [read, 'auto'] as const),
    ...['windows', 'doors'].map((read) => [read, 'v1'] as const),
  ];
  let timedFlow: TimedFlow | undefined;

  afterEach(() => timedFlow?.end());
  after(() => transcripts.save());

  it('from a petrol car and an electric car, and which status a person sees in both languages', async () => {
    const of = async (car: typeof demoCar, language: 'en-US' | 'de'): Promise<unknown[]> => {
      await timedFlow?.end();
      timedFlow = await TimedFlow.open({
        node: { type: 'connected-vehicle-status' },
        service: { cars: [car] },
        language,
      });
      return readAll(timedFlow, names);
    };
    const petrol = await of(demoCar, 'en-US');
    const electric = await of(electricCar, 'en-US');
    const german = (await of(demoCar, 'de')) as { status: string }[];
    names.forEach(([read, version], index) => {
      const { found, stored } = transcripts.compare(`${read}, ${version}`, {
        petrol: petrol[index],
        electric: isDeepStrictEqual(electric[index], petrol[index]) ? 'the same' : electric[index],
        'status in German': german[index]?.status,
      });
      assert.equal(found, stored);
    });
    assert.deepEqual(transcripts.unused, []);
  });
});
