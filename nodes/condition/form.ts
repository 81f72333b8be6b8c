import {
  choicesOf,
  isSource,
  rowsIn,
  say,
  textOfOperand,
  titleOfValue,
  type,
  unitOf,
  unitText,
  validateRows,
  type Row,
} from './common';
import type { ConditionOptions } from './options';

const { conditionValue, isRecord, sharedText, ...shared } = connectedVehicle;

/** Comparisons that a label shows as a sign. */
const signs: Partial<Record<string, string>> = { '<': '<', '<=': '≤', '>': '>', '>=': '≥', '=': '=' };

/** A row in words: “Battery level < 30 %”. Empty for one that is not finished. */
function textOfRow(row: Row): string {
  const { value: name = '', operator = '', operand } = row;
  const value = conditionValue(name);
  const choices = value && operator !== 'older than' ? choicesOf(value) : [];
  const items = isRecord(operand) ? [operand['name']] : textOfOperand(row).split(',');
  const text = isSource(row)
    ? `${row.operandType}.${String(operand)}`
    : items.map((item) => choices.find((choice) => choice.value === item)?.label ?? String(item)).join(', ');
  if (value === undefined || operator === '' || text === '') return '';
  const compared = signs[operator] ?? say(`operator.${operator}`);
  const lasting = Number(row.forMinutes) > 0 ? ` (≥ ${Number(row.forMinutes)} min)` : '';
  return (
    `${titleOfValue(name)} ${compared} ${text} ${isSource(row) ? '' : unitText(unitOf(row, value))}`.trim() + lasting
  );
}

function labelOfRows(rows: readonly Row[]): string {
  const first = textOfRow(rows[0] ?? {});
  return first === '' ? say('palette.name') : first + (rows.length > 1 ? ', …' : '');
}

RED.nodes.registerType<ConditionOptions>('connected-vehicle-condition', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-condition.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    vin: { value: '', validate: shared.validateTypedVin },
    vinType: { value: 'str' },
    match: { value: 'all' },
    conditions: {
      value: [],
      validate(value, _opt) {
        return value === undefined || validateRows(rowsIn(value), this.vehicle);
      },
    },
    payload: { value: 'unchanged' },
    maxAge: { value: 0, validate: (value, _opt) => shared.validateWhole(value, 0, 86_400) },
  },
  inputs: 1,
  outputs: 3,
  inputLabels: () => say('port.input'),
  outputLabels: (port) => say(`port.${['yes', 'no', 'unknown'][port]}`),
  paletteLabel: () => say('palette.name'),
  label() {
    return this.name || shared.labelOf(this.vehicle, labelOfRows(rowsIn(this.conditions)));
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, `${say('palette.search')} ${sharedText('search.words')}`),
  onadd: shared.giveVehicle,
  oneditprepare: shared.openForm(() => import('./dialog')),
  oneditsave: shared.saveForm,
});
