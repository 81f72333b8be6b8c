import type { Node, NodeAPI, NodeDef } from 'node-red';
import type * as Runtime from '../runtime';

/** The only place that loads the runtime. Node.js keeps it after the first call. */
const loadRuntime = (): typeof Runtime => require('../runtime') as typeof Runtime;

/**
 * Registers a node type. Its implementation is loaded with the first node that is created, because a Node-RED without a vehicle
 * must not pay for the library.
 */
export function registerOnDemand(
  RED: NodeAPI,
  type: Parameters<typeof Runtime.startNode>[2],
  options: Parameters<NodeAPI['nodes']['registerType']>[2] = {},
): void {
  RED.nodes.registerType(
    type,
    function (this: Node, config: NodeDef) {
      loadRuntime().startNode(RED, this, type, config);
    },
    options,
  );
}

/** Registers the routes of the dialogs and of the tab "Cars". They are loaded when one of them is called first. */
export function serveEditorOnDemand(RED: NodeAPI): void {
  const { httpAdmin } = RED as { httpAdmin?: NodeAPI['httpAdmin'] };
  let routes: ReturnType<typeof Runtime.editorRoutes> | undefined;
  const loaded = () => (routes ??= loadRuntime().editorRoutes(RED));
  httpAdmin?.post('/connected-vehicle/:id/:action', (request, response, next) =>
    loaded().action(request, response, next),
  );
  httpAdmin?.get('/connected-vehicle/callback', (request, response) => loaded().callback(request, response));
}
