type Child = Node | string | null | undefined | false;

/** An element with attributes and children. Texts become text nodes: nothing that comes from a service is read as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | null | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value != null) made.setAttribute(key, value);
  for (const child of children) if (child != null && child !== false) made.append(child);
  return made;
}

/** A button of the editor's own look. */
export function button(label: string, icon: string, onClick: () => void): HTMLButtonElement {
  const made = element(
    'button',
    { type: 'button', class: 'red-ui-button red-ui-button-small' },
    iconOf(icon),
    ` ${label}`,
  );
  made.addEventListener('click', onClick);
  return made;
}

export const iconOf = (name: string): HTMLElement => element('i', { class: `fa ${name}`, 'aria-hidden': 'true' });
