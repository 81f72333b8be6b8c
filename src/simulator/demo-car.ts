import type { CarChanges } from './car-state';

/** A car to start with: its VIN, and what differs from the car that is there by default. */
export interface CarOptions extends CarChanges {
  vin: string;
}

/** The car of the demo: locked and closed, but somebody forgot a window. */
export const demoCar: CarOptions = {
  vin: 'YV4952NA4F120DEMO',
  windows: { rearRight: 'OPEN' },
};

/** A car without the platform-based infotainment system: no `lock-reduced-guard` (specification 4.1 rule 1), no battery to drive with. */
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
};
