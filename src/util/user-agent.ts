/** Name and version of the pack, sent with every request; a test compares it with package.json. */
export const userAgent = 'connected-vehicle-node-red/1.0.0';
