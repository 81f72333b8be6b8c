import type { FaultOptions } from '../service/faults';

/** Faults that a person sets with a click. Each lets the next request to the service fail. */
export const demoFaults = {
  // A person who looks at the demo does not wait for hours, as the real service lets its users wait.
  quota: { error: 'quota', refillIn: '00:01:00' },
  outage: { error: 'outage-text' },
  token: { error: 'token-refused' },
  timeout: { error: 'gateway-timeout' },
  cut: { cut: 'before-headers' },
  slow: { latencyMs: 20_000 },
} as const satisfies Record<string, FaultOptions>;

export type DemoFault = keyof typeof demoFaults;
export const demoFaultNames = Object.keys(demoFaults) as DemoFault[];

/** The name of a fault with this effect; undefined for one that only a program sets. */
export const demoFaultOf = (fault: FaultOptions): DemoFault | undefined =>
  demoFaultNames.find((name) =>
    Object.entries(demoFaults[name]).every(([key, value]) => fault[key as keyof FaultOptions] === value),
  );
