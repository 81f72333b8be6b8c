/** Node-RED searches the palette by type and label. This adds the words that a driver would look for. */
export function addSearchWords(type: string, words: string): void {
  const entry = $(`.red-ui-palette-node[data-palette-type="${type}"]`);
  entry.attr('data-palette-label', `${entry.attr('data-palette-label') ?? ''} ${words}`);
}
