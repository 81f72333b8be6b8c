/**
 * A help with the texts of the forms in the places of their keys, `{hint.poll}` or, of the
 * configuration, `{shared:label.vin}`.
 */
export function fillHelp(help, texts, shared) {
  const textAt = (_, isShared, path) => {
    const text = path.split('.').reduce((at, key) => at?.[key], isShared ? shared : texts);
    if (typeof text !== 'string') throw new Error(`The help asks for a text that does not exist: ${path}`);
    return text;
  };
  return help
    .replace(/\{(shared:)?([a-zA-Z]+(?:\.[\w-]+)+)\}/g, textAt)
    .replace(/^(: .+ \(\w+\) : )(\p{Ll})/gmu, (_, label, first) => label + first.toUpperCase());
}

/**
 * The type of a property by its default in the script of the form; of a credential, which
 * has none, it is text.
 */
function typeIn(form, name) {
  const [, begin = ''] = new RegExp(`\\b${name}: \\{\\s*(?:\\/\\/[^\\n]*\\s*)*value: (.)`).exec(form) ?? [];
  if (begin === '[') return 'array';
  if (begin === '{') return 'object';
  if (begin === 't' || begin === 'f') return 'boolean';
  return /\d/.test(begin) ? 'number' : 'string';
}

/**
 * A help with the type of each property in the place of its name, as Node-RED shows it. Only the
 * documents have the names.
 */
export const showTypes = (help, form) =>
  help.replace(
    /^(: [^*\n]+ \()(?!(?:array|boolean|number|object|string)\))(\w+)(?=\) : )/gm,
    (_, label, name) => label + typeIn(form, name),
  );
