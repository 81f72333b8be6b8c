/** A text, by its key in src/words: `demo.level`. */
export type Say = (key: string) => string;

type Child = Node | string | null | undefined | false;

/** Texts become text nodes: nothing that comes from a service is read as HTML. */
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

/** A button, with the look of the editor where its styles are. */
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

/**
 * A section is redrawn only when its data changes, so it keeps keyboard focus and scroll position.
 */
export class Section<Data> {
  readonly root: HTMLElement;
  #shown = '';

  constructor(
    name: string,
    readonly draw: (data: Data) => (Node | false)[],
  ) {
    this.root = element('section', { class: `cars-${name}` });
  }

  show(data: Data): void {
    const text = JSON.stringify(data);
    if (text === this.#shown) return;
    this.#shown = text;
    const focused = document.activeElement?.closest('[data-key]')?.getAttribute('data-key');
    const hadFocus = focused != null && this.root.contains(document.activeElement);
    this.root.replaceChildren(...this.draw(data).filter((node) => node !== false));
    if (hadFocus) this.root.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }
}
