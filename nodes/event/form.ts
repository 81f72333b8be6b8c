import { say, type, validateEventPlaces } from './common';
import type { EventOptions } from './options';

const { memberOf, sharedText, ...shared } = connectedVehicle;

/** The event that a node waits for, with its place: “Arrived at Home”. */
function labelOfEvents({ events: [event, ...others] = [], places = [] }: Partial<EventOptions>): string {
  if (event === undefined || others.length > 0) return say('palette.name');
  const [place, ...more] = (Array.isArray(places) ? places : []).map((one) =>
    typeof one === 'string' ? one : memberOf(one, 'name'),
  );
  const isOne = shared.hasPlace(event) && typeof place === 'string' && place !== '' && more.length === 0;
  return isOne ? say(`at.${event}`, { place }) : say(`event.${event}`);
}

RED.nodes.registerType<EventOptions>('connected-vehicle-event', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-event.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    vin: { value: '', validate: shared.validateTypedVin },
    vinType: { value: 'str' },
    events: {
      value: [],
      validate: (value, _opt) => value === undefined || value.length > 0 || say('reason.nothing'),
    },
    level: { value: 20, validate: shared.validateTyped('level', (value) => shared.validateWhole(value, 1, 100)) },
    levelType: { value: 'num' },
    step: { value: 10, validate: (value, _opt) => shared.validateWhole(value, 1, 50) },
    places: {
      value: [],
      validate(value, _opt) {
        return validateEventPlaces(this.events ?? [], value ?? [], this.vehicle);
      },
    },
    hours: { value: 'always' },
    quietHours: { value: '', validate: shared.validateHours },
    timeZone: { value: '', validate: shared.validateTimeZone },
    poll: { value: 120, validate: shared.validatePoll },
  },
  inputs: 1,
  outputs: 1,
  inputLabels: () => say('port.input'),
  outputLabels: () => say('port.output'),
  paletteLabel: () => say('palette.name'),
  label() {
    return this.name || shared.labelOf(this.vehicle, labelOfEvents(this));
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, `${say('palette.search')} ${sharedText('search.words')}`),
  onadd: shared.giveVehicle,
  oneditprepare: shared.openForm(() => import('./dialog')),
  oneditsave: shared.saveForm,
});
