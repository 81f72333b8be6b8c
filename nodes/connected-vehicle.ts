import type { NodeAPI } from 'node-red';
import { registerOnDemand, serveEditorOnDemand } from './node-red/on-demand';

/** Registers `connected-vehicle`, which is implemented in vehicle/runtime.ts. */
export = (RED: NodeAPI): void => {
  serveEditorOnDemand(RED);
  registerOnDemand(RED, 'connected-vehicle', {
    credentials: {
      apiKey: { type: 'password' },
      accessToken: { type: 'password' },
      // Not a secret: every sign-in address contains it.
      clientId: { type: 'text' },
      clientSecret: { type: 'password' },
      refreshToken: { type: 'password' },
    },
  });
};
