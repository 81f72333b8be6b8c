import { FileStateStore, SealedStateStore, type Seal } from '../../src/index';
import type { FileStateStoreOptions } from '../../src/state/file-state-store';

/** The store of the sign-ins, as the nodes open it. */
export const sealedFiles = (seals: readonly Seal[], options: FileStateStoreOptions): SealedStateStore =>
  new SealedStateStore({
    store: new FileStateStore(options),
    seals: () => seals,
    ...(options.warn && { warn: options.warn }),
  });
