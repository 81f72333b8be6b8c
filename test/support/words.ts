import { wordsOf } from '../../nodes/runtime';

/** A Node-RED that names no language and has no vehicle configuration. */
const RED = { _: () => '', events: {}, nodes: { getNode: () => null } };

/**
 * The texts of the runtime and the sentences of the library in a language.
 * @param language BCP 47 tag
 */
export const wordsIn = (language: string): ReturnType<typeof wordsOf> => wordsOf(RED as never, '', language);
