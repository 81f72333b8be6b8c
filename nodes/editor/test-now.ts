import { part, textOf } from './forms';
import { ask, errorText } from './runtime-request';
import { sharedText } from './texts';

/** A double click is one test. */
const pauseMs = 1_000;

/**
 * The button *Test now*: sends what an alert or the chosen event would send,
 * through the deployed node.
 * @param events shown beside it
 */
export function showTest(id: string, events = $()): void {
  const answer = $('<div role="status">');
  const show = (text: string, isBad: boolean): JQuery => answer.text(text).toggleClass('warning', isBad);
  const button = $('<button type="button" class="red-ui-button">');
  button.append($('<i class="fa fa-paper-plane-o" aria-hidden="true">'), ` ${sharedText('test.now')}`);
  const isDeployed = [RED.nodes.node(id), RED.nodes.node(RED.nodes.node(id)?.vehicle ?? '')].every(
    (node) => !node?.changed,
  );
  button.prop('disabled', !isDeployed).on('click', () => {
    button.prop('disabled', true);
    ask<{ text: string }>(id, 'test', { event: textOf(events) }, ({ text = '', error }) => {
      show(error ? errorText(error) : `${sharedText('test.sent')} ${text}`, error !== undefined);
      setTimeout(() => button.prop('disabled', false), pauseMs);
    });
  });
  part('test').append(
    $('<div class="pair">').append(events, button),
    answer,
    $('<div class="hint">').text(sharedText(isDeployed ? 'test.hint' : 'test.dirty')),
  );
}
