import {
  isRecord,
  memberOf,
  lockState,
  openingKeys,
  openings,
  openingState,
  positionOf,
  type Reading,
  type ReadName,
  unitInWords,
} from '../../src/index';

/** A value as a flow read it last. Times are ISO-8601. */
export interface ShownValue {
  /** Null: the car or the service does not report it. */
  value: string | number | boolean | null;
  unit: string | null;
  /** When the car reported it; null if the service has no time. */
  measuredAt: string | null;
  receivedAt: string;
}

/** Single values, by the names of their reads, which are also their names in a group. */
const singles = [
  'engineRunning',
  'fuelAmount',
  'distanceToEmpty',
  'batteryChargeLevel',
  'electricRange',
  'chargingStatus',
  'chargerConnectionStatus',
  'estimatedChargingTimeToTargetBatteryChargeLevel',
  'odometer',
] as const;

type OpeningKey = keyof typeof openings;
export type ShownName = OpeningKey | (typeof singles)[number] | 'availability' | 'model' | 'location';
/** The position is `latitude/longitude` in degrees. */
export type ShownValues = Partial<Record<ShownName, ShownValue>>;

const maxText = 60;

/**
 * Calls back with each value of a reading that the tab shows; the rest of it is not kept.
 * @param known the values before it
 */
export function eachShownValue(
  read: ReadName,
  { payload, vehicle }: Reading,
  known: ShownValues,
  call: (name: ShownName, shown: ShownValue) => void,
): void {
  if (!isRecord(payload)) return;
  const put = (name: ShownName, member: unknown): void => {
    if (!isRecord(member)) return;
    if (member['reason'] === 'NOT_SUPPORTED') return call(name, absentAt(vehicle.receivedAt));
    call(name, {
      value: valueOf(name, member['value']),
      unit: unitInWords(member['unit']),
      measuredAt: textOf(member['timestamp']),
      receivedAt: vehicle.receivedAt,
    });
  };
  const putSingle = (name: string, member: unknown): void => {
    // `frontLeftWindowOpen` and `carLocked` are openings.
    const opening = name.endsWith('Open') ? name.slice(0, -'Open'.length) : name;
    if (isOpening(opening)) put(opening, member);
    else if (isSingle(name)) put(name, member);
  };

  if (read === 'windows' || read === 'doors') {
    for (const key of keysOf[read]) {
      const { name } = openings[key];
      if (!Object.hasOwn(payload, name)) continue;
      if (vehicle.absent?.includes(name) || isWithoutLid(key, payload[name], known))
        call(key, absentAt(vehicle.receivedAt));
      else put(key, payload[name]);
    }
  } else if (read === 'accessibility') {
    // The reason is more exact than UNAVAILABLE, and there is none while the car is available.
    put('availability', { ...payload, value: payload['unavailableReason'] ?? payload['value'] });
  } else if (read === 'location') {
    const position = positionOf(payload);
    put('location', { ...payload, value: position && `${position.latitude}/${position.longitude}` });
  } else if (read === 'details') {
    const { descriptions, modelYear } = payload;
    const model = isRecord(descriptions) ? textOf(descriptions['model']) : null;
    const year = typeof modelYear === 'number' ? String(modelYear) : '';
    if (model !== null) put('model', { value: `${model} ${year}`.trim() });
  } else if (Object.hasOwn(payload, 'value')) {
    putSingle(read, payload);
  } else {
    for (const [name, member] of Object.entries(payload)) putSingle(name, member);
  }
}

const keysIn = (read: 'windows' | 'doors'): OpeningKey[] => openingKeys.filter((key) => openings[key].read === read);
const keysOf = { windows: keysIn('windows'), doors: keysIn('doors') } as const;

const isOpening = (name: string): name is OpeningKey => Object.hasOwn(openings, name);
const isSingle = (name: string): name is (typeof singles)[number] => (singles as readonly string[]).includes(name);

const absentAt = (receivedAt: string): ShownValue => ({ value: 'absent', unit: null, measuredAt: null, receivedAt });

/** A car that has reported a state once has the lid; one without it reports `UNSPECIFIED`. */
const isWithoutLid = (key: OpeningKey, member: unknown, { tankLid: before }: ShownValues): boolean =>
  key === 'tankLid' &&
  memberOf(member, 'value') === 'UNSPECIFIED' &&
  (before === undefined || before.value === 'absent');

/** Only words that are known mean something; any other one is as good as none. */
function valueOf(name: ShownName, value: unknown): ShownValue['value'] {
  if (name === 'carLocked') {
    const state = lockState(value);
    if (typeof value === 'boolean') return value;
    return state === null ? null : state === 'closed';
  }
  if (isOpening(name)) {
    if (typeof value === 'boolean') return value ? 'open' : 'closed';
    return value === 'AJAR' ? 'ajar' : openingState(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'boolean' ? value : textOf(value);
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, maxText) : null;
