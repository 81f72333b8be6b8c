import { commandNames, isOfWallbox } from '../../src/catalogue/commands';

/** The commands that a car takes, and not a wallbox. */
export const carCommandNames = commandNames.filter((name) => !isOfWallbox(name));
