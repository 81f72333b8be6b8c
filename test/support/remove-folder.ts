import { rm } from 'node:fs/promises';

/**
 * Removes a folder. What was closed just before may still create a file in it: the folder is not
 * empty then, and is removed again. `rmSync` of Node 22 does not try again.
 */
export const removeFolder = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
