const cpuOf = (work: () => unknown): number => {
  const began = process.cpuUsage();
  work();
  return process.cpuUsage(began).user;
};

/**
 * True if much more work takes no more than `factor` times the processor time of the less, on a
 * machine of any speed. What else runs on it can only lengthen one of the measurements, so one
 * round in which it holds is enough; work that grows faster fails in each.
 */
export function growsLessThan(factor: number, less: () => unknown, more: () => unknown): boolean {
  const best = (work: () => unknown): number => Math.min(...[1, 2, 3].map(() => cpuOf(work)));
  // A time too short to measure counts as a millisecond.
  return [1, 2, 3, 4, 5].some(() => best(more) < factor * Math.max(1_000, best(less)));
}
