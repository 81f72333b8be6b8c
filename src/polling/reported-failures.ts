import type { VehicleError } from '../errors';

/** Remembers which reads have failed, so that an outage is reported once and not with each poll. */
export class ReportedFailures<Read extends string> {
  readonly #reported = new Set<Read>();

  /**
   * Reads that fail with the same code are reported together, another one by the next poll.
   * @returns the failure of a poll, one that was not reported before if there is any
   */
  record(
    reads: readonly Read[],
    failures: ReadonlyMap<Read, VehicleError>,
  ): { failure: VehicleError | null; isNewFailure: boolean } {
    for (const read of reads) if (!failures.has(read)) this.#reported.delete(read);
    const failed = reads.filter((read) => failures.has(read));
    const unreported = failed.find((read) => !this.#reported.has(read));
    const named = unreported ?? failed[0];
    const failure = named === undefined ? null : (failures.get(named) ?? null);
    for (const [read, { code }] of failures)
      if (unreported !== undefined && code === failure?.code) this.#reported.add(read);
    return { failure, isNewFailure: unreported !== undefined };
  }
}
