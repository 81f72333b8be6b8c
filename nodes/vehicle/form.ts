import type { VehicleCredentials, VehicleOptions } from './options';
import type { Validity } from '../editor/validators';

const { configField: field, sharedText: say, textOf, ...shared } = connectedVehicle;

/** The service that the open form shows, or that the node holds. */
const serviceOf = (node: Partial<VehicleOptions>): string => String(field('service').val() ?? node.service ?? 'demo');

/** A validator of a property: the editor accepts a reason only from one with two parameters. */
type Validate<Value> = (this: Partial<VehicleOptions>, value: Value | undefined, opt: unknown) => Validity;

/** A field that only `custom` shows: a hidden one never makes a node invalid. */
const ifCustom = <Value = string>(validate: (value: Value | undefined) => Validity): Validate<Value> =>
  function (value, _opt) {
    return serviceOf(this) !== 'custom' || validate(value);
  };

/** A header's name, or a part of one. */
const ifWord = (reason: 'apiKeyHeader' | 'mediaTypeVendor'): Validate<string> =>
  ifCustom((word = '') => /^[A-Za-z0-9-]*$/.test(word.trim()) || say(`reason.${reason}`));

/**
 * A configuration without a sign-in address has pasted tokens only (docs/internals/contract.md 2).
 */
const ifSignInAddress = ifCustom(
  (address = '') => address.trim() === '' || shared.validateAddress(address, { mayHaveQuery: true }),
);

/** Client ID and client secret: a sign-in needs both. A pasted access token needs neither. */
const ifClient: Validate<string> = function (value, _opt) {
  const given = (value ?? '').trim() + textOf(field('accessToken'));
  return serviceOf(this) !== 'volvo-cars' || given !== '' || say('reason.client');
};

RED.events.on('flows:loaded', shared.loadCredentials);
RED.events.on('deploy', shared.loadCredentials);
for (const change of ['add', 'change', 'remove']) RED.events.on(`nodes:${change}`, shared.drawLabels);

RED.nodes.registerType<VehicleOptions, VehicleCredentials>('connected-vehicle', {
  category: 'config',
  color: '#90B8BC',
  icon: 'connected-vehicle.svg',
  defaults: {
    name: { value: '' },
    units: { value: 'car' },
    service: { value: 'demo' },
    demoCar: { value: 'petrol' },
    baseUrl: { value: '', validate: ifCustom((value) => shared.validateAddress(value)) },
    apiKeyHeader: { value: 'vendor-api-key', validate: ifWord('apiKeyHeader') },
    mediaTypeVendor: { value: 'vendor', validate: ifWord('mediaTypeVendor') },
    authorizeUrl: { value: '', validate: ifSignInAddress },
    tokenUrl: { value: '', validate: ifSignInAddress },
    redirectUrl: {
      value: '',
      validate(value, _opt) {
        return serviceOf(this) === 'demo' || shared.validateRedirectUrl(value);
      },
    },
    vin: { value: '', validate: (value, _opt) => shared.validateVin(value) },
    wallbox: {
      value: '',
      validate(value, _opt) {
        return serviceOf(this) === 'demo' || shared.validateWallbox(value);
      },
    },
    readOnly: { value: false },
    access: {
      // If the property is missing, `defaultAccess` holds; a new configuration also asks for
      // charging and position.
      value: ['lock', 'unlock', 'honk-flash', 'charging', 'location'],
      // A property without its own field: the form marks the fields of the credentials.
      validate(_value, _opt) {
        return serviceOf(this) === 'demo' || shared.validateCredentials(this);
      },
    },
    moreScopes: {
      value: '',
      validate(value, _opt) {
        return serviceOf(this) === 'demo' || shared.parseScopes(value ?? '') !== null || say('hint.moreScopes');
      },
    },
    interfaces: {
      value: ['connected-v2', 'connected-v1', 'extended-v1', 'energy-v2', 'location-v1', 'energy-device-v1'],
      validate: ifCustom<readonly string[]>((value) => value?.length !== 0 || say('reason.interfaces')),
    },
    requestsPerDay: { value: 10000, validate: (value, _opt) => shared.validateWhole(value, 1) },
    requestsPerMinute: { value: 100, validate: (value, _opt) => shared.validateWhole(value, 1) },
    commandsPerMinute: { value: 10, validate: (value, _opt) => shared.validateWhole(value, 1) },
    shareFor: { value: 5, validate: (value, _opt) => shared.validateWhole(value, 0) },
    polling: { value: 'fixed' },
    tariff: {
      value: '',
      validate(value, _opt) {
        // The open form keeps the places that it shows there.
        return shared.validateTariff(value, shared.part('named').data('places') ?? this.places);
      },
    },
    tariffType: { value: 'num' },
    currency: {
      value: '',
      validate: (value, _opt) => /^([a-z]{3}|\$\{[^}]*\})?$/i.test((value ?? '').trim()) || say('reason.currency'),
    },
    places: {
      value: [],
      validate: (value, _opt) => shared.faultIn([value ?? []].flat()) === null || say('reason.place'),
    },
    language: { value: '' },
  },
  credentials: {
    apiKey: {
      type: 'password',
      validate(value, _opt) {
        return serviceOf(this) === 'demo' || (value?.trim() ?? '') !== '' || say('reason.apiKey');
      },
    },
    accessToken: { type: 'password' },
    clientId: { type: 'text', validate: ifClient },
    clientSecret: { type: 'password', validate: ifClient },
  },
  paletteLabel: () => say('palette.name'),
  label() {
    const vin = shared.normalVin(this.vin);
    const service = say(`service.${this.service ?? 'demo'}`, { defaultValue: this.service });
    return this.name || (shared.vinPattern.test(vin) ? `${service} ${shared.shortVin(vin)}` : service);
  },
  labelStyle: shared.labelStyle,
  oneditprepare: shared.openForm(() => import('./dialog')),
  oneditsave: shared.saveForm,
});
