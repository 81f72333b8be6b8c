import type { Node } from 'node-red';
import { getOrMake, VehicleError } from '../../src/index';
import { perNodeRed } from '../per-node-red';
import type { FlowNode } from './flow-node';

/** These parts of a flow of Node-RED are missing in its types. */
interface RunningFlow {
  log(entry: { msg: unknown }): void;
}

/**
 * The failures that last and that nodes have found without a message of a flow, each with the nodes
 * that have it. They outlive a deploy.
 */
class LastingFailures {
  readonly #nodes = new Map<string, Set<string>>();

  /** @returns whether no other node has it */
  begin(failure: string, node: string): boolean {
    if (this.#nodes.get(failure)?.has(node)) return false;
    this.end(node);
    return getOrMake(this.#nodes, failure, () => new Set()).add(node).size === 1;
  }

  end(node: string): void {
    for (const [failure, nodes] of this.#nodes) if (nodes.delete(node) && nodes.size === 0) this.#nodes.delete(failure);
  }
}

/**
 * Node-RED passes an error to Catch nodes, and logs it if there is none. The debug sidebar shows an
 * error as an object and cuts its text; so it gets the sentence instead, in the language of the
 * vehicle configuration. What nodes find without a message of a flow is logged once for each
 * configuration, and not for each node and again after each deploy. Catch nodes get every error.
 */
export class ErrorLog {
  readonly #own: FlowNode;
  #isLogged = true;

  /** Replaces the error function of the node. */
  constructor(own: FlowNode) {
    this.#own = own;
    // A member that every running node has.
    const node = own.node as Node & { _flow?: RunningFlow };
    const { _flow: flow } = node;
    if (flow === undefined) return;
    const log = (entry: { msg: unknown }): void => {
      const { msg } = entry;
      if (this.#isLogged)
        flow.log(msg instanceof VehicleError ? { ...entry, msg: own.words.translate(msg.sentence) } : entry);
    };
    const error = node.error.bind(
      Object.create(node, { _flow: { value: Object.create(flow, { log: { value: log } }) } }),
    );
    node.error = (...given: Parameters<Node['error']>) => error(...given);
  }

  /**
   * Prepares the call of `done` with this failure.
   * @param isOwn whether the node began the work without a message of a flow
   */
  failed(failure: VehicleError, isOwn: boolean): void {
    const { RED, node, config } = this.#own;
    this.#isLogged = !isOwn || perNodeRed(RED, LastingFailures).begin(`${config.vehicle} ${failure.message}`, node.id);
  }
}

/** The node works, or it is deleted. */
export const endFailure = ({ RED, node }: FlowNode): void => perNodeRed(RED, LastingFailures).end(node.id);
