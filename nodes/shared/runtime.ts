/**
 * Everything that costs time and memory to load, in one place: the library and the checks of the options. A Node-RED
 * without a vehicle never loads it.
 */
export * from '../../src/index';
export * from './options';
