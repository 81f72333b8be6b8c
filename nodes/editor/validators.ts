import {
  addressFault,
  memberOf,
  normalVin,
  parseJson,
  parsePlace,
  placeInTariff,
  vinPattern,
  wallboxPattern,
  type Place,
} from '../../src/index';
import { completePlaces } from './forms';
import { nodesOf } from './node-reads';
import { sharedText } from './texts';

/** True, or the reason in words. The editor treats `${NAME}` as valid before it asks. */
export type Validity = true | string;

/** docs/internals/contract.md 2. Empty: it is named elsewhere. */
export const validateVin = (value = ''): Validity => {
  const vin = normalVin(value);
  return vin === '' || vinPattern.test(vin) || sharedText('reason.vin');
};

/** Empty: there is none. */
export const validateWallbox = (value = ''): Validity => {
  const id = normalVin(value);
  return id === '' || wallboxPattern.test(id) || sharedText('reason.wallbox');
};

/** @param named places of the vehicle configuration, which they can name */
export const validatePlaces = (places: readonly unknown[], named: readonly Place[]): Validity =>
  places
    .map(
      (place) =>
        parsePlace(place, named) !== null ||
        sharedText(typeof place === 'string' && place !== '' ? 'reason.noPlace' : 'reason.place', { place }),
    )
    .find((reason) => reason !== true) ?? true;

/** The places of a tariff that is written as JSON; the field itself marks what is not JSON. */
export const validateTariff = (tariff: unknown, places: unknown): Validity => {
  const asked = memberOf(parseJson(String(tariff)), 'places');
  return !Array.isArray(asked) || validatePlaces(asked.map(placeInTariff), completePlaces(places));
};

/** `value` is text in a form, a number in a stored node, or missing: then the default holds. */
export const validateWhole = (value: string | number | undefined, minimum: number, maximum = Infinity): Validity => {
  if (value === undefined) return true;
  const number = String(value).trim() === '' ? NaN : Number(value);
  if (Number.isInteger(number) && number >= minimum && number <= maximum) return true;
  return sharedText(maximum === Infinity ? 'reason.atLeast' : 'reason.between', { minimum, maximum });
};

/** docs/internals/contract.md 2: https, or http on a loopback address; nothing else. */
export function validateAddress(value = '', options: Parameters<typeof addressFault>[1] = {}): Validity {
  const fault = addressFault(value.trim(), options);
  return fault === null || sharedText(`reason.${fault}`);
}

/** Names a credential that is missing. The editor knows them after `loadCredentials`. */
export function validateCredentials({ credentials: known }: Pick<EditorNode<object>, 'credentials'>): Validity {
  // An import may hold the values themselves.
  const has = (name: string): boolean => Boolean(known?.[`has_${name}`] || known?.[name]);
  if (known === undefined) return true;
  if (!has('apiKey')) return sharedText('cause.API_KEY_MISSING');
  return ['accessToken', 'clientId'].some(has) || sharedText('cause.NOT_SIGNED_IN');
}

/**
 * The editor loads the credentials of a configuration when its form opens, and forgets them with a
 * deploy. Loaded as the form does, but at once, they give the red triangle to a configuration and
 * its nodes that lack one.
 */
export function loadCredentials(): void {
  RED.nodes.eachConfig((car) => {
    if (car.type !== 'connected-vehicle' || (car.service ?? 'demo') === 'demo') return;
    void $.getJSON(`credentials/${car.type}/${car.id}`, (found: Record<string, unknown>) => {
      // A form that opened in the meantime has loaded them.
      car.credentials ??= { ...found, _: found };
      for (const node of [car, ...nodesOf(car.id)]) RED.editor.validateNode(node);
      RED.view.redraw();
    });
  });
}

/**
 * The validator of the property `vehicle`: why the node cannot work, in the words of its status.
 */
export function validateVehicle(
  this: EditorNode<{ vehicle: string }> & { vin?: string },
  value: string | undefined,
  _opt: unknown,
): Validity {
  // Such a node uses the vehicle that sent the command.
  if (this.type === 'connected-vehicle-command-status' && (!value || value === '_ADD_')) return true;
  const car = RED.nodes.node(value ?? '');
  if (!car || car.d === true) return sharedText('cause.NO_VEHICLE');
  if (car.valid === false) return (car.validationErrors ?? []).join(', ');
  // No message can name the car of these nodes.
  const isStarted = ['connected-vehicle-guard', 'connected-vehicle-event'].includes(this.type);
  const isKnown = (car.service ?? 'demo') === 'demo' || Boolean(car.vin?.trim() || this.vin?.trim());
  return !isStarted || isKnown || sharedText('cause.NO_CAR');
}
