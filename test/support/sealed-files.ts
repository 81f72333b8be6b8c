import * as diskFiles from 'node:fs/promises';
import { FileStateStore, SealedStateStore, type Seal } from '../../src/index';
import { durableFiles, type FileStateStoreOptions } from '../../src/state/file-state-store';

/** The store of the sign-ins, as the nodes open it. */
export const sealedFiles = (seals: readonly Seal[], options: FileStateStoreOptions): SealedStateStore =>
  new SealedStateStore({
    store: new FileStateStore(options),
    seals: () => seals,
    ...(options.warn && { warn: options.warn }),
  });

/** The same, but not forced to disk: a process can be killed, and power does not fail. */
export const unsyncedFiles = (seals: readonly Seal[], directory: string): SealedStateStore =>
  sealedFiles(seals, {
    directory,
    files: {
      ...diskFiles,
      ...durableFiles,
      // Without `flush`.
      writeFile: (file, text) => durableFiles.writeFile(file, text),
      fsync: () => Promise.resolve(),
    },
  });
