import { basename } from 'node:path';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type * as Runtime from './runtime';

/** The only place that loads the runtime. Node.js keeps it after the first call. */
const loadRuntime = (): typeof Runtime => require('./runtime') as typeof Runtime;

/**
 * The types of the credentials of `connected-vehicle`. The client ID is not a secret: every sign-in
 * address contains it.
 */
const credentials = {
  apiKey: { type: 'password' },
  accessToken: { type: 'password' },
  clientId: { type: 'text' },
  clientSecret: { type: 'password' },
} as const;

/**
 * Registers the node type that the file is named after: the build makes a file of it for each type.
 * The implementation is loaded with the first node that is created, because a Node-RED without a
 * vehicle must not pay for the library.
 */
export = (RED: NodeAPI): void => {
  // The build names the files.
  const type = basename(__filename, '.js') as Parameters<typeof Runtime.startNode>[2];
  const isVehicle = type === 'connected-vehicle';
  if (isVehicle) serveEditor(RED);
  const create = function (this: Node, config: NodeDef): void {
    loadRuntime().startNode(RED, this, type, config);
  };
  RED.nodes.registerType(type, create, isVehicle ? { credentials } : {});
};

/**
 * Registers the routes of the dialogs and of the tab "Cars". They are loaded when one of
 * them is called first.
 */
function serveEditor(RED: NodeAPI): void {
  const { httpAdmin } = RED as { httpAdmin?: NodeAPI['httpAdmin'] };
  let routes: ReturnType<typeof Runtime.editorRoutes> | undefined;
  const loaded = () => (routes ??= loadRuntime().editorRoutes(RED));
  httpAdmin?.post('/connected-vehicle/:id/:action', (request, response, next) =>
    loaded().action(request, response, next),
  );
  httpAdmin?.get('/connected-vehicle/callback', (request, response) => loaded().callback(request, response));
}
