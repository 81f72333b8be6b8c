import { configField, nodeField } from './forms';
import { loadWords } from './later-words';
import { errorText, unreached } from './runtime-request';
import { sharedText } from './texts';

interface Dialog<Options> {
  prepare(node: EditorNode<Options>): void;
  save(node: EditorNode<Options>): void;
}

const fieldsOf = ({ _def }: EditorNode<object>): ((name: string) => JQuery) =>
  _def.category === 'config' ? configField : nodeField;

const formOf = (node: EditorNode<object>): JQuery => fieldsOf(node)('name').closest('.car-form');

const held = 'dialog';

/**
 * Prepares an open form as soon as its code and its texts are loaded. Until then its fields are
 * hidden, and saving keeps what the node has (`saveForm`). They keep their space: Node-RED makes
 * the form as wide as they are.
 */
export const openForm = <Options>(load: () => Promise<Dialog<Options>>) =>
  function (this: EditorNode<Options>): void {
    const form = formOf(this);
    const fields = form.children().css('visibility', 'hidden');
    const note = $('<div role="status">').text(sharedText('dialog.loading')).prependTo(form);
    form.attr('aria-busy', 'true');
    const end = (): JQuery => form.removeAttr('aria-busy');
    Promise.all([load(), loadWords()]).then(
      ([dialog]) => {
        // It was closed meanwhile.
        if (form.closest('body').length === 0) return;
        note.remove();
        form.i18n();
        fields.css('visibility', '');
        form.data(held, dialog);
        end();
        dialog.prepare(this);
        reportFields(this);
      },
      () => {
        fields.hide();
        note.text(errorText(unreached)).addClass('warning');
        end();
      },
    );
  };

/** Each field reports a change and is validated, as Node-RED does after `oneditprepare`. */
function reportFields(node: EditorNode<object>): void {
  const { defaults, credentials = {} } = node._def;
  for (const name of Object.keys({ ...defaults, ...credentials })) {
    const input = fieldsOf(node)(name).attr('skipValidation', 'true');
    const isTyped = input.data('noderedTypedInput') !== undefined;
    input.trigger('change', isTyped ? [input.typedInput('type'), input.typedInput('value')] : []);
    input.removeAttr('skipValidation');
  }
  fieldsOf(node)('name').trigger('keyup');
}

/** A form that could not be prepared is removed, so that Node-RED stores none of its fields. */
export function saveForm<Options>(this: EditorNode<Options>): void {
  const form = formOf(this);
  const dialog = form.data(held) as Dialog<Options> | undefined; // Stored by `openForm`.
  if (dialog !== undefined) return dialog.save(this);
  form.remove();
  if (this.credentials === undefined) return;
  // Node-RED then treats those that were imported as saved.
  const kept = { ...this.credentials };
  queueMicrotask(() => (this.credentials = kept));
}
