import { electricCar } from '../../src/simulator/index';
import type { FlowSetup, TimedFlow } from './timed-flow';

/** What happens to the car, and at which minute of the day. */
const day: readonly [minute: number, happens: (timedFlow: TimedFlow) => void][] = [
  [30, ({ service }) => service.car().set({ lock: 'UNLOCKED', doors: { frontLeft: 'OPEN' } })],
  [31, ({ service }) => service.car().set({ doors: { frontLeft: 'CLOSED' } })],
  [32, ({ service }) => service.car().drive({ km: 24, minutes: 30, latitude: 57.8, longitude: 12 })],
  [63, ({ service }) => service.car().set({ lock: 'LOCKED' })],
  [240, ({ service }) => service.car().set({ windows: { rearRight: 'OPEN' } })],
  [300, ({ service }) => service.car().set({ windows: { rearRight: 'CLOSED' } })],
  [420, ({ service }) => service.faults.add({ status: 503 })],
  [460, ({ service }) => service.faults.clear()],
  [540, ({ service }) => service.car().drive({ km: 24, minutes: 40, latitude: 57.7087, longitude: 11.9745 })],
  [585, ({ service }) => service.car().set({ lock: 'LOCKED' })],
  [600, ({ service }) => service.car().set({ charger: { connection: 'CONNECTED' } })],
  [840, ({ service }) => service.car().set({ lock: 'UNLOCKED' })],
  [900, ({ service }) => service.car().set({ lock: 'LOCKED', windows: { frontLeft: null } })],
  [960, ({ service }) => service.car().set({ windows: { frontLeft: 'CLOSED' } })],
];

/** From 08:00 to 08:00, with a restart at noon that lasts half an hour. */
export async function liveADay(timedFlow: TimedFlow): Promise<void> {
  let now = 0;
  const passTo = async (minute: number): Promise<void> => {
    await timedFlow.pass((minute - now) * 60);
    now = minute;
  };
  for (const [minute, happens] of day) {
    if (minute > 240 && now <= 240) {
      await passTo(245);
      await timedFlow.stop();
      await passTo(275);
      await timedFlow.start();
    }
    await passTo(minute);
    happens(timedFlow);
  }
  await passTo(1440);
}

const service = {
  cars: [{ ...electricCar, battery: { level: 40 }, charger: { connection: 'DISCONNECTED' as const } }],
};

const nodes = {
  'a status node with windows': { type: 'connected-vehicle-status', read: 'windows', poll: 600, emit: 'changes' },
  'a status node with several values': {
    type: 'connected-vehicle-status',
    read: 'several',
    reads: ['doors', 'chargingStatus', 'location'],
    poll: 900,
    emit: 'changes',
  },
  'a guard': { type: 'connected-vehicle-guard', poll: 600, minutes: 10, minutesFor: { lock: 20 } },
  'an event node': {
    type: 'connected-vehicle-event',
    poll: 600,
    events: [
      'unlocked',
      'locked',
      'door-opened',
      'window-opened',
      'window-closed',
      'trip-ended',
      'left',
      'arrived',
      'charging-started',
      'charging-done',
      'battery-above',
      'service-due',
      'available',
      'unavailable',
    ],
    level: 80,
    places: [{ name: 'home', latitude: 57.7087, longitude: 11.9745 }],
  },
} satisfies Record<string, FlowSetup['node']>;

export const days: { title: string; setup: FlowSetup }[] = Object.entries(nodes).map(([title, node]) => ({
  title,
  setup: { node, service, vehicle: { polling: 'fixed' } },
}));
