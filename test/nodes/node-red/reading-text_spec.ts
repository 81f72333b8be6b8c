import { strict as assert } from 'node:assert';
import { describeReading, useClock } from '../../../nodes/runtime';
import { isReadName, valueTypeOf, type AnyReading, type Reading } from '../../../src/index';
import { readNames } from '../../../src/catalogue/reads';
import { ManualClock } from '../../support/manual-clock';
import { wordsIn } from '../../support/words';
import { severalReading, type ReadingInfo } from '../../../src/car/reading';

const at = '2026-06-01T21:40:00.000';
/** 23:40 on this machine. */
const done = new Date('2026-06-01T23:40:00.000').toISOString();
const info = (read: string, more: Partial<ReadingInfo> = {}): ReadingInfo => {
  assert.ok(isReadName(read));
  return { ...more, vin: null, read, interface: 'connected-v2', receivedAt: at, measuredAt: null, source: 'live' };
};
const reading = (read: string, payload: unknown, more: Partial<ReadingInfo> = {}): Reading => ({
  payload,
  vehicle: info(read, more),
});
const windows = (...open: string[]): Reading =>
  reading('windows', {}, { open, unknown: [], allClosed: open.length === 0 });
const doors = (locked: boolean | null, ...open: string[]): Reading =>
  reading('doors', {}, { open, unknown: [], allClosed: open.length === 0, locked });
const value = (of: unknown, unit: string | null = null) => ({ value: of, unit, timestamp: at });
const charging = (
  status: string | null,
  connection: string | null,
  level: number | null,
  doneAt: string | null = null,
): Reading =>
  reading('charging', {
    chargingStatus: value(status),
    chargerConnectionStatus: value(connection),
    batteryChargeLevel: value(level, 'percent'),
    estimatedChargingTimeToTargetBatteryChargeLevel: value(120, 'minutes'),
    chargingDoneAt: value(doneAt),
  });
const noWarning = value('NO_WARNING');

const say = (one: AnyReading, language = 'en-US'): string | null => {
  const described = describeReading(one, wordsIn(language));
  return described === null ? null : `${described.style}: ${described.text}`;
};

describe('The status text of a reading', () => {
  before(() => useClock(new ManualClock(Date.parse(at))));
  after(() => useClock(undefined));

  const cases: [one: AnyReading, english: string | null, german: string | null][] = [
    [windows(), 'good: all windows closed', 'good: alle Fenster geschlossen'],
    [windows('rearRight'), 'attention: rear-right window open', 'attention: Fenster hinten rechts offen'],
    [windows('frontLeft', 'rearRight'), 'attention: 2 windows open', 'attention: 2 Fenster offen'],
    [
      windows('frontLeft', 'sunroof'),
      'attention: front-left window, sunroof open',
      'attention: Fenster vorn links, Schiebedach offen',
    ],
    [reading('windows', {}, { open: [], unknown: ['rearLeft'], allClosed: null }), null, null],
    [doors(true), 'good: all doors closed, locked', 'good: alle Türen geschlossen, verriegelt'],
    [doors(false), 'attention: unlocked', 'attention: nicht verriegelt'],
    [doors(null), null, null],
    [
      doors(false, 'hood', 'tailGate'),
      'attention: hood, tailgate open, unlocked',
      'attention: Motorhaube, Heckklappe offen, nicht verriegelt',
    ],
    [
      reading('doors', {}, { open: [], unknown: ['hood'], allClosed: null, locked: false }),
      'attention: unlocked',
      'attention: nicht verriegelt',
    ],
    [reading('fuelAmount', value(38, 'liters')), 'good: 38 l', 'good: 38 l'],
    [reading('odometer', value(24_817, 'kilometers')), 'good: 24,817 km', 'good: 24.817 km'],
    [
      reading('averageFuelConsumption', value(6.83, 'liters per 100 kilometers')),
      'good: 6.8 l/100 km',
      'good: 6,8 l/100 km',
    ],
    [reading('monthsToService', value(1, 'months')), 'good: 1 month', 'good: 1 Monat'],
    [reading('monthsToService', value(23, 'months')), 'good: 23 months', 'good: 23 Monate'],
    [reading('electricRange', value(26, 'miles')), 'good: 26 mi', 'good: 26 mi'],
    [reading('fuelAmount', value(null, 'liters')), null, null],
    [reading('carLocked', value(true)), 'good: locked', 'good: verriegelt'],
    [reading('carLocked', value(false)), 'good: unlocked', 'good: nicht verriegelt'],
    [reading('hoodOpen', value(false)), 'good: closed', 'good: geschlossen'],
    [reading('engineRunning', value(false)), 'good: not running', 'good: läuft nicht'],
    [reading('frontLeftTyrePressure', value('NORMAL')), 'good: normal', 'good: normal'],
    [reading('bulbFailure', value('FOG_REAR_ANY')), 'attention: rear fog light', 'attention: Nebelschlussleuchte'],
    [reading('bulbFailure', value('MULTIPLE')), 'attention: several lights', 'attention: mehrere Lampen'],
    [reading('frontLeftTyrePressure', value('LOWHARD')), 'attention: much too low', 'attention: viel zu niedrig'],
    [reading('oilLevel', value('VERY_LOW')), 'attention: very low', 'attention: sehr niedrig'],
    [reading('serviceWarningStatus', value('TIME_FOR_SERVICE')), 'attention: service due', 'attention: Wartung fällig'],
    [reading('serviceWarningTrigger', value('DISTANCE')), 'good: by distance', 'good: nach Strecke'],
    [reading('backupBatteryRemaining', value('MINUTES_ABOVE_30')), 'good: more than 30 min', 'good: mehr als 30 min'],
    [reading('chargerPowerStatus', value('FAULT')), 'attention: charger fault', 'attention: Störung beim Laden'],
    [reading('chargingType', value('DC')), 'good: DC', 'good: Gleichstrom'],
    [reading('oilLevel', value('SOMETHING_NEW')), 'good: something new', 'good: something new'],
    [reading('accessibility', { value: 'AVAILABLE', unavailableReason: null }), 'good: available', 'good: verfügbar'],
    [
      reading('accessibility', { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' }),
      'attention: unavailable: in use',
      'attention: nicht verfügbar: in Benutzung',
    ],
    [reading('accessibility', { value: 'UNSPECIFIED', unavailableReason: null }), null, null],
    [reading('vehicles', [{ vin: 'x' }]), 'good: 1 vehicle', 'good: 1 Fahrzeug'],
    [reading('commands', [1, 2, 3]), 'good: 3 commands', 'good: 3 Befehle'],
    [reading('details', { descriptions: { model: 'EX30' } }), 'good: EX30', 'good: EX30'],
    [charging('CHARGING', 'CONNECTED', 62, done), 'good: charging, 62 %, until 23:40', 'good: lädt, 62 %, bis 23:40'],
    [charging('CHARGING', 'CONNECTED', 62), 'good: charging, 62 %', 'good: lädt, 62 %'],
    [reading('chargingDoneAt', value(done)), 'good: until 23:40', 'good: bis 23:40'],
    [reading('chargingDoneAt', value(null)), null, null],
    [charging('IDLE', 'DISCONNECTED', 62), 'good: not plugged in, 62 %', 'good: nicht eingesteckt, 62 %'],
    [charging('DONE', 'CONNECTED', 85), 'good: charged, 85 %', 'good: geladen, 85 %'],
    [charging('ERROR', 'CONNECTED', null), 'attention: charging error', 'attention: Fehler beim Laden'],
    [charging(null, null, null), null, null],
    [reading('fuel', { fuelAmount: value(38, 'l'), batteryChargeLevel: value(0, '%') }), 'good: 38 l', 'good: 38 l'],
    [
      reading('fuel', { fuelAmount: value(38, 'l'), batteryChargeLevel: value(62.5, '%') }),
      'good: 38 l, 62.5 %',
      'good: 38 l, 62,5 %',
    ],
    [reading('statistics', { averageSpeed: value(50, 'km/h') }), 'good: 1 value', 'good: 1 Wert'],
    [reading('engine-status', { engineStatus: value('STOPPED') }), 'good: stopped', 'good: aus'],
    [reading('tyres', { frontLeft: noWarning, rearLeft: noWarning }), 'good: no warnings', 'good: keine Warnungen'],
    [
      reading('tyres', { frontLeft: value('LOW_PRESSURE'), rearLeft: noWarning }),
      'attention: 1 warning',
      'attention: 1 Warnung',
    ],
    [reading('tyres', { frontLeft: value('UNSPECIFIED') }), null, null],
    [
      reading('diagnostics', { serviceWarning: noWarning, serviceTrigger: value('DISTANCE') }),
      'good: no warnings',
      'good: keine Warnungen',
    ],
    [
      severalReading(['windows', 'doors'], [windows('frontLeft', 'rearRight'), doors(false)], []),
      'attention: 2 windows open, unlocked',
      'attention: 2 Fenster offen, nicht verriegelt',
    ],
    [
      severalReading(['doors', 'windows'], [doors(true), windows()], []),
      'good: locked, all windows closed',
      'good: verriegelt, alle Fenster geschlossen',
    ],
    [
      severalReading(
        ['fuelAmount', 'odometer'],
        [reading('fuelAmount', value(38, 'liters'))],
        [{ read: 'odometer', code: 'TIMEOUT', message: '' }],
      ),
      'attention: Fuel amount: 38 l, 1 failed',
      'attention: Kraftstoffmenge: 38 l, 1 fehlgeschlagen',
    ],
    [
      severalReading(
        ['externalTemp', 'oilLevel', 'averageSpeed', 'doors'],
        [
          reading('externalTemp', value(-14, 'celsius')),
          reading('oilLevel', value('NORMAL')),
          reading('averageSpeed', value(147, 'km/h')),
          doors(true),
        ],
        [],
      ),
      'good: Outside temperature: -14 °C, Oil level: normal, locked',
      'good: Außentemperatur: -14 °C, Ölstand: normal, verriegelt',
    ],
  ];
  for (const [one, english, german] of cases) {
    it(`is ${JSON.stringify(english)} for ${[one.vehicle.read].flat().join(' and ')}`, () => {
      assert.equal(say(one), english);
      assert.equal(say(one, 'de'), german);
    });
  }

  it('has a text for every word that the service is known to use', () => {
    const missing = readNames.flatMap((read) => {
      const type = valueTypeOf(read);
      const words: readonly string[] = type !== undefined && 'values' in type ? type.values : [];
      return words.filter((word) => {
        const key = `reading.word.${word}`;
        return ['en-US', 'de', 'fr', 'nb', 'nl', 'sv'].some((language) => wordsIn(language).say(key) === key);
      });
    });
    assert.deepEqual(missing, []);
  });

  it('never holds where the car is', () => {
    const place = { latitude: 57.688, longitude: 11.968, altitude: 3, heading: 220, timestamp: at };
    assert.equal(say(reading('location', place)), 'good: position known');
    assert.equal(say(reading('location', { ...place, latitude: null, longitude: null })), null);
  });

  it('is unknown, and no exception, for a payload of any kind', () => {
    for (const read of readNames)
      for (const payload of [null, undefined, {}, 'x', 7, { value: null }, { value: [] }, { frontLeft: null }])
        assert.equal(say(reading(read, payload))?.startsWith('attention') ?? false, false, read);
  });
});
