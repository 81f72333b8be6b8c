import type { Refusal } from '../editor/runtime-request';
import type { ConditionOptions } from './options';

const { conditionValue, isRecord, nodeField: field, part, sharedText, textOf, wordsOf, ...shared } = connectedVehicle;

const type = 'connected-vehicle-condition';
const say = wordsOf(type);
const ofStatus = wordsOf('connected-vehicle-status');
const ofCars = wordsOf('connected-vehicle-cars');
const ofEvents = wordsOf('connected-vehicle-event');

type Row = Partial<ConditionOptions['conditions'][number]>;
type Value = NonNullable<ReturnType<typeof conditionValue>>;

function titleOfValue(name: string): string {
  const { read, member } = conditionValue(name) ?? { read: name };
  if (member === undefined) return ofStatus(`read.${read}`, { defaultValue: shared.titleOf(read) });
  if (member === 'allClosed') return ofStatus(`theme.${read}`);
  return member === 'locked' ? ofStatus('theme.lock') : ofCars(`part.${shared.openingKeyOf(member, read)}`);
}

const textOfWord = (word: string): string =>
  ofCars(`word.${word}`, {
    defaultValue: ofCars(`state.${word}`, { defaultValue: word.toLowerCase().replace(/_/g, ' ') }),
  });

/** The words that a value can have. */
function choicesOf({ type: kind }: Value): { value: string; label: string }[] {
  if (kind.kind === 'word') return kind.values.map((value) => ({ value, label: textOfWord(value) }));
  if (kind.kind !== 'boolean') return [];
  return (['true', 'false'] as const).map((value) => ({ value, label: textOfWord(kind.words[value]) }));
}

const isSource = (row: Row): boolean => shared.sources.some((source) => source === row.operandType);

/** The rows of a flow file, which anybody may have written: one that is not an object has no value. */
const rowsIn = (stored: unknown): Row[] =>
  Array.isArray(stored) ? stored.map((row: Row | null) => ({ ...row, value: String(row?.value ?? '') })) : [];

/** Why a row cannot be checked; undefined where it can. */
function faultOf(row: Row, vehicle: string | undefined): string | undefined {
  const value = conditionValue(row.value ?? '');
  if (value === undefined) return say('reason.value');
  if (shared.needsOfRead(value.read, shared.serviceInterfaces(vehicle)).scopes.length === 0)
    return say('reason.missing', { title: titleOfValue(value.name) });
  const operator = shared.operatorsOf(value.type).find((one) => one === row.operator);
  if (operator === undefined) return say('reason.operator');
  if (isSource(row)) return row.operand === '' ? sharedText('reason.source') : undefined;
  // Node-RED fills in ${NAME} when it starts.
  if (/^\$\{[^}]+\}$/.test(String(row.operand))) return undefined;
  if (shared.parseOperand(value.type, operator, row.operand) !== undefined) return undefined;
  if (operator === 'between') return say('reason.between');
  return say(operator !== 'older than' && value.type.kind === 'position' ? 'reason.place' : 'reason.operand');
}

/** True, or the first row that cannot be checked with its reason. */
function validateRows(rows: readonly Row[], vehicle: string | undefined): true | string {
  if (rows.length === 0) return say('reason.nothing');
  const faults = rows.map((row) => faultOf(row, vehicle));
  const at = faults.findIndex((fault) => fault !== undefined);
  return at < 0 || say('reason.row', { number: at + 1, fault: faults[at] });
}

const unitOf = ({ operator }: Row, value: Value | undefined): string => {
  const unit = operator === 'older than' ? 'minutes' : value?.type.kind === 'number' ? value.type.unit : '';
  return unit && ofStatus(`unit.${unit}`, { count: 2, defaultValue: unit });
};

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
  return `${titleOfValue(name)} ${compared} ${text} ${isSource(row) ? '' : unitOf(row, value)}`.trim();
}

/** The first condition. */
function labelOfRows(rows: readonly Row[]): string {
  const first = textOfRow(rows[0] ?? {});
  return first === '' ? say('palette.name') : first + (rows.length > 1 ? ', …' : '');
}

type Operand = Pick<Row, 'operand' | 'operandType'>;

/** A list as a field shows it. */
const textOfOperand = ({ operator, operand = '' }: Row): string =>
  [operand].flat().join(operator === 'between' ? ' - ' : ',');

/** A typed input with the words of the value, or a number with its unit. */
function typedInput(cell: JQuery, row: Row, value: Value | undefined): () => Operand {
  const isAge = row.operator === 'older than';
  const choices = value && !isAge ? choicesOf(value) : [];
  const own = isSource(row) || choices.length === 0 ? [] : textOfOperand(row).split(',').filter(Boolean);
  // A word that is not offered (newer, written by hand) is added, so that saving keeps it.
  const others = own.filter((word) => !choices.some((choice) => choice.value === word));
  choices.push(...others.map((word) => ({ value: word, label: word })));
  const unit = unitOf(row, value);
  const ownType = unit !== '' && row.operator !== 'between' ? 'num' : 'str';
  const options = { value: 'str', label: '', options: choices, multiple: row.operator === 'one of' };
  const input = $('<input type="text" style="width: 100%">').val(textOfOperand(row));
  if (!isSource(row) && choices.length > 0 && own.length === 0) input.val(choices[0]?.value ?? '');
  cell.append($('<div>').append(input));
  if (unit !== '') cell.append($('<span>').text(unit));
  input.typedInput({ types: [choices.length > 0 ? options : ownType, ...shared.sources] });
  input.typedInput('type', isSource(row) ? String(row.operandType) : ownType);
  const named = cell.find('input, button').filter((_, element) => $(element).text() === '');
  named.attr('aria-label', sharedText('label.operand'));
  return () => {
    // One of the types that were set above.
    const operandType = input.typedInput('type') as NonNullable<Row['operandType']>;
    const text = input.typedInput('value').trim();
    return {
      operand: operandType === 'num' && text !== '' && !Number.isNaN(Number(text)) ? Number(text) : text,
      operandType,
    };
  };
}

const isValid = (row: Row): boolean => faultOf(row, textOf(field('vehicle'))) === undefined;

/** The values by theme and title. Openings keep their order, from the front to the rear. */
const valuesByTheme = () =>
  shared.conditionValues().map(([theme, names]) => {
    const values = names.map((value) => ({ value, text: titleOfValue(value) }));
    const isOpenings = theme === 'windows' || theme === 'doors';
    if (!isOpenings) values.sort((one, other) => one.text.localeCompare(other.text, shared.editorLanguage()));
    return { heading: ofStatus(`theme.${theme}`), values };
  });

/** As a dropdown offers them. */
const valueChoices = (): JQuery[] =>
  valuesByTheme().map(({ heading, values }) =>
    $('<optgroup>').attr('label', heading).append(shared.optionElements(values)),
  );

/** Adds a row to the list: value, operator and operand, each of which follows from the one before. @param choices for the value */
function addRow(item: JQuery, row: Row, choices: JQuery[]): void {
  const select = (key: string): JQuery => $('<select>').attr('aria-label', say(`label.${key}`));
  const [value, operator, cell] = [select('value'), select('operator'), $('<div class="operand">')];
  value.append(choices.map((group) => group.clone()));
  const fillOperators = (): readonly string[] => {
    const { type: kind } = conditionValue(textOf(value)) ?? {};
    const names = kind === undefined ? [] : shared.operatorsOf(kind);
    operator
      .empty()
      .append(shared.optionElements(names.map((name) => ({ value: name, text: say(`operator.${name}`) }))));
    return names;
  };
  let operandOf = (): Operand => row;
  const current = (): Row => ({ value: textOf(value), operator: textOf(operator), ...operandOf() });
  const showOperand = (shown: Row): void => {
    const found = conditionValue(shown.value ?? '');
    const isPlace = found?.type.kind === 'position' && shown.operator !== 'older than' && !isSource(shown);
    cell.empty();
    cell.removeClass('place');
    if (isPlace) {
      const place = shared.addPlaceFields(cell, shown.operand);
      operandOf = () => ({ operand: place(), operandType: 'str' });
    } else operandOf = typedInput(cell, shown, found);
  };
  item.addClass('condition').append(value, operator, cell).data('row', current);
  // Node-RED gives its link no name.
  item.siblings('.red-ui-editableList-item-remove').attr('aria-label', ofEvents('label.remove'));
  shared.choose(value, row.value ?? 'batteryChargeLevel');
  fillOperators();
  if (row.operator !== undefined) shared.choose(operator, row.operator);
  showOperand({ ...current(), ...row });
  value.on('change', () => {
    const before = textOf(operator);
    if (fillOperators().includes(before)) operator.val(before);
  });
  value.add(operator).on('change', () => {
    const now = current();
    showOperand(isSource(now) || isValid(now) ? now : { ...now, operand: '' });
  });
}

/** A search for a value, which goes into a row that has no operand yet, or into a new one. Where nothing is found, it offers all. */
function offerSearch(list: JQuery): void {
  const values = valuesByTheme().flatMap(({ heading, values: ofTheme }) =>
    ofTheme.map(({ value: name, text: title }) => ({
      name,
      title,
      text: `${heading} ${title} ${name} ${unitOf({}, conditionValue(name))}`,
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
        const found = values.filter(({ text }) => shared.matches(text, typed));
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
      const text = isPlace ? shared.textOfPlace(operand) : textOfOperand(row);
      return [value, operator, text, isSource(row) ? row.operandType : ''];
    }),
  );

/** One character for each of the three answers, as the outputs have them. */
const marks = new Map([
  [true, '✓'],
  [false, '✗'],
]);

/** Checks what the form holds, and shows each value with its result. */
function checkNow(): void {
  const show = shared.beginAnswer();
  shared.askCar<{ result: boolean | null; lines: { result: boolean | null; text: string }[]; errors: Refusal[] }>(
    'conditions',
    { match: textOf(field('match')), conditions: rowsOf() },
    ({ result = null, lines = [], errors = [], error }) => {
      if (error) return show(() => [shared.lineOf(shared.errorText(error))], true);
      const port = result === null ? 'unknown' : result ? 'yes' : 'no';
      show(() => [
        $('<strong>').text(say(`port.${port}`)),
        ...lines.map((line) =>
          shared.lineOf(`${(line.result !== null && marks.get(line.result)) || '?'} ${line.text}`),
        ),
        ...errors.map((refusal) => shared.lineOf(shared.errorText(refusal)).addClass('warning')),
      ]);
    },
  );
}

const showReason = (): void => {
  // A field that has the focus still reports its change while the form is taken away.
  if (part('conditions').editableList('instance') === undefined) return;
  const reason = validateRows(rowsOf(), textOf(field('vehicle')));
  part('reason').text(reason === true ? '' : reason);
  $('[data-ask=conditions]').prop('disabled', reason !== true);
  shared.clearAnswer();
};

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
  oneditprepare() {
    shared.prepareNode(this);
    const choices = valueChoices();
    const list = part('conditions').editableList({
      addButton: say('label.add'),
      height: 'auto',
      removable: true,
      sortable: true,
      addItem: (item: JQuery, _index: number, row: Row) => addRow(item, row, choices),
      removeItem: showReason,
    });
    const rows = rowsIn(this.conditions);
    // A new node begins with a row, which is not stored while it is empty.
    list.editableList('addItems', rows.length > 0 ? rows : [{}]);
    part('conditions').add(field('vehicle')).on('change', showReason);
    part('conditions').on('keyup', showReason);
    for (const name of ['match', 'vin']) field(name).on('change', shared.clearAnswer);
    $('[data-ask=conditions]').on('click', checkNow);
    showReason();
    offerSearch(list);
  },
  oneditsave() {
    const rows = rowsOf();
    const kept = rowsIn(this.conditions);
    // The row that a new node begins with.
    const isUntouched = kept.length === 0 && rows.length === 1 && rows[0]?.operand === '';
    if (!isUntouched && textOfRows(rows) !== textOfRows(kept)) this.conditions = rows as ConditionOptions['conditions'];
    shared.saveProperties(this, field);
  },
});
