import { isFromList, say, titleOfRead, type } from './common';
import type { StatusOptions } from './options';

const { sharedText, ...shared } = connectedVehicle;

/** Names the reads of a node: by a title, the first two of several, or the name of its type. */
function labelOfReads({ read = 'windows', readType = 'str', reads = [] }: Partial<StatusOptions>): string {
  if (read !== 'several') return readType === 'str' ? titleOfRead(read) : say('palette.name');
  const titles = reads.slice(0, 2).map(titleOfRead);
  return [...titles, ...(reads.length > 2 ? ['…'] : [])].join(', ') || say('palette.name');
}

RED.nodes.registerType<StatusOptions>('connected-vehicle-status', {
  category: 'connected vehicle',
  categoryDescription: '@connected-vehicle/node-red/connected-vehicle-status:category',
  color: '#90B8BC',
  icon: 'connected-vehicle-status.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    vin: { value: '', validate: shared.validateTypedVin },
    vinType: { value: 'str' },
    read: {
      value: 'windows',
      label: say('label.read'),
      // In the open form, the list below has the value and the field is empty.
      validate: shared.validateTyped('read', (value) => isFromList() || value !== '' || say('noReads')),
    },
    readType: { value: 'str' },
    reads: {
      value: [],
      validate(value, _opt) {
        return this.read !== 'several' || (value ?? '').length > 0 || say('noReads');
      },
    },
    interface: { value: 'auto' },
    poll: {
      value: 0,
      validate(value, _opt) {
        const isAsked = ['vin', 'read'].some((name) => shared.typeOf(this, name) === 'msg');
        return isAsked && Number(value) > 0 ? say('reason.pollMessage') : shared.validatePoll.call(this, value, _opt);
      },
    },
    payload: { value: 'object' },
    emit: { value: 'always' },
  },
  inputs: 1,
  outputs: 1,
  inputLabels: () => say('port.input'),
  outputLabels: () => say('port.output'),
  paletteLabel: () => say('palette.name'),
  label() {
    return this.name || shared.labelOf(this.vehicle, labelOfReads(this));
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, `${say('palette.search')} ${sharedText('search.words')}`),
  onadd: shared.giveVehicle,
  oneditprepare: shared.openForm(() => import('./dialog')),
  oneditsave: shared.saveForm,
});
