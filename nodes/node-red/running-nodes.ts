import type { NodeAPI } from 'node-red';
import { perNodeRed } from '../per-node-red';
import { deploysOf } from './deploys';
import { editorsOf } from './editors';
import { packOf } from './storage';

/**
 * The news that can concern every node: a deploy is over, the editors got a signal, or the role of
 * this process or its store has changed.
 */
export type News = 'deploy' | 'editors' | 'presence';

/** The nodes of a Node-RED. One listener hears the news for all: one for each takes memory. */
class RunningNodes {
  readonly all = new Set<{ hear(news: News): void }>();

  constructor(RED: NodeAPI) {
    deploysOf(RED).onEnd(() => this.#tell('deploy'));
    editorsOf(RED).onNews(() => this.#tell('editors'));
    packOf(RED).presence.onChange(() => this.#tell('presence'));
  }

  #tell(news: News): void {
    for (const node of this.all) node.hear(news);
  }
}

export const runningNodesOf = (RED: NodeAPI): RunningNodes['all'] => perNodeRed(RED, RunningNodes).all;
