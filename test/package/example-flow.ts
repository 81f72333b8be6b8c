import { strict as assert } from 'node:assert';
import type { RealNodeRed } from '../support/real-node-red';
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials } from '../support/flow';
import { examples, type FlowNode } from './checkout';

/** The nodes of an example. @param name without its number */
export const nodesOf = (name: string): readonly FlowNode[] =>
  examples.find((example) => example.name.endsWith(name))?.nodes ?? assert.fail(`There is no example “${name}”`);

/** How many requests a service has had whose path, without its query, ends with a part. */
export const asked = (service: Simulator, part = ''): number =>
  service.requests.filter(({ path }) => path.replace(/\?.*/, '').endsWith(part)).length;

/** Waits until a service has had so many of these requests. */
export async function untilAsked(service: Simulator, least: number, part = ''): Promise<void> {
  while (asked(service, part) < least) await new Promise((resolve) => setTimeout(resolve, 10));
}

/**
 * Deploys an example with its demo car replaced by one that can be held, for what never
 * goes wrong in the demo.
 * @param name without its number
 * @param change of each node
 * @param credentials of further cars than the first one, by node id
 */
export async function deployExample(
  nodeRed: RealNodeRed,
  service: Simulator,
  name: string,
  change: (node: FlowNode) => FlowNode = (node) => node,
  credentials: Record<string, object> = {},
): Promise<FlowNode[]> {
  const nodes = withoutPages(nodesOf(name));
  const held = nodes.map((node) =>
    change(
      node.type === 'connected-vehicle'
        ? { ...node, ...customVehicle(service, { apiKeyHeader: 'vendor-api-key', shareFor: 0 }) }
        : node,
    ),
  );
  const vehicle = nodes.find(({ type }) => type === 'connected-vehicle')?.id ?? '';
  await nodeRed.admin('POST', 'flows', { flows: held, credentials: { [vehicle]: demoCredentials, ...credentials } });
  return held;
}

/** Deploys the example that speaks MQTT, for a broker on this machine. It reads each second. */
export async function deployHomeAssistant(nodeRed: RealNodeRed, service: Simulator, port: number): Promise<void> {
  const changes: Record<string, object> = {
    'mqtt-broker': { broker: '127.0.0.1', port: String(port), autoConnect: true },
    'connected-vehicle': { requestsPerMinute: 1000 },
    'connected-vehicle-status': { poll: 1 },
  };
  await deployExample(nodeRed, service, 'Home Assistant through MQTT', (node) => ({ ...node, ...changes[node.type] }));
}

/** Without the nodes of Dashboard 2, which are installed for dashboard_spec only. */
export const withoutPages = <Node extends { type: string }>(nodes: readonly Node[]): Node[] =>
  nodes.filter(({ type }) => !type.startsWith('ui-'));

/** Presses the button of an inject node. Node-RED answers a deploy before its nodes are there. */
export async function pressButton({ url }: Pick<RealNodeRed, 'url'>, inject: string): Promise<void> {
  for (let tries = 0; !(await fetch(`${url}inject/${inject}`, { method: 'POST' })).ok; tries += 1)
    assert.ok(tries < 200, inject);
}

export const buttonOf = (nodes: readonly FlowNode[], name: string): string =>
  nodes.find((node) => node.type === 'inject' && node['name'] === name)?.id ?? '';
