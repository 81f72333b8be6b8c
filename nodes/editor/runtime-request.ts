import type { Translated } from '../node-red/i18n';
import { nodeField, part, textOf } from './forms';
import { sharedText } from './texts';

/** An error that the runtime returned (docs/internals/contract.md 6). */
export interface Refusal {
  code: string;
  message: string;
}

export type Answer<Members> = Partial<Translated<Members>> & { error?: Refusal };

/** Stands for the error when no answer came: Node-RED stopped, or the user may not do this. */
export const unreached: Refusal = { code: 'unreached', message: '' };

/** Asks the runtime at a relative address, so that the editor adds its own token. */
export function ask<Members>(id: string, action: string, body: object, done: (answer: Answer<Members>) => void): void {
  const data = JSON.stringify(body);
  $.ajax({
    url: `connected-vehicle/${id}/${action}`,
    method: 'POST',
    contentType: 'application/json',
    // A proxy may answer with a page.
    dataType: 'json',
    // The language of the editor, which need not be that of the browser.
    headers: { 'accept-language': RED.i18n.lang() },
    data,
  })
    .done(done)
    // A failure is an answer with `error`, of the runtime if it sent one.
    .fail(({ responseJSON }: JQuery.jqXHR) => done({ error: unreached, ...responseJSON } as Answer<Members>));
}

/** The VIN of the form; undefined if a message or the like names it. */
export const ownVin = (): string | undefined =>
  textOf(nodeField('vinType')) === 'str' ? textOf(nodeField('vin')) : undefined;

/** Asks about the car of the open form of a node. */
export function askCar<Members>(action: string, query: object, done: (answer: Answer<Members>) => void): void {
  const vehicle = textOf(nodeField('vehicle'));
  if (vehicle === '' || vehicle === '_ADD_') done({ error: { code: 'noVehicle', message: '' } } as Answer<Members>);
  else ask(vehicle, action, { vin: ownVin() ?? '', ...query }, done);
}

/** Reads now, for the form of a node. An error of one read is in `errors`. */
export const askValues = (
  query: { reads: readonly string[]; interface?: string },
  done: (answer: Answer<{ payloads: Record<string, unknown>; errors: (Refusal & { read: string })[] }>) => void,
): void => {
  // As the editor has it: it needs no deploy.
  const { service = 'demo', demoCar = 'petrol', vin = '' } = RED.nodes.node(textOf(nodeField('vehicle'))) ?? {};
  askCar('values', { ...(service === 'demo' && { demoCar, vin: ownVin() || vin }), ...query }, done);
};

/** Whether the car can be read only after a deploy, which this shows below the buttons. */
export function waitsForDeploy(): boolean {
  const id = textOf(nodeField('vehicle'));
  const isNew =
    (RED.nodes.node(id)?.service ?? 'demo') !== 'demo' && !RED.nodes.originalFlow()?.some((one) => one.id === id);
  part('waits').text(isNew ? sharedText('waits') : '');
  return isNew;
}

export const errorText = ({ code, message }: Refusal): string =>
  sharedText(`dialog.check.${code}`, { defaultValue: message });
