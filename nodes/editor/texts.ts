/** A text of a message catalogue, without the prefix of the node it belongs to. */
export type Say = (key: string, values?: Record<string, unknown>) => string;

/** With the namespace spelled out: validators and label functions run where no node is at hand. */
export const wordsOf =
  (type: string): Say =>
  (key, values) =>
    RED._(`@connected-vehicle/node-red/${type}:${key}`, values);

/** Texts that several nodes share are in the catalogue of the configuration, because all of them need it. */
export const sharedText = wordsOf('connected-vehicle');
