const { nodeField: field, textOf, titleOf, wordsOf } = connectedVehicle;

export const type = 'connected-vehicle-status';
export const say = wordsOf(type);

/** In the reader's language if the catalogue names it, else the name's own words. */
export const titleOfRead = (name: string): string => say(`read.${name}`, { defaultValue: titleOf(name) });

export const isSeveral = (): boolean => textOf(field('readType')) === 'several';
export const isFromList = (): boolean => isSeveral() || textOf(field('readType')) === 'str';
