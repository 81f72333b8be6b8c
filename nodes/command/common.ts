const { sharedText, titleOf, wordsOf } = connectedVehicle;

export const type = 'connected-vehicle-command';
export const say = wordsOf(type);

export const titleOfCommand = (name: string): string => sharedText(`command.${name}`, { defaultValue: titleOf(name) });
