import type { CarChanges, CarOptions } from './changes';

/**
 * Commands that only some cars accept, so each car names its own (docs/internals/vendor-api.md 15).
 */
export const optionalCommands = ['climatization-start', 'climatization-stop', 'engine-start', 'engine-stop'] as const;

const climate = ['climatization-start', 'climatization-stop'];

/**
 * The petrol car of the demo: locked and closed, but a window was left open. Cars of 2019 list
 * every command (docs/internals/vendor-api.md 15). The vendor's demo car does not report its washer
 * fluid and a tire either (14.4, 14.5).
 */
export const demoCar: CarOptions = {
  vin: 'YV4952NA4F120DEMO',
  details: { modelYear: 2019 },
  windows: { rearRight: 'OPEN' },
  resources: { washerFluidLevel: null, frontLeftTyrePressure: null },
  extraCommands: [...optionalCommands],
};

/** Values that a car without a tank and a combustion engine lacks. */
const noEngine: CarChanges = {
  resources: {
    fuelAmount: null,
    averageFuelConsumption: null,
    distanceToEmpty: null,
    engineCoolantLevel: null,
    engineCoolantTemp: null,
    engineHoursToService: null,
    oilLevel: null,
    oilPressure: null,
  },
  statistics: {
    averageEnergyConsumption: 18.2,
    averageEnergyConsumptionAutomatic: 17.6,
    averageEnergyConsumptionSinceCharge: 16.9,
    averageFuelConsumptionAutomatic: null,
  },
};

/** The electric car of the demo: plugged in and charging. */
export const electricCar: CarOptions = {
  ...noEngine,
  vin: 'YV1EKLECTR1CDEMO2',
  details: {
    modelYear: 2024,
    fuelType: 'ELECTRIC',
    externalColour: 'Sage Green',
    batteryCapacityKWH: 82,
    descriptions: { model: 'XC40' },
  },
  windows: { sunroof: 'CLOSED' },
  resources: { ...noEngine.resources, odometer: 13_480, tripMeter1: 148, tripMeter2: 612 },
  plugIn: true,
  wallbox: 'WBVDEM0EL-WB24.01.2500000002',
  battery: { level: 53, capacityKWH: 78, fullRange: 455 },
  charger: { connection: 'CONNECTED' },
  extraCommands: climate,
};

/** A plug-in hybrid with a value for everything. */
export const hybridCar: CarOptions = {
  vin: 'YV1HYBR1DPLUGDEM3',
  details: { fuelType: 'PETROL/ELECTRIC', batteryCapacityKWH: 18.8, descriptions: { model: 'XC60' } },
  plugIn: true,
  battery: { level: 74, capacityKWH: 18.8, fullRange: 78, power: 6400 },
  statistics: {
    averageEnergyConsumption: 22.4,
    averageEnergyConsumptionAutomatic: 21.3,
    averageEnergyConsumptionSinceCharge: 20.8,
  },
  extraCommands: climate,
};

/** A car of the United States, which lacks some members (docs/internals/vendor-api.md 12.5). */
export const milesCar: CarOptions = {
  ...hybridCar,
  vin: 'YV1M1LESPLUGDEMO4',
  details: { ...hybridCar.details, descriptions: { model: 'XC90' } },
  battery: { ...hybridCar.battery, level: 87.3, fullRange: 48 },
  energy: {
    distanceUnit: 'miles',
    tenths: true,
    errors: {
      chargingCurrentLimit: 'NOT_SUPPORTED',
      chargingPower: 'NOT_SUPPORTED',
      targetBatteryChargeLevel: 'ERROR_READING_PROPERTY',
    },
  },
};

/** A car with three of the ten members of the energy state (docs/internals/vendor-api.md 12.5). */
export const classicHybridCar: CarOptions = {
  ...hybridCar,
  vin: 'YV1CLASS1CPLUGDM5',
  classic: true,
  details: { ...hybridCar.details, modelYear: 2020 },
  battery: { ...hybridCar.battery, target: 80 },
  energy: {
    errors: {
      batteryChargeLevel: 'NOT_SUPPORTED',
      electricRange: 'NOT_SUPPORTED',
      chargingType: 'NOT_SUPPORTED',
      chargerPowerStatus: 'NOT_SUPPORTED',
      estimatedChargingTimeToTargetBatteryChargeLevel: 'NOT_SUPPORTED',
      chargingCurrentLimit: 'NOT_SUPPORTED',
      chargingPower: 'NOT_SUPPORTED',
    },
  },
};

/** The oddities of the EX30 (docs/internals/vendor-api.md 12.3 to 12.5, 15.1). */
export const quirkyCar: CarOptions = {
  ...electricCar,
  vin: 'YV1EX30QU1RKDEMO6',
  details: { ...electricCar.details, batteryCapacityKWH: 69, descriptions: { model: 'EX30' } },
  battery: { level: 38, capacityKWH: 64, fullRange: 237, currentLimit: 32 },
  charger: { connection: 'DISCONNECTED' },
  energy: { capabilities: { chargingCurrentLimit: false }, faultWhenDone: true, powerOnlyWhileCharging: true },
  ignoresClimatizationStop: true,
};

/**
 * A car without `lock-reduced-guard` (docs/internals/service.md 4.1 rule 1) and without a drive
 * battery.
 */
export const classicCar: CarOptions = {
  vin: 'YV1CT9551B1570982',
  classic: true,
  details: {
    modelYear: 2017,
    gearbox: 'MANUAL',
    fuelType: 'DIESEL',
    externalColour: 'Savile Grey',
    batteryCapacityKWH: null,
    descriptions: { model: 'V60', upholstery: 'null' },
  },
  resources: { fuelAmount: 21, distanceToEmpty: 390, odometer: 148213 },
  energy: { notFound: true },
  extraCommands: [...optionalCommands],
};

export const demoCars = { petrol: demoCar, electric: electricCar } as const satisfies Record<string, CarOptions>;

export const carProfiles = {
  ...demoCars,
  hybrid: hybridCar,
  miles: milesCar,
  'classic-hybrid': classicHybridCar,
  quirky: quirkyCar,
  classic: classicCar,
} as const satisfies Record<string, CarOptions>;
