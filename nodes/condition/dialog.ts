import { unitOf as unitOfSystem, unitsBeside } from '../../src/index';
import { choose, namedPlaces, nodeField as field, optionElements, part, saveProperties, textOf } from '../editor/forms';
import { addPlaceChoice, textOfPlace } from '../editor/places';
import { askCar, errorText, type Refusal } from '../editor/runtime-request';
import { matches } from '../editor/search';
import { beginAnswer, clearAnswer, lineOf } from '../editor/show-values';
import answerStyles from '../editor/show-values.css';
import { addStyles } from '../editor/styles';
import { editorLanguage, sharedText, wordsOf } from '../editor/texts';
import { unitsOfVehicle } from '../editor/units';
import { prepareNode, sources } from '../editor/typed-inputs';
import {
  choicesOf,
  faultOf,
  isSource,
  longest,
  ofStatus,
  rowsIn,
  say,
  textOfOperand,
  titleOfValue,
  unitOf,
  unitText,
  validateRows,
  type Row,
  type Value,
} from './common';
import type { ConditionOptions } from './options';

const { conditionValue, conditionValues, operatorsOf } = connectedVehicle;

addStyles(answerStyles);

const ofEvents = wordsOf('connected-vehicle-event');

type Operand = Pick<Row, 'operand' | 'operandType' | 'unit'>;

/**
 * Adds the unit of the operand, to choose if there are several: that of the value, that of the
 * vehicle configuration, and the unit of the row. The operand of a stored row has the unit with
 * which it was stored, so that it means the same with any configuration.
 */
function addUnit(cell: JQuery, row: Row, value: Value | undefined): () => string | undefined {
  const unit = unitOf(row, value);
  const own = row.operator === 'older than' ? '' : unitOf({}, value);
  const ofVehicle = unitOfSystem(unitsOfVehicle(), own);
  const names = own === '' ? [unit] : [...new Set([own, ofVehicle, unit])];
  if (names.length === 1) {
    if (unit !== '') cell.append($('<span>').text(unitText(unit)));
    return () => undefined;
  }
  const chosen = row.unit || (row.operand ?? '') !== '' ? unit : ofVehicle;
  const select = $('<select style="width: auto">').attr('aria-label', say('label.unit'));
  select.append(optionElements(names.map((name) => ({ value: name, text: unitText(name) })))).val(chosen);
  cell.append(select);
  // A row without a unit has that of the value.
  return () => (textOf(select) === own ? undefined : textOf(select));
}

/** A typed input with the words of the value, or a number with its unit. */
function typedInput(cell: JQuery, row: Row, value: Value | undefined): () => Operand {
  const isAge = row.operator === 'older than';
  const choices = value && !isAge ? choicesOf(value) : [];
  const own = isSource(row) || choices.length === 0 ? [] : textOfOperand(row).split(',').filter(Boolean);
  // A word that is not offered (newer, written by hand) is added, so that saving keeps it.
  const others = own.filter((word) => !choices.some((choice) => choice.value === word));
  choices.push(...others.map((word) => ({ value: word, label: word })));
  const ownType = unitOf(row, value) !== '' && row.operator !== 'between' ? 'num' : 'str';
  const options = { value: 'str', label: '', options: choices, multiple: row.operator === 'one of' };
  const input = $('<input type="text" style="width: 100%">').val(textOfOperand(row));
  if (!isSource(row) && choices.length > 0 && own.length === 0) input.val(choices[0]?.value ?? '');
  cell.append($('<div>').append(input));
  const unit = addUnit(cell, row, value);
  input.typedInput({ types: [choices.length > 0 ? options : ownType, ...sources] });
  input.typedInput('type', isSource(row) ? String(row.operandType) : ownType);
  const named = cell.find('input, button').filter((_, element) => $(element).text() === '');
  named.attr('aria-label', sharedText('label.operand'));
  return () => {
    // One of the types that were set above.
    const operandType = input.typedInput('type') as NonNullable<Row['operandType']>;
    const text = input.typedInput('value').trim();
    const chosen = unit();
    return {
      operand: operandType === 'num' && text !== '' && !Number.isNaN(Number(text)) ? Number(text) : text,
      operandType,
      ...(chosen !== undefined && { unit: chosen }),
    };
  };
}

const isValid = (row: Row): boolean => faultOf(row, textOf(field('vehicle'))) === undefined;

/** The values by theme and title. Openings keep their order, from the front to the rear. */
const valuesByTheme = () =>
  conditionValues().map(([theme, names]) => {
    const values = names.map((value) => ({ value, text: titleOfValue(value) }));
    const isOpenings = theme === 'windows' || theme === 'doors';
    if (!isOpenings) values.sort((one, other) => one.text.localeCompare(other.text, editorLanguage()));
    return { heading: ofStatus(`theme.${theme}`), values };
  });

const valueChoices = (): JQuery[] =>
  valuesByTheme().map(({ heading, values }) => $('<optgroup>').attr('label', heading).append(optionElements(values)));

/** A unit that a changed value does not have becomes that of the vehicle. */
function withUnitOfValue(row: Row): Row {
  const { unit, ...others } = row;
  const own = unitOf({}, conditionValue(row.value ?? ''));
  if (unit === undefined || (own !== '' && unitsBeside(own).includes(unit))) return row;
  const ofVehicle = unitOfSystem(unitsOfVehicle(), own);
  return ofVehicle === own ? others : { ...others, unit: ofVehicle };
}

/**
 * Adds a row to the list: value, operator and operand, each of which follows from the one before.
 * @param choices for the value
 */
function addRow(item: JQuery, row: Row, choices: JQuery[]): void {
  const select = (key: string): JQuery => $('<select>').attr('aria-label', say(`label.${key}`));
  const [value, operator, cell] = [select('value'), select('operator'), $('<div class="operand">')];
  const minutes = $(`<input type="number" min="0" max="${longest}" placeholder="0">`).val(row.forMinutes || '');
  const lasting = $('<label class="lasting">').append(
    say('label.lasting'),
    minutes,
    ofStatus('unit.minutes', { count: 2 }),
  );
  value.append(choices.map((group) => group.clone()));
  const fillOperators = (): readonly string[] => {
    const { type: kind } = conditionValue(textOf(value)) ?? {};
    const names = kind === undefined ? [] : operatorsOf(kind);
    operator.empty().append(optionElements(names.map((name) => ({ value: name, text: say(`operator.${name}`) }))));
    return names;
  };
  let operandOf = (): Operand => row;
  const current = (): Row => {
    const asked = { value: textOf(value), operator: textOf(operator), ...operandOf() };
    const text = asked.operator === 'older than' ? '' : textOf(minutes);
    // A row without it stays as it was stored.
    return text === '' || Number(text) === 0 ? asked : { ...asked, forMinutes: Number(text) };
  };
  const showOperand = (shown: Row): void => {
    const found = conditionValue(shown.value ?? '');
    const isPlace = found?.type.kind === 'position' && shown.operator !== 'older than' && !isSource(shown);
    // A field that is made or removed reports a change.
    operandOf = () => shown;
    cell.empty();
    cell.removeClass('place');
    lasting.toggle(shown.operator !== 'older than');
    if (isPlace) {
      const place = addPlaceChoice(cell, shown.operand);
      operandOf = () => ({ operand: place(), operandType: 'str' });
    } else operandOf = typedInput(cell, shown, found);
  };
  const showAgain = (): void => {
    const now = current();
    if (conditionValue(now.value ?? '')?.type.kind !== 'number') return;
    // Without an operand, the unit is that of the vehicle.
    const { unit: _unit, ...others } = now;
    showOperand((now.operand ?? '') === '' ? others : now);
  };
  item.addClass('condition').append(value, operator, cell, lasting).data('row', current).data('showAgain', showAgain);
  // Node-RED sets no name for its link.
  item.siblings('.red-ui-editableList-item-remove').attr('aria-label', ofEvents('label.remove'));
  choose(value, row.value ?? 'batteryChargeLevel');
  fillOperators();
  if (row.operator !== undefined) choose(operator, row.operator);
  showOperand({ ...current(), ...row });
  value.on('change', () => {
    const before = textOf(operator);
    if (fillOperators().includes(before)) operator.val(before);
  });
  value.add(operator).on('change', () => {
    const now = withUnitOfValue(current());
    showOperand(isSource(now) || isValid(now) ? now : { ...now, operand: '' });
  });
}

/** Puts the value that was found into a row that has no operand yet, or into a new one. */
function offerSearch(list: JQuery): void {
  const values = valuesByTheme().flatMap(({ heading, values: ofTheme }) =>
    ofTheme.map(({ value: name, text: title }) => ({
      name,
      title,
      text: `${heading} ${title} ${name} ${unitText(unitOf({}, conditionValue(name)))}`,
    })),
  );
  const add = (): void => {
    const name = values.find(({ title }) => title === textOf(part('search')))?.name;
    if (name === undefined) return;
    part('search').val('');
    if (rowsOf().at(-1)?.operand !== '') list.editableList('addItem', { value: name });
    else list.find('.condition').last().find('select').first().val(name).trigger('change');
  };
  part('search')
    .autoComplete({
      search(typed) {
        const found = values.filter(({ text }) => matches(text, typed));
        return (found.length > 0 ? found : values).map(({ title }) => ({ value: title, label: title }));
      },
    })
    .on('change', add)
    // With this key the editor takes the first one, and reports no change.
    .on('keyup', ({ key }) => key === 'Enter' && add());
}

const rowsOf = (): Row[] =>
  part('conditions')
    .editableList('items')
    .get()
    .map((item) => ($(item).data('row') as () => Row)()); // Stored with the row.

/** A hand-written row has a number or a place in other forms than a field. */
const textOfRows = (rows: readonly Row[]): string =>
  JSON.stringify(
    rows.map((row) => {
      const { value, operator, operand = '' } = row;
      const isPlace = typeof operand === 'object' && !Array.isArray(operand);
      const text = isPlace ? textOfPlace(operand) : textOfOperand(row);
      return [value, operator, text, isSource(row) ? row.operandType : '', row.unit ?? '', row.forMinutes || 0];
    }),
  );

/** One character for each of the three answers, as the outputs have them. */
const marks: Readonly<Record<string, string>> = { true: '✓', false: '✗', null: '?' };

/** A named place gets its coordinates: the configuration need not be deployed as it is. */
function withPlace(row: Row): Row {
  const place = namedPlaces(textOf(field('vehicle'))).find(({ name }) => name === row.operand);
  const isPlace = conditionValue(row.value ?? '')?.type.kind === 'position' && !isSource(row);
  return place && isPlace ? { ...row, operand: place } : row;
}

/** Checks what the form holds, and shows each value with its result. */
function checkNow(): void {
  const show = beginAnswer();
  askCar<{ result: boolean | null; lines: { result: boolean | null; text: string }[]; errors: Refusal[] }>(
    'conditions',
    { match: textOf(field('match')), conditions: rowsOf().map(withPlace) },
    ({ result = null, lines = [], errors = [], error }) => {
      if (error) return show(() => [lineOf(errorText(error))], true);
      const port = result === null ? 'unknown' : result ? 'yes' : 'no';
      show(() => [
        $('<strong>').text(say(`port.${port}`)),
        ...lines.map((line) => lineOf(`${marks[String(line.result)]} ${line.text}`)),
        ...errors.map((refusal) => lineOf(errorText(refusal)).addClass('warning')),
      ]);
    },
  );
}

const showReason = (): void => {
  // A field that has the focus still reports its change while the form is removed.
  if (part('conditions').editableList('instance') === undefined) return;
  const reason = validateRows(rowsOf(), textOf(field('vehicle')));
  part('reason').text(reason === true ? '' : reason);
  $('[data-ask=conditions]').prop('disabled', reason !== true);
  clearAnswer();
};

export function prepare(node: EditorNode<ConditionOptions>): void {
  prepareNode(node);
  const choices = valueChoices();
  const list = part('conditions').editableList({
    addButton: say('label.add'),
    height: 'auto',
    removable: true,
    sortable: true,
    addItem: (item: JQuery, _index: number, row: Row) => addRow(item, row, choices),
    removeItem: showReason,
  });
  const rows = rowsIn(node.conditions);
  // A new node begins with a row, which is not stored while it is empty.
  list.editableList('addItems', rows.length > 0 ? rows : [{}]);
  let units = unitsOfVehicle();
  field('vehicle').on('change', () => {
    if (units === unitsOfVehicle()) return;
    units = unitsOfVehicle();
    // An operand may have another unit there. `addRow` stores the function with the row.
    list.editableList('items').each((_, item) => ($(item).data('showAgain') as () => void)());
  });
  part('conditions').add(field('vehicle')).on('change', showReason);
  part('conditions').on('keyup', showReason);
  for (const name of ['match', 'vin']) field(name).on('change', clearAnswer);
  $('[data-ask=conditions]').on('click', checkNow);
  showReason();
  offerSearch(list);
}

export function save(node: EditorNode<ConditionOptions>): void {
  const rows = rowsOf();
  const kept = rowsIn(node.conditions);
  // The row that a new node begins with.
  const isUntouched = kept.length === 0 && rows.length === 1 && rows[0]?.operand === '';
  if (!isUntouched && textOfRows(rows) !== textOfRows(kept)) node.conditions = rows as ConditionOptions['conditions'];
  saveProperties(node, field);
}
