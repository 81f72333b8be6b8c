// The html of the forms. A form.html has `<row name="poll" icon="clock-o" label="label.poll" … />`
// for each property, and the build writes the html of Node-RED instead.
//   label, check, after, hint   keys of texts; `shared:` is the catalogue of the configuration
//   kind                        number, typed, password; an input of text without it
//   options                     a dropdown: the key of its texts, and its values
//   data-part, data-services    go to the row, every other attribute to the input

/** Rows that several forms have, by the name of their property. */
const sharedRows = {
  name: 'icon="tag" label="node-red:common.label.name" data-i18n="[placeholder]node-red:common.label.name"',
  vehicle: 'icon="car" label="shared:label.vehicle" style="width: calc(100% - 140px)"',
  vin: 'icon="barcode" label="shared:label.vin" kind="typed" spellcheck="false" data-i18n="[placeholder]shared:placeholder.default" hint="shared:hint.vin"',
  poll: 'icon="clock-o" label="shared:label.poll" kind="number" after="shared:label.seconds" hint="hint.poll"',
  hours: 'icon="clock-o" label="shared:label.hours" options="shared:hours always only not"',
  quietHours: 'icon="moon-o" label="shared:label.range" placeholder="22:00-07:00" hint="hint.hours"',
  timeZone:
    'icon="globe" label="shared:label.timeZone" list="connected-vehicle-time-zones" spellcheck="false" data-i18n="[placeholder]shared:placeholder.timeZone"',
  interface: 'icon="plug" label="shared:label.interface" options="shared:interface auto v2 v1"',
};

const attributesOf = (text) => Object.fromEntries([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, ...pair]) => pair));
const written = (attributes) =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');

function inputOf(id, { kind = 'text', options, check, ...attributes }) {
  // The open form adds the options (nodes/editor/forms.ts).
  if (options !== undefined) return [`<select id="${id}" data-options="${options}"${written(attributes)}></select>`];
  if (check !== undefined)
    return [
      `<input type="checkbox" id="${id}"${written(attributes)}>`,
      `<label for="${id}" data-i18n="${check}"></label>`,
    ];
  if (kind === 'number')
    return [`<input type="text" inputmode="numeric" class="number" id="${id}"${written(attributes)}>`];
  if (kind !== 'typed') return [`<input type="${kind}" id="${id}"${written(attributes)}>`];
  return [`<input type="text" id="${id}" class="typed"${written(attributes)}>`, `<input type="hidden" id="${id}Type">`];
}

function expandRow(idPrefix, text) {
  const { name, ...own } = attributesOf(text);
  const { icon, label, after, hint, ...rest } = own.label === undefined ? attributesOf(sharedRows[name]) : own;
  const ofRow = Object.entries(rest).filter(([attribute]) => /^data-(part|services)$/.test(attribute));
  for (const [attribute] of ofRow) delete rest[attribute];
  const id = `${idPrefix}${name}`;
  return [
    `<div class="form-row"${written(Object.fromEntries(ofRow))}>`,
    `<label for="${id}"><i class="fa fa-${icon}" aria-hidden="true"></i> <span data-i18n="${label}"></span></label>`,
    ...inputOf(id, rest),
    ...(after === undefined ? [] : [`<span data-i18n="${after}"></span>`]),
    '</div>',
    ...(hint === undefined ? [] : [`<div class="hint" data-i18n="${hint}"></div>`]),
  ].join('\n');
}

/**
 * What Node-RED loads: the styles of a form, and its other elements as the template of the type
 * with the rows written out.
 */
export function wholeForm(type, html) {
  const [, styles = '', elements] = /^(?:<!-- prettier-ignore -->\n)?(<style>.*?<\/style>\n+)?(.*)$/s.exec(html);
  const prefix = type === 'connected-vehicle' ? 'node-config-input-' : 'node-input-';
  const rows = elements
    .replace(/<row (.*?) \/>/g, (_, text) => expandRow(prefix, text))
    // Node-RED would need the whole name of the catalogue each time; the form fills these in itself
    // (nodes/editor/forms.ts).
    .replace(/data-i18n="(\[[\w-]+\])?shared:/g, (_, attribute = '') => `data-shared="${attribute}`)
    .replace(/="([\w.-]+)"(?=[ >])/g, '=$1');
  const template = `<script type="text/html" data-template-name="${type}">\n<div class="car-form">\n${rows}</div>\n</script>\n`;
  return `<script src="resources/@connected-vehicle/node-red/connected-vehicle.js"></script>\n\n${styles}${elements && template}`;
}
