import {
  commandAccess,
  defaultAccess,
  faultIn,
  interfaceNames,
  isLoopback,
  memberOf,
  readAccess,
  services,
  signInScopes,
  unlistedScopes,
  type Account,
  type Finding,
  type FoundVehicle,
  type SignedIn,
} from '../../src/index';
import { ask, errorText, type Answer, type Refusal } from '../editor/runtime-request';
import {
  configField,
  choiceLine,
  isSameList,
  listIn,
  optionElements,
  part,
  saveProperties,
  showProperties,
  textOf,
} from '../editor/forms';
import { addPlaceButton, addPlaceFields, addPlaceRow, isOtherList, placesIn } from '../editor/places';
import { apis, callsOf, callsTexts } from '../editor/requests-per-day';
import { numberText, presetLanguage, sharedText, textLanguages, timeText, wordsOf, type Say } from '../editor/texts';
import { showTyped, startSources } from '../editor/typed-inputs';
import { validateTariff } from '../editor/validators';
import { carChanges, useCar } from '../editor/whole-flow';
import {
  addressNames,
  callbackUrl,
  clearSecretsForOtherAddress,
  isInHomeAssistant,
  linesOfFindings,
  listOf,
  showLines,
  stored,
  usesOf,
  validateRedirectUrl,
  type Line,
} from '../editor/vehicle-checks';
import type { VehicleOptions } from './options';

const field = configField;

const say: Say = (key, values) => sharedText(`dialog.${key}`, values);

type SignInResult = Partial<Pick<SignedIn, 'missing'>> & {
  at?: string;
  error?: Refusal | null;
  warning?: string | null;
};

interface State {
  token: ReturnType<Account['token']> | null;
  quota: ReturnType<Account['quota']> | null;
  signIn: SignInResult | null;
  /** Null while no demo car is deployed. */
  demoPage: string | null;
}

/** They keep their space: a form that moves loses the click that left the field. */
const hideLines = (name: string): void => void part(name).css('visibility', 'hidden');

/** The redirect URL that the application at the portal has to list. */
const redirectUrl = (): string => textOf(field('redirectUrl')) || callbackUrl();

/**
 * Whether the browser may not get back to Node-RED: `localhost` is the machine that the browser
 * runs on, and Home Assistant answers at another port than Node-RED.
 */
const endsElsewhere = (): boolean =>
  URL.canParse(redirectUrl()) &&
  isLoopback(new URL(redirectUrl()).hostname) &&
  (isInHomeAssistant() || !isLoopback(location.hostname));

function bodyOf(node: EditorNode<object>): object {
  const values = (names: object, of: (input: JQuery) => unknown): object =>
    Object.fromEntries(Object.keys(names).map((name) => [name, of(field(name))]));
  const typed = (input: JQuery): string | null => (input.val() === stored ? null : textOf(input));
  return {
    options: {
      ...values(node._def.defaults, (input) => (input.is(':checkbox') ? input.prop('checked') : textOf(input))),
      access: listOf('access'),
      interfaces: listOf('interfaces'),
    },
    credentials: values(node._def.credentials ?? {}, typed),
    callback: callbackUrl(),
    nodes: usesOf(node.id),
  };
}

const scopesOf = (options: { readOnly: boolean }): ReturnType<typeof signInScopes> =>
  signInScopes(
    textOf(field('service')) === 'custom' ? listOf('interfaces') : services['volvo-cars'].availableInterfaces,
    { access: listOf('access'), moreScopes: textOf(field('moreScopes')), ...options },
  );

/** *Read-only* also lists those of commands: a published application cannot be changed. */
const scopesToTick = (): string[] =>
  scopesOf({ readOnly: false })
    .scopes.filter((scope) => !unlistedScopes.includes(scope))
    .sort();

function showScopesToTick(): void {
  part('scopeCount').text(say('scopesToTick', { count: scopesToTick().length }));
  part('scopeList').text(scopesToTick().join('\n'));
}

function showVehicles({ vehicles = [], error }: Answer<{ vehicles: FoundVehicle[] }>): void {
  const [first, ...others] = vehicles;
  const list = $('#connected-vehicle-found')
    .empty()
    .toggle(others.length > 0);
  const named = ({ vin, model, year }: FoundVehicle): string => [model, year, vin].filter(Boolean).join(' ');
  list.append(
    optionElements([
      { value: '', text: say('choose', { count: vehicles.length }) },
      ...vehicles.map((vehicle) => ({ value: vehicle.vin, text: named(vehicle) })),
    ]),
  );
  if (error) return showLines('found', [errorText(error), true]);
  if (first === undefined) return showLines('found', [say('noVehicles'), true]);
  if (others.length > 0) return showLines('found');
  field('vin').val(first.vin).trigger('change');
  showLines('found', [say('foundOne', { vehicle: named(first) })]);
}

/** Only a browser on the machine of Node-RED can open it. */
function showDemoPage(page: string | null): void {
  part('demoPage').toggle(page !== null);
  if (page === null) return;
  if (isLoopback(location.hostname)) part('demoPage').find('a').attr('href', page);
  else part('demoPage').text(sharedText('demoCar.elsewhere', { page }));
}

function showState({ token, quota, demoPage = null }: Answer<State>): void {
  showDemoPage(demoPage);
  const { kind, expiresAt, signedInAt, endsAt, lastRefreshAt, problem } = token ?? {};
  const signedIn =
    signedInAt && endsAt ? say('signedIn', { until: timeText(endsAt), at: timeText(lastRefreshAt ?? signedInAt) }) : '';
  const ends = kind === 'pasted' && expiresAt ? say('tokenEnds', { at: timeText(expiresAt) }) : '';
  showLines('token', [problem ?? (signedIn || ends), Boolean(problem)]);
  // Nobody counts the requests to the simulated service.
  const isCounted = quota != null && quota.perDay < Number.MAX_SAFE_INTEGER;
  part('used').text(isCounted ? say('used', { used: numberText(quota.usedToday), all: numberText(quota.perDay) }) : '');
}

/** How much of the day's quota of each API the nodes of the vehicle use; a demo car has none. */
function showCalls(id: string): void {
  const calls = callsOf(id);
  const limit = Number(textOf(field('requestsPerDay')));
  const polled = textOf(field('service')) === 'demo' ? [] : apis.filter((api) => calls[api] > 0);
  showLines(
    'calls',
    ...polled.map((api): Line => {
      const text = say(callsTexts[api], { calls: numberText(calls[api]), limit: numberText(limit) });
      return [text, calls[api] > limit];
    }),
  );
}

/**
 * Asks again and again until the form is closed.
 * @param onAsk called when it asks; returns what takes the result of the last sign-in
 */
function follow(id: string, form: JQuery, onAsk: () => (result: SignInResult) => void): void {
  let isOpen = true;
  let next: ReturnType<typeof setTimeout> | undefined;
  const askNow = (): void => {
    const onSignIn = onAsk();
    ask<State>(id, 'state', {}, (state) => {
      if (!isOpen) return;
      if (!state.error) showState(state);
      if (state.signIn) onSignIn(state.signIn);
      next = setTimeout(askNow, 3000);
    });
  };
  form.on('remove', () => {
    isOpen = false;
    clearTimeout(next);
  });
  askNow();
}

/** Offers to set the car in the other nodes of the open flow, when the form is saved. */
function showWholeFlow(id: string): void {
  const count = carChanges(id).length;
  const isLocked = Boolean(RED.workspaces.isLocked());
  // The editor itself sets a new configuration in the node whose form it was made in.
  part('whole')
    .toggle(count > (RED.nodes.node(id) ? 0 : 1))
    .find('label')
    .text(sharedText('wholeFlow', { count }));
  part('whole').find('input').prop('disabled', isLocked);
  part('locked').text(isLocked && count > 0 ? wordsOf('connected-vehicle-cars')('use.locked') : '');
}

/** The labels of the wrong fields above the sign-in; the first one gets the focus. */
function wrongFields(): string[] {
  const wrong = $('.guide .input-error:visible');
  wrong.first().trigger('focus');
  return wrong.get().map((field) => $(`label[for="${field.id}"]`).text().trim());
}

/** Lists the permissions that were not granted, in the words of *Allow*, with their scopes. */
const listOfMissing = (missing: SignedIn['missing']): string =>
  missing
    .map(({ access, scopes }) =>
      say('notGranted', {
        access: access === null ? say('readStatus') : sharedText(`access.${access}`),
        scopes: scopes.join(' '),
      }),
    )
    .join(', ');

function showList(
  list: 'access' | 'interfaces',
  names: readonly string[],
  chosen: readonly string[],
  into: string = list,
): void {
  part(into).append(names.map((name) => choiceLine(name, sharedText(`${list}.${name}`), chosen.includes(name))));
}

/** The ticks of grey commands stay: the scopes to publish with are made from them. */
const showReadOnly = (): void =>
  void part('accessCommands').find('input').prop('disabled', field('readOnly').is(':checked'));

/** Shows what the chosen service needs, and nothing else. */
function showService(): void {
  const service = textOf(field('service'));
  $('.car-form [data-services]').each((_, rows) => {
    $(rows).toggle(String($(rows).data('services')).split(' ').includes(service));
  });
  part('service').text(sharedText(`serviceHint.${service}`, { defaultValue: '' }));
  RED.tray.resize();
}

/** Each language in its own words, as the browser names it. */
function showLanguages(chosen = ''): void {
  const names = textLanguages.map((language): [string, string] => {
    const name = new Intl.DisplayNames(language, { type: 'language' }).of(language.slice(0, 2)) ?? language;
    return [language, name.charAt(0).toUpperCase() + name.slice(1)];
  });
  field('language')
    .append(names.map(([language, name]) => new Option(name, language)))
    .val(chosen);
}

/** The section of the places, open if one of them is wrong. */
function showPlaces(node: EditorNode<VehicleOptions>): void {
  const list = $('<div>');
  const button = $('<button type="button" class="red-ui-button red-ui-button-small">').append(
    '<i class="fa fa-plus" aria-hidden="true"></i> ',
    $('<span>').text(wordsOf('connected-vehicle-event')('label.add')),
  );
  const reason = $('<div class="warning" role="alert">');
  const showReason = (): void => {
    const places = placesIn(list);
    const fault = faultIn(places);
    const name = fault && memberOf(places[fault.at], 'name');
    reason.text(fault ? say(`place.${fault.part}`, { name }) : '');
    // The validator of the tariff, which can name them, reads them there.
    part('named').data('places', places);
    field('tariff').triggerHandler('change');
  };
  const fields = (row: JQuery, place: unknown): (() => Record<string, string>) =>
    addPlaceFields(row, place, (done) => ask(node.id, 'form-position', bodyOf(node), done));
  for (const place of listIn(node.places)) addPlaceRow(list, place, fields);
  addPlaceButton(list, button, fields);
  list.on('change', showReason);
  showReason();
  const hint = $('<div class="hint">').text(sharedText('hint.places'));
  part('named')
    .append(
      $('<summary>').text(sharedText('heading.places')),
      $('<div class="below">').append(list, button, reason, hint),
    )
    .prop('open', reason.text() !== '');
}

/** Shows below the tariff what is wrong with it, and then opens its section. */
function showTariff(): void {
  const row = field('tariff').closest('.form-row');
  const reason = $('<div class="below warning" role="alert" data-part="tariffReason">').insertAfter(row.next('.hint'));
  const showReason = (): void => {
    const validity = validateTariff(field('tariff').val(), part('named').data('places'));
    reason.text(validity === true ? '' : validity);
  };
  field('tariff').on('change', showReason);
  showReason();
  row.closest('details').prop('open', reason.text() !== '');
}

export function prepare(node: EditorNode<VehicleOptions>): void {
  showProperties(node, field);
  const chosen = node.access ?? defaultAccess;
  showList('access', readAccess, chosen, 'accessReads');
  showList('access', commandAccess, chosen, 'accessCommands');
  field('readOnly').on('change', showReadOnly);
  showReadOnly();
  showList('interfaces', interfaceNames, node.interfaces ?? interfaceNames);
  showTyped(node, 'tariff', ['num', 'json', ...startSources], field);
  field('service').on('change', showService);
  showLanguages(RED.nodes.node(node.id) ? node.language : presetLanguage());
  clearSecretsForOtherAddress(node);
  showPlaces(node);
  showTariff();
  new Dialog(node, $('.car-form').has('#connected-vehicle-found')).open();
}

export function save(node: EditorNode<VehicleOptions>): void {
  const access = listOf('access');
  const interfaces = listOf('interfaces');
  // A list that the node lacks and that still shows its default stays away, so that closing a
  // form changes nothing.
  if (!isSameList(access, node.access ?? defaultAccess)) node.access = access;
  if (!isSameList(interfaces, node.interfaces ?? interfaceNames)) node.interfaces = interfaces;
  const places = placesIn(part('named'));
  if (isOtherList(places, listIn(node.places))) Object.assign(node, { places });
  saveProperties(node, field);
  const { id } = node;
  // By then, the editor has a configuration that was just made.
  if ($('#connected-vehicle-whole').is(':checked')) queueMicrotask(() => void useCar(id));
}

class Dialog {
  readonly #node: EditorNode<object>;
  readonly #form: JQuery;
  #isWaiting = false;
  /** An address is accepted once, so a second press would show a refusal over the success. */
  #isFinishing = false;
  #popup: Window | null = null;
  #changes = 0;
  #seen: string | undefined;
  #opened = 0;

  constructor(node: EditorNode<object>, form: JQuery) {
    this.#node = node;
    this.#form = form;
  }

  open(): void {
    const { id } = this.#node;
    this.#listen();
    this.#showRedirect();
    showScopesToTick();
    showCalls(id);
    showWholeFlow(id);
    this.#form.find('[data-ask]').prop('disabled', false);
    follow(id, this.#form, () => {
      const opened = this.#opened;
      // If the request was sent before the page was opened, its result belongs
      // to an earlier sign-in.
      return (result) => opened === this.#opened && this.#showWindowResult(result);
    });
  }

  #listen(): void {
    const buttons: Record<string, () => void> = {
      vehicles: () => this.#findVehicles(),
      check: () => this.#check(),
      diagnostics: () => this.#copyDiagnostics(),
      'copy-scopes': () => RED.clipboard.copyText(scopesToTick().join('\n')),
      'copy-redirect': () => RED.clipboard.copyText(redirectUrl()),
      'sign-in': () => this.#signIn(),
      'sign-in-finish': () => this.#finishSignIn(),
    };
    for (const [action, work] of Object.entries(buttons)) $(`[data-ask=${action}]`).on('click', work);
    $('#connected-vehicle-found').on('change', ({ target }) => {
      const vin = textOf($(target));
      if (vin) field('vin').val(vin).trigger('change');
    });
    this.#form.on('change', '[id^=node-config-input-], [data-part] [type=checkbox]', ({ target }) =>
      this.#hideOutdated(target),
    );
    field('redirectUrl').on('input change', () => this.#showRedirect());
    field('service')
      .add(field('requestsPerDay'))
      .on('change', () => showCalls(this.#node.id));
  }

  /** An answer that arrives after a change of the form is dropped. */
  #ask<Members>(action: string, show: (answer: Answer<Members>) => void, late = (): void => undefined): void {
    const changesBefore = this.#changes;
    ask<Members>(this.#node.id, action, bodyOf(this.#node), (answer) =>
      changesBefore === this.#changes ? show(answer) : late(),
    );
  }

  #findVehicles(): void {
    showLines('found', [say('asking')]);
    this.#ask('vehicles', showVehicles);
  }

  #check(): void {
    showLines('result', [say('asking')]);
    this.#ask<{ findings: Finding[] }>('check', (answer) =>
      showLines('result', ...linesOfFindings(answer, textOf(field('service')) === 'demo')),
    );
  }

  #copyDiagnostics(): void {
    const wanted = { answers: $('#connected-vehicle-answers').is(':checked') };
    ask<{ diagnostics: object }>(this.#node.id, 'diagnostics', wanted, ({ diagnostics, error }) => {
      if (!error) RED.clipboard.copyText(JSON.stringify(diagnostics, null, 2));
      showLines('result', [error ? errorText(error) : say('copied'), Boolean(error)]);
    });
  }

  #signIn(): void {
    const wrong = wrongFields();
    if (wrong.length > 0) return showLines('signIn', [say('wrong', { fields: wrong.join(', ') }), true]);
    // At once, or the browser blocks it. The page must not reach back.
    const popup = window.open('', '_blank');
    if (popup) popup.opener = null;
    this.#popup = popup;
    // Until the answer, a result belongs to an earlier sign-in, and must not close this window.
    this.#isWaiting = false;
    this.#ask<{ url: string; redirectUrl: string }>(
      'sign-in',
      (answer) => this.#openPage(answer),
      () => this.#popup?.close(),
    );
  }

  #openPage({ url = '', redirectUrl: address, error }: Answer<{ url: string; redirectUrl: string }>): void {
    this.#isWaiting = !error;
    if (error) {
      this.#popup?.close();
      return this.#showResult({ error });
    }
    this.#opened += 1;
    this.#popup?.location.replace(url);
    // The address of an earlier sign-in is of no use to this one.
    $('#connected-vehicle-redirected').val('');
    this.#showPaste();
    showLines('signIn', [say('signInOpen', { redirectUrl: address })]);
    part('signIn').append($('<a target="_blank" rel="noopener noreferrer">').attr('href', url).text(say('signInLink')));
  }

  #finishSignIn(): void {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    const redirected = textOf($('#connected-vehicle-redirected'));
    ask<SignInResult>(this.#node.id, 'sign-in-finish', { redirected }, (result) => {
      this.#isFinishing = false;
      this.#showResult(result);
    });
  }

  /** Shows a result once: each request returns it again, also after an address was pasted. */
  #showWindowResult(result: SignInResult): void {
    if (!this.#isWaiting || result.at === this.#seen) return;
    this.#seen = result.at;
    this.#popup?.close();
    this.#showResult(result);
  }

  #showResult({ error, missing = [], warning }: SignInResult): void {
    if (error) {
      const ticked =
        error.code === 'SCOPE_MISSING' ? scopesOf({ readOnly: field('readOnly').is(':checked') }).optional : [];
      const untick = ticked.length > 0 ? say('ticked', { ticked: listOfMissing(ticked) }) : '';
      return showLines('signIn', [errorText(error), true], [untick]);
    }
    this.#isWaiting = false;
    this.#popup?.close();
    // After an error the pasted address stays, because the next try may need
    // only one more character.
    $('#connected-vehicle-redirected').val('');
    part('paste').hide();
    showLines(
      'signIn',
      missing.length > 0 ? [say('signInReduced', { missing: listOfMissing(missing) }), true] : [say('signInDone')],
      [warning ?? '', true],
    );
  }

  #hideOutdated(changed: HTMLElement): void {
    this.#changes += 1;
    showScopesToTick();
    hideLines('result');
    hideLines('found');
    const isOther = ['service', ...addressNames].some((name) => field(name).is(changed));
    if (isOther) {
      this.#isWaiting = false;
      this.#showPaste();
      $('#connected-vehicle-found').hide();
    }
    if (!this.#isWaiting) hideLines('signIn');
  }

  #showRedirect(): void {
    const validity = validateRedirectUrl(textOf(field('redirectUrl')));
    const isProposed = textOf(field('redirectUrl')) === '';
    part('redirect').text(redirectUrl());
    part('redirectUsed').toggle(validity === true);
    const isOther = isProposed && location.protocol === 'http:' && !callbackUrl().startsWith(location.origin);
    const hints: Line[] = [[isOther ? say('redirectLocalhost') : ''], [endsElsewhere() ? say('redirectPaste') : '']];
    if (validity === true) showLines('redirectWhy', ...hints);
    else showLines('redirectWhy', [validity, true]);
    this.#showPaste();
  }

  #showPaste(): void {
    part('paste').toggle(this.#isWaiting || endsElsewhere());
  }
}
