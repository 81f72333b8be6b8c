/** A row of a form: its property, after a # where the label is one of the shared words, its icon if it has one, and its kind of field. */
const row = /\^(#?)(\w+)\^([\w-]*)\^([^*$]*([*$]))/g;

/** A form as it is written in `nodes/<type>.html`, from what the build has abbreviated (scripts/forms.mjs). */
export const spellOut = (form: string): string =>
  ABBREVIATIONS.reduce(
    (text, [sign, spelled]) => text.split(sign).join(spelled),
    form.replace(row, (_, shared: string, name: string, icon: string, field: string, kind: string) => {
      const label = `;${shared}label.${name}>`;
      return `~${kind === '$' ? 'config-' : ''}input-${name}${icon ? `><i class="fa fa-${icon}"></i> <span${label}</span>` : label}</label>${field}${name}`;
    }),
  );

/** Does so with all forms that the editor has loaded so far, before one of them is opened; a form that is spelled out stays as it is. */
export const spellOutForms = (): void =>
  void $('script[data-template-name^=connected-vehicle]').text((_, form) => spellOut(form));
