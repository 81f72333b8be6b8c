import { strict as assert } from 'node:assert';
import facts from '../fixtures/home-assistant.json';

/** One entity of a discovery message. */
export type Entity = Record<string, unknown>;

/** The classes of Home Assistant: which units and state classes each sensor may have. */
const sensors = new Map(Object.entries<{ units: readonly (string | null)[]; state_classes: string[] }>(facts.sensor));
const platforms = new Map(Object.entries<{ required: string[]; optional: string[] }>(facts.platforms));

/**
 * Whether a device class is one of Home Assistant's, and goes with the unit and the state class.
 */
export function assertClasses(platform: string, { device_class, state_class, unit_of_measurement }: Entity): void {
  const named = device_class as string | undefined;
  if (platform === 'binary_sensor') {
    assert.ok(named === undefined || facts.binary_sensor.includes(named), named);
    return;
  }
  if (platform !== 'sensor') return;
  const stateClass = state_class as string | undefined;
  assert.ok(stateClass === undefined || facts.state_classes.includes(stateClass), stateClass);
  if (named === undefined) return;
  const row = sensors.get(named) ?? assert.fail(`${named} is no device class`);
  assert.ok(
    row.units.includes((unit_of_measurement as string | undefined) ?? null),
    `${named} in ${unit_of_measurement}`,
  );
  assert.ok(stateClass === undefined || row.state_classes.includes(stateClass), `${named} as ${stateClass}`);
}

/** A discovery message of a device as Home Assistant's schema wants it. @returns its entities */
export function checkedDiscovery(topic: string, text: string): Map<string, Entity> {
  assert.match(topic, new RegExp(facts.topic));
  const message = JSON.parse(text) as Record<string, unknown>;
  const allowed = new Set([...facts.device.required, ...facts.device.optional]);
  assert.deepEqual(
    Object.keys(message).filter((key) => !allowed.has(key)),
    [],
  );
  assert.deepEqual(
    facts.device.required.filter((key) => !(key in message)),
    [],
  );
  assert.ok((message['device'] as { identifiers: string[] }).identifiers.every((id) => id.length > 0));
  assert.equal(typeof (message['origin'] as { name: unknown }).name, 'string');
  const entities = new Map(Object.entries(message['components'] as Record<string, Entity>));
  for (const [name, entity] of entities) assertEntity(name, entity);
  for (const key of ['unique_id', 'default_entity_id'])
    assert.equal(new Set([...entities.values()].map((entity) => entity[key])).size, entities.size, key);
  return entities;
}

function assertEntity(name: string, entity: Entity): void {
  const platform = String(entity['platform']);
  const { required, optional } = platforms.get(platform) ?? assert.fail(`${name}: ${platform}`);
  const allowed = new Set([...facts.shared, ...required, ...optional]);
  assert.deepEqual(
    Object.keys(entity).filter((key) => !allowed.has(key)),
    [],
    name,
  );
  assert.deepEqual(
    required.filter((key) => typeof entity[key] !== 'string'),
    [],
    name,
  );
  for (const [key, value] of Object.entries(entity))
    if (key.endsWith('_topic')) assert.doesNotMatch(String(value), /[#+\0]|^$/, `${name}: ${key}`);
  assert.match(String(entity['unique_id']), /^[\w-]+$/);
  assert.match(String(entity['default_entity_id']), new RegExp(facts.entityId));
  assert.ok(String(entity['default_entity_id']).startsWith(`${platform}.`), name);
  assert.ok(String(entity['name']).length > 0);
  assertClasses(platform, entity);
}
