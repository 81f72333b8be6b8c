import type { Simulator } from '../../src/simulator/index';
import { runtime } from './load';
import { clock } from './time';

/** All demo vehicles share one simulated service; it ends with the last of them. */
let users = 0;
let running: Promise<Simulator> | undefined;

/** A vehicle's part in the simulated service. */
export class Demo {
  #uses = false;

  start(): Promise<Simulator> {
    if (!this.#uses) users += 1;
    this.#uses = true;
    return (running ??= runtime().simulator().startSimulator({ open: true, clock: clock() }));
  }

  async end(): Promise<void> {
    if (!this.#uses) return;
    this.#uses = false;
    if (--users > 0) return;
    const service = running;
    running = undefined;
    await (await service)?.close();
  }
}
