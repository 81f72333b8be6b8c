import { demoCars, startDemo } from '../../src/simulator';
import { clock, vendorDemoCar } from './answers';

/** The answers of the demo cars beside those of the vendor's own demo car, member by member. */

export type DemoCar = keyof typeof demoCars;

/**
 * A member of an answer: what the vendor's demo car gives, and what each car of the demo gives.
 * Undefined: it lacks the member.
 */
export interface MemberRow extends Record<DemoCar, unknown> {
  /** The end of the path: `/doors`. */
  path: string;
  /** With dots: `images.exteriorImageUrl`. */
  member: string;
  recorded: unknown;
}

/** Every member of every answer that was recorded, and those that only a demo car has. */
export async function demoRows(): Promise<MemberRow[]> {
  const demo = await startDemo({ clock });
  const ask = async (path: string, car: DemoCar): Promise<unknown> => {
    const response = await fetch(demo.url + path.replace('{vin}', demoCars[car].vin), {
      headers: { authorization: 'Bearer demo-token', 'vendor-api-key': 'demo-key', accept: 'application/json' },
    });
    return response.json();
  };
  try {
    const rows: MemberRow[] = [];
    for (const { path, body } of vendorDemoCar.answers) {
      const members = {
        recorded: membersOf(body),
        petrol: membersOf(await ask(path, 'petrol')),
        electric: membersOf(await ask(path, 'electric')),
      };
      for (const member of new Set(Object.values(members).flatMap((each) => [...each.keys()])))
        rows.push({
          path: path.split('{vin}')[1] ?? '/vehicles',
          member,
          recorded: members.recorded.get(member),
          petrol: members.petrol.get(member),
          electric: members.electric.get(member),
        });
    }
    return rows;
  } finally {
    await demo.close();
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value with its time or its status, or the answer whether the car has it, is one member. */
const isLeaf = (value: Fields): boolean =>
  ['timestamp', 'updatedAt', 'status', 'isSupported'].some((key) => key in value) &&
  !Object.values(value).some(isFields);

function membersOf(value: unknown, name = '', found = new Map<string, unknown>()): Map<string, unknown> {
  if (!isFields(value) || (name !== '' && isLeaf(value))) return found.set(name, value);
  for (const [key, member] of Object.entries(value)) membersOf(member, name === '' ? key : `${name}.${key}`, found);
  return found;
}

/**
 * What a member is made of, without its value: the names, the kinds of values, the units and
 * the digits of times.
 */
export function formOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(formOf))].join(', ')}]`;
  if (isFields(value)) {
    const keys = Object.keys(value).sort();
    return `{ ${keys.map((key) => `${key}: ${key === 'unit' ? String(value[key]) : formOf(value[key])}`).join(', ')} }`;
  }
  if (typeof value !== 'string') return value === null ? 'null' : typeof value;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?Z$/.exec(value);
  if (time !== null) return `time with ${time[1]?.length ?? 0} digits`;
  if (/^https?:/.test(value)) return 'address';
  return /^[A-Z][A-Z_]*(\/[A-Z_]+)?$/.test(value) ? 'word' : 'text';
}
