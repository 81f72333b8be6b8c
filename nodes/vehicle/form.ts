import type { VehicleCredentials, VehicleOptions } from './options';
import type { Validity } from '../editor/validators';

const {
  commandAccess,
  defaultAccess,
  interfaceNames,
  listOf,
  loadCredentials,
  validateAddress,
  validateCredentials,
  validateRedirectUrl,
  configField: field,
  labelStyle,
  part,
  readAccess,
  prepareDialog,
  saveProperties,
  sharedText: say,
  shortVin,
  showProperties,
  textOf,
  vinPattern,
  validateVin,
  validateWhole,
} = connectedVehicle;

/** The service that the open form shows, or that the node holds. */
const serviceOf = (node: Partial<VehicleOptions>): string => String(field('service').val() ?? node.service ?? 'demo');

/** A field that only `custom` shows is validated only there: a hidden field never makes a node invalid. */
const ifCustom = (node: Partial<VehicleOptions>, validate: () => Validity): Validity =>
  serviceOf(node) !== 'custom' || validate();

/** A header's name, or a part of one. */
const validateWord = (node: Partial<VehicleOptions>, word = '', reason: string): Validity =>
  ifCustom(node, () => /^[A-Za-z0-9-]*$/.test(word.trim()) || reason);

/** A configuration without a sign-in address has pasted tokens only (docs/internals/contract.md 2). */
const validateSignInAddress = (node: Partial<VehicleOptions>, address = ''): Validity =>
  ifCustom(node, () => address.trim() === '' || validateAddress(address, { mayHaveQuery: true }));

/** Client ID and client secret: nobody signs in without them. A pasted access token needs neither. */
const validateClient = (node: Partial<VehicleOptions>, value = ''): Validity =>
  serviceOf(node) !== 'volvo-cars' || value.trim() + textOf(field('accessToken')) !== '' || say('reason.client');

/** A checkbox for each name of a list. */
function showList(
  list: 'access' | 'interfaces',
  names: readonly string[],
  chosen: readonly string[],
  into = list as string,
): void {
  part(into).append(
    names.map((name) =>
      $('<label>').append(
        $('<input type="checkbox">').val(name).prop('checked', chosen.includes(name)),
        $('<span>').text(say(`${list}.${name}`)),
      ),
    ),
  );
}

/** With *Read-only* the commands are grey. Their ticks stay, because the scopes to publish with are made from them. */
const showReadOnly = (): void =>
  void part('accessCommands').find('input').prop('disabled', field('readOnly').is(':checked'));

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name) => other.includes(name));

/** Shows what the chosen service needs, and nothing else. */
function showService(): void {
  const service = textOf(field('service'));
  $('.car-form [data-services]').each((_, rows) => {
    $(rows).toggle(String($(rows).data('services')).split(' ').includes(service));
  });
  part('service').text(say(`serviceHint.${service}`, { defaultValue: '' }));
  RED.tray.resize();
}

RED.events.on('flows:loaded', loadCredentials);
RED.events.on('deploy', loadCredentials);

/** Each language in its own words, as the browser names it. */
function showLanguages(chosen = ''): void {
  const names = (['de', 'en', 'fr', 'nl', 'nb', 'sv'] as const).map((language): [string, string] => {
    const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
    return [language === 'en' ? 'en-US' : language, name.charAt(0).toUpperCase() + name.slice(1)];
  });
  field('language')
    .append(names.map(([language, name]) => new Option(name, language)))
    .val(chosen);
}

RED.nodes.registerType<VehicleOptions, VehicleCredentials>('connected-vehicle', {
  category: 'config',
  color: '#90B8BC',
  icon: 'connected-vehicle.svg',
  defaults: {
    name: { value: '' },
    service: { value: 'demo' },
    demoCar: { value: 'petrol' },
    baseUrl: {
      value: '',
      validate(value, _opt) {
        return ifCustom(this, () => validateAddress(value));
      },
    },
    apiKeyHeader: {
      value: 'vendor-api-key',
      validate(value, _opt) {
        return validateWord(this, value, say('reason.apiKeyHeader'));
      },
    },
    mediaTypeVendor: {
      value: 'vendor',
      validate(value, _opt) {
        return validateWord(this, value, say('reason.mediaTypeVendor'));
      },
    },
    authorizeUrl: {
      value: '',
      validate(value, _opt) {
        return validateSignInAddress(this, value);
      },
    },
    tokenUrl: {
      value: '',
      validate(value, _opt) {
        return validateSignInAddress(this, value);
      },
    },
    redirectUrl: {
      value: '',
      validate(value, _opt) {
        return serviceOf(this) === 'demo' || validateRedirectUrl(value);
      },
    },
    vin: { value: '', validate: (value, _opt) => validateVin(value) },
    readOnly: { value: false },
    access: {
      // Where the property is missing, `defaultAccess` holds; a new configuration also asks for charging and position.
      value: ['lock', 'unlock', 'honk-flash', 'charging', 'location'],
      // A property without a field of its own: the form marks the fields of the credentials.
      validate(_value, _opt) {
        return serviceOf(this) === 'demo' || validateCredentials(this);
      },
    },
    interfaces: {
      value: ['connected-v2', 'connected-v1', 'extended-v1', 'energy-v2', 'location-v1'],
      validate(value, _opt) {
        return ifCustom(this, () => value?.length !== 0 || say('reason.interfaces'));
      },
    },
    requestsPerDay: { value: 10000, validate: (value, _opt) => validateWhole(value, 1) },
    requestsPerMinute: { value: 100, validate: (value, _opt) => validateWhole(value, 1) },
    commandsPerMinute: { value: 10, validate: (value, _opt) => validateWhole(value, 1) },
    shareFor: { value: 5, validate: (value, _opt) => validateWhole(value, 0) },
    polling: { value: 'fixed' },
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
    clientId: {
      type: 'text',
      validate(value, _opt) {
        return validateClient(this, value);
      },
    },
    clientSecret: {
      type: 'password',
      validate(value, _opt) {
        return validateClient(this, value);
      },
    },
    refreshToken: { type: 'password' },
  },
  paletteLabel: () => say('palette.name'),
  label() {
    const vin = this.vin?.trim().toUpperCase() ?? '';
    const service = say(`service.${this.service ?? 'demo'}`, { defaultValue: this.service });
    return this.name || (vinPattern.test(vin) ? `${service} ${shortVin(vin)}` : service);
  },
  labelStyle,
  oneditprepare() {
    showProperties(this, field);
    const chosen = this.access ?? defaultAccess;
    showList('access', readAccess, chosen, 'accessReads');
    showList('access', commandAccess, chosen, 'accessCommands');
    field('readOnly').on('change', showReadOnly);
    showReadOnly();
    showList('interfaces', interfaceNames, this.interfaces ?? interfaceNames);
    field('service').on('change', showService);
    showLanguages(this.language);
    prepareDialog(this);
  },
  oneditsave() {
    const access = listOf('access');
    const interfaces = listOf('interfaces');
    // A list that the node lacks and that still shows its default stays away, so that closing a form changes nothing.
    if (!isSameList(access, this.access ?? defaultAccess)) this.access = access;
    if (!isSameList(interfaces, this.interfaces ?? interfaceNames)) this.interfaces = interfaces;
    saveProperties(this, field);
  },
});
