/**
 * For a suite whose sentences hold local times: each of its tests is in a time zone, whatever
 * that of this machine is.
 */
export function useTimeZone(zone: string): void {
  let ofMachine: string | undefined;
  beforeEach(() => {
    ofMachine = process.env['TZ'];
    process.env['TZ'] = zone;
  });
  afterEach(() => {
    if (ofMachine === undefined) delete process.env['TZ'];
    else process.env['TZ'] = ofMachine;
  });
}
