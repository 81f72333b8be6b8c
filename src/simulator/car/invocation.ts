import { runtimeMinutesLimits, unlockDurationLimits } from '../../catalogue/commands';
import { byRule, type CarState, type PlanStep } from './state';
import { secondMs } from '../../util/durations';

/** A command as it came over the wire. */
export interface InvocationRequest {
  id: string;
  operationId: string;
  command: string;
  interface: 'connected-v1' | 'connected-v2';
  /** Seconds (docs/internals/service.md 4.2 rule 1). Default 120. */
  unlockDuration?: number;
  /** Minutes that the engine runs (docs/internals/vendor-api.md 15.2). Default 15. */
  runtimeMinutes?: number;
}

interface TimelineStep {
  at: number;
  status: string;
  acts: boolean | undefined;
}

const successes = new Set(['COMPLETED', 'SUCCESS']);

/** One command on its way (docs/internals/service.md 3, docs/internals/vendor-api.md 2.2). */
export class Invocation implements InvocationRequest {
  readonly id: string;
  readonly operationId: string;
  readonly command: string;
  readonly interface: 'connected-v1' | 'connected-v2';
  readonly unlockDuration: number;
  readonly runtimeMinutes: number;
  readonly receivedAt: number;
  readonly timeline: readonly TimelineStep[];
  /** The word by the rules of the car, once it is decided. */
  ruling: string | null = null;
  /** When the car did it; null: it has not. */
  actedAt: number | null = null;
  opened = false;
  #releasedUntil: number | null = null;

  constructor(request: InvocationRequest, plan: CarState['commandPlan'], now: number) {
    this.id = request.id;
    this.operationId = request.operationId;
    this.command = request.command;
    this.interface = request.interface;
    this.unlockDuration = request.unlockDuration ?? unlockDurationLimits.maximum;
    this.runtimeMinutes = request.runtimeMinutes ?? runtimeMinutesLimits.maximum;
    this.receivedAt = now;
    // v2 answers once, at the end (docs/internals/vendor-api.md 1.9): the last word of the plan.
    const steps =
      request.interface === 'connected-v2'
        ? plan.steps.slice(-1).map((step) => ({ ...step, afterMs: plan.answerAfterMs }))
        : plan.steps;
    this.timeline = steps
      .map((step: PlanStep) => ({ at: now + step.afterMs, status: step.status, acts: step.acts }))
      .sort((a, b) => a.at - b.at);
  }

  #stepAt(now: number): TimelineStep | undefined {
    return this.timeline.findLast((step) => step.at <= now);
  }

  /** When the last step of the plan comes: v2 answers then. */
  get endsAt(): number {
    return this.timeline.at(-1)?.at ?? this.receivedAt;
  }

  updatedAt(now: number): number {
    return this.hasPassed(now) ? (this.#releasedUntil ?? now) : (this.#stepAt(now)?.at ?? this.receivedAt);
  }

  isRuledAt(now: number): boolean {
    return this.#stepAt(now)?.status === byRule && this.ruling === null;
  }

  succeedsAt(now: number): boolean {
    return successes.has(this.#stepAt(now)?.status ?? '');
  }

  /**
   * The handle is released: from now on the tailgate can be opened for `unlockDuration` seconds.
   */
  release(now: number): void {
    this.#releasedUntil = now + this.unlockDuration * secondMs;
  }

  /** Whether the time to open the tailgate came and went unused. */
  hasPassed(now: number): boolean {
    return this.#releasedUntil !== null && !this.opened && now >= this.#releasedUntil;
  }

  /**
   * An unlock is COMPLETED once the tailgate's handle is released (docs/internals/vendor-api.md
   * 1.9). The car stays locked. If nobody opens the tailgate in time it locks again, and a v1 link
   * that is read after that reports UNLOCK_TIME_FRAME_PASSED (docs/internals/service.md 3): the one
   * word that can follow an end.
   */
  statusAt(now: number): string {
    const status = this.#stepAt(now)?.status ?? 'RUNNING';
    if (status !== byRule) return status;
    return this.hasPassed(now) && this.ruling === 'COMPLETED' ? 'UNLOCK_TIME_FRAME_PASSED' : (this.ruling ?? 'RUNNING');
  }
}
