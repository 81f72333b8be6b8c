import type { VehicleCredentials, VehicleOptions } from './shared/input/options';
import type { Verdict } from './shared/editor/validators';

const {
  addressVerdict,
  configField: field,
  labelStyle,
  part,
  prepareDialog,
  saveProperties,
  shared: say,
  shortVin,
  showProperties,
  textOf,
  vinPattern,
  vinVerdict,
  wholeVerdict,
} = connectedVehicle;

/** The service that the open form shows, or that the node holds. */
const serviceOf = (node: Partial<VehicleOptions>): string => String(field('service').val() ?? node.service ?? 'demo');

/** What only `custom` asks for is judged only there: a hidden field never makes a node invalid. */
const ifCustom = (node: Partial<VehicleOptions>, verdict: () => Verdict): Verdict =>
  serviceOf(node) !== 'custom' || verdict();

/** A header's name, or a part of one. */
const wordVerdict = (node: Partial<VehicleOptions>, word = '', reason: string): Verdict =>
  ifCustom(node, () => /^[A-Za-z0-9-]*$/.test(word.trim()) || reason);

/** Without a sign-in address there is no sign-in, only pasted tokens (contract 2). */
const signInVerdict = (node: Partial<VehicleOptions>, address = ''): Verdict =>
  ifCustom(node, () => address.trim() === '' || addressVerdict(address));

/** Shows what the chosen service needs, and nothing else. */
function showService(): void {
  const service = textOf(field('service'));
  $('.car-form [data-services]').each((_, rows) => {
    $(rows).toggle(String($(rows).data('services')).split(' ').includes(service));
  });
  part('service').text(say(`serviceHint.${service}`, { defaultValue: '' }));
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
        return ifCustom(this, () => addressVerdict(value));
      },
    },
    interfaces: { value: ['connected-v2', 'connected-v1', 'extended-v1', 'energy-v2', 'location-v1'] },
    apiKeyHeader: {
      value: 'vendor-api-key',
      validate(value, _opt) {
        return wordVerdict(this, value, say('reason.apiKeyHeader'));
      },
    },
    mediaTypeVendor: {
      value: 'vendor',
      validate(value, _opt) {
        return wordVerdict(this, value, say('reason.mediaTypeVendor'));
      },
    },
    authorizeUrl: {
      value: '',
      validate(value, _opt) {
        return signInVerdict(this, value);
      },
    },
    tokenUrl: {
      value: '',
      validate(value, _opt) {
        return signInVerdict(this, value);
      },
    },
    redirectUrl: {
      value: '',
      validate(value, _opt) {
        return serviceOf(this) === 'demo' || (value?.trim() ?? '') === '' || addressVerdict(value);
      },
    },
    vin: { value: '', validate: (value, _opt) => vinVerdict(value) },
    access: { value: ['lock', 'unlock', 'honk-flash'] },
    readOnly: { value: false },
    requestsPerDay: { value: 10000, validate: (value, _opt) => wholeVerdict(value, 1) },
    requestsPerMinute: { value: 100, validate: (value, _opt) => wholeVerdict(value, 1) },
    commandsPerMinute: { value: 10, validate: (value, _opt) => wholeVerdict(value, 1) },
    shareFor: { value: 5, validate: (value, _opt) => wholeVerdict(value, 0) },
    polling: { value: 'fixed' },
  },
  credentials: {
    apiKey: {
      type: 'password',
      validate(value, _opt) {
        return serviceOf(this) === 'demo' || (value?.trim() ?? '') !== '' || say('reason.apiKey');
      },
    },
    accessToken: { type: 'password' },
    clientId: { type: 'password' },
    clientSecret: { type: 'password' },
    refreshToken: { type: 'password' },
  },
  paletteLabel: () => say('palette'),
  label() {
    const vin = this.vin?.trim().toUpperCase() ?? '';
    const service = say(`service.${this.service ?? 'demo'}`, { defaultValue: this.service });
    return this.name || (vinPattern.test(vin) ? `${service} ${shortVin(vin)}` : service);
  },
  labelStyle() {
    return labelStyle(this);
  },
  oneditprepare() {
    showProperties(this, field);
    field('service').on('change', showService);
    prepareDialog(this);
  },
  oneditsave() {
    saveProperties(this, field);
  },
});
