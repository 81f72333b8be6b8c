import type { FaultOptions } from '../service/faults';

/** The limit stands for the 150 s of the real service (docs/internals/vendor-api.md 1.9). */
const limitMs = 7_500;
const nextCommand = { method: 'POST' };
const nextOfWallbox = { path: '/energy-device/' };

/** What a person sets with a click, for the next request or the next command. */
export const demoFaults = {
  // A person who looks at the demo does not wait for hours, as the real service
  // lets its users wait.
  quota: { error: 'quota', refillIn: '00:01:00' },
  outage: { error: 'outage-text' },
  token: { error: 'token-refused' },
  timeout: { error: 'gateway-timeout', latencyMs: limitMs },
  cut: { cut: 'before-headers' },
  slow: { latencyMs: 20_000 },
  // The car acts: what a flow makes of these answers shows with the next read
  // (docs/internals/vendor-api.md 1.9, 6.2).
  delivered: { match: nextCommand, members: { 'data.invokeStatus': { json: 'DELIVERED' } } },
  late: { match: nextCommand, latencyMs: limitMs, members: { 'data.invokeStatus': { json: 'TIMEOUT' } } },
  wallboxOffline: { match: nextOfWallbox, error: 'wallbox-offline' },
  wallboxStatus: { match: nextOfWallbox, error: 'wallbox-status' },
  wallboxCooldown: { match: nextOfWallbox, error: 'wallbox-cooldown' },
  wallboxUnsupported: { match: nextOfWallbox, error: 'wallbox-unsupported' },
  wallboxError: { match: nextOfWallbox, error: 'wallbox-error' },
} as const satisfies Record<string, FaultOptions>;

export type DemoFault = keyof typeof demoFaults;
export const demoFaultNames = Object.keys(demoFaults) as DemoFault[];

/** The name of a fault with this effect; undefined for one that only a program sets. */
export const demoFaultOf = (fault: FaultOptions): DemoFault | undefined =>
  demoFaultNames.find((name) =>
    Object.entries(demoFaults[name]).every(([key, value]) => fault[key as keyof FaultOptions] === value),
  );
