import type { StatusOptions } from './options';

const { nodeField: field, part, sharedText, textOf, wordsOf, ...shared } = connectedVehicle;

const type = 'connected-vehicle-status';
const say = wordsOf(type);

/** In the reader's language where the catalogue names it, else the name's own words. */
const titleOfRead = (name: string): string => say(`read.${name}`, { defaultValue: shared.titleOf(name) });

function unitOf(name: string): string {
  const type = shared.valueTypeOf(name);
  return type && 'unit' in type ? say(`unit.${type.unit}`, { count: 2, defaultValue: type.unit }) : '';
}

/** As many values as a person reads in a form; the reference lists all of them. */
const someOf = (values: readonly string[]): readonly string[] =>
  values.length > 8 ? [...values.slice(0, 6), '…'] : values;

/** One sentence on the answer of a read. */
function givesOf(name: string): string {
  const type = shared.valueTypeOf(name);
  const unit = unitOf(name);
  const own = say(`gives.${name}`, { unit, defaultValue: '' });
  if (own !== '' || type === undefined) return own || say('gives.group');
  if (type.kind === 'boolean')
    return say('gives.boolean', { true: say(`word.${type.words.true}`), false: say(`word.${type.words.false}`) });
  if ('values' in type) return say('gives.words', { values: someOf(type.values).join(', ') });
  return say('gives.number', { unit });
}

const isSeveral = (): boolean => textOf(field('readType')) === 'several';
const isFromList = (): boolean => isSeveral() || textOf(field('readType')) === 'str';

/** The reads that are chosen in the list. */
const chosenReads = (): string[] => shared.chosenIn('reads');

/** Whether the chosen car has a read, as flows have learned it. A read that is missing here is unknown. */
type Equipment = Readonly<Record<string, boolean>>;

/** Whether the chosen configuration names a wallbox; the electric car of the demo has one. */
function hasWallbox(): boolean {
  const { service = 'demo', demoCar, wallbox = '' } = RED.nodes.node(textOf(field('vehicle'))) ?? {};
  return service === 'demo' ? demoCar === 'electric' : wallbox.trim() !== '';
}

/** One line for each read, by theme; neither the service of the vehicle nor the car need have all of them. */
function fillList(chosen: readonly string[], equipment: Equipment): void {
  const kind = isSeveral() ? 'checkbox' : 'radio';
  const interfaces = shared.serviceInterfaces();
  const lineOf = (name: string): JQuery => {
    const isUnserved = shared.isReadName(name) && shared.needsOfRead(name, interfaces).scopes.length === 0;
    const needsWallbox =
      !isUnserved && shared.isReadName(name) && shared.needsOfRead(name, interfaces).access === 'wallbox';
    const isMissing = isUnserved || equipment[name] === false || (needsWallbox && !hasWallbox());
    const lack = isUnserved ? 'missing' : needsWallbox ? 'noWallbox' : 'lacking';
    const remark = isMissing ? say(lack) : unitOf(name);
    const line = shared.choiceLine(name, titleOfRead(name), chosen.includes(name), kind);
    line.find('input').attr('name', 'connected-vehicle-reads');
    return line.toggleClass('missing', isMissing).append(' ', $('<small>').text(remark));
  };
  part('reads')
    .empty()
    .append(
      shared
        .readThemes()
        .map(([heading, names]) =>
          $('<fieldset>').append($('<legend>').text(say(`theme.${heading}`)), names.map(lineOf)),
        ),
    );
  $('#connected-vehicle-filter').trigger('input');
}

/** Keeps what is chosen in view where the list is long. */
function scrollToChosen(): void {
  const list = part('reads').get(0);
  const line = part('reads').find('input:checked').first().closest('label').get(0);
  if (list && line) list.scrollTop = line.offsetTop - list.offsetTop - 40;
}

/** Says what is chosen, what it answers, which scopes it needs and which interface has it. */
function showChoice(): void {
  const names = isFromList() ? chosenReads() : [];
  const [first] = names;
  const interfaces = shared.serviceInterfaces();
  const needs = names.filter(shared.isReadName).map((name) => ({
    title: titleOfRead(name),
    ...shared.needsOfRead(name, interfaces),
  }));
  const gone = needs.filter(({ scopes }) => scopes.length === 0);
  part('picker').toggle(isFromList());
  part('chosen')
    .text(
      isSeveral()
        ? say(first === undefined ? 'noReads' : 'chosen', { titles: names.map(titleOfRead).join(', ') })
        : (first && titleOfRead(first)) || '',
    )
    .toggleClass('warning', isSeveral() && first === undefined);
  part('gives').text(isFromList() ? (names.length === 1 ? givesOf(first ?? '') : '') : say('fromSource'));
  part('gone').text(gone.length > 0 ? say('gone', { titles: gone.map(({ title }) => title).join(', ') }) : '');
  shared.showNeeds(needs);
  if (needs.length > 0 && !needs.some(({ versions }) => versions)) part('interface').text(say('single'));
  $('[data-ask=read]').prop('disabled', shared.waitsForDeploy() || names.length === 0);
}

function readNow(learned: () => void): void {
  shared.showAnswer({ reads: chosenReads(), interface: textOf(field('interface')) }, isSeveral(), titleOfRead, learned);
}

/** Asks what flows have learned of the chosen car, which costs no request to the service. */
function askEquipment(done: (equipment: Equipment) => void): void {
  const vehicle = textOf(field('vehicle'));
  const vin = shared.ownVin();
  if (!RED.nodes.node(vehicle) || vin === undefined) return done({});
  shared.ask<{ equipment: Equipment }>(vehicle, 'equipment', { vin }, ({ equipment = {} }) => {
    if (textOf(field('vehicle')) === vehicle) done(equipment);
  });
}

/** What a node reads: a title, the first two of several, or the name of the node type. */
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
  oneditprepare() {
    const isList = this.read === 'several';
    shared.prepareNode(this);
    const listTypes = [
      { value: 'str', label: say('one'), hasValue: false },
      { value: 'several', label: say('several'), hasValue: false },
    ] as const;
    const chosen = isList ? (this.reads ?? []) : [this.read ?? 'windows'];
    shared.showTyped({ ...this, readType: isList ? 'several' : this.readType }, 'read', [
      ...listTypes,
      ...shared.sources,
    ]);
    let equipment: Equipment = {};
    shared.addSearch(part('reads'));
    fillList(chosen, equipment);
    field('read').on('change', () => {
      fillList(chosenReads(), equipment);
      showChoice();
      scrollToChosen();
    });
    const learn = (): void =>
      askEquipment((known) => {
        equipment = known;
        const top = part('reads').scrollTop() ?? 0;
        fillList(chosenReads(), equipment);
        part('reads').scrollTop(top);
      });
    field('vehicle').on('change', () => {
      equipment = {};
      fillList(chosenReads(), equipment);
      showChoice();
      learn();
    });
    field('vin').on('change', learn);
    field('interface').add(part('reads')).on('change', showChoice);
    for (const asked of [...['vehicle', 'read', 'vin', 'interface'].map(field), part('reads')])
      asked.on('change', shared.clearAnswer);
    $('[data-ask=read]').on('click', () => readNow(learn));
    showChoice();
    learn();
    setTimeout(scrollToChosen);
  },
  oneditsave() {
    const kept = this.reads ?? [];
    const chosen = chosenReads();
    if (isSeveral()) {
      const inOrder = [...kept, ...chosen].filter((name, at, all) => chosen.includes(name) && all.indexOf(name) === at);
      this.reads = inOrder;
      field('read').val('several');
      field('readType').val('str');
    } else if (isFromList()) field('read').val(chosen[0] ?? 'windows');
    shared.saveProperties(this, field);
  },
});
