import { hour, minute, second, type Breakage, type CarState, type Day, type Happening } from './day';

/** Days to run a schedule through: the day of the benchmark, and as many others as a seed gives. */

const at = (time: string, day = 1): number => {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return Date.UTC(2026, 5, day, hours, minutes, seconds);
};

/**
 * From six to six: two trips, an outage, a charging evening, a window left open at 22:10, a night.
 */
export const ordinaryDay: Day = {
  start: at('06:00:00'),
  end: at('06:00:00', 2),
  outages: [[at('14:00:00'), at('14:40:00')]],
  happenings: [
    { at: at('07:32:10'), what: 'unlocked for the drive to work', change: { locked: false } },
    { at: at('07:32:21'), what: 'driver’s door opened', change: { doors: ['frontLeft'] } },
    { at: at('07:32:48'), what: 'driver’s door closed', change: { doors: [] } },
    { at: at('07:33:05'), what: 'engine started', change: { running: true } },
    { at: at('07:33:31'), what: 'locks itself while driving', change: { locked: true } },
    { at: at('07:44:12'), what: 'window opened while driving', change: { windows: ['frontLeft'] } },
    { at: at('07:52:30'), what: 'window closed', change: { windows: [] } },
    { at: at('08:04:40'), what: 'engine stopped', change: { running: false, kilometers: 24 } },
    { at: at('08:04:52'), what: 'unlocked at work', change: { locked: false } },
    { at: at('08:05:06'), what: 'driver’s door opened', change: { doors: ['frontLeft'] } },
    { at: at('08:06:11'), what: 'driver’s door closed', change: { doors: [] } },
    { at: at('08:06:24'), what: 'locked', change: { locked: true } },
    { at: at('12:15:08'), what: 'unlocked for something forgotten', change: { locked: false } },
    { at: at('12:15:17'), what: 'tailgate opened', change: { doors: ['tailGate'] } },
    { at: at('12:16:25'), what: 'tailgate closed', change: { doors: [] } },
    { at: at('12:16:33'), what: 'locked', change: { locked: true } },
    { at: at('14:21:07'), what: 'unlocked during the outage', change: { locked: false } },
    { at: at('14:22:15'), what: 'rear door opened during the outage', change: { doors: ['rearRight'] } },
    { at: at('14:43:02'), what: 'rear door closed', change: { doors: [] } },
    { at: at('14:43:20'), what: 'locked', change: { locked: true } },
    { at: at('17:11:40'), what: 'unlocked for the drive home', change: { locked: false } },
    { at: at('17:11:52'), what: 'driver’s door opened', change: { doors: ['frontLeft'] } },
    { at: at('17:13:01'), what: 'driver’s door closed', change: { doors: [] } },
    { at: at('17:13:30'), what: 'engine started', change: { running: true } },
    { at: at('17:13:58'), what: 'locks itself while driving', change: { locked: true } },
    { at: at('17:55:10'), what: 'engine stopped', change: { running: false, kilometers: 48 } },
    { at: at('17:55:21'), what: 'unlocked at home', change: { locked: false } },
    { at: at('17:55:33'), what: 'driver’s door opened', change: { doors: ['frontLeft'] } },
    { at: at('17:57:40'), what: 'driver’s door closed', change: { doors: [] } },
    { at: at('17:57:49'), what: 'locked', change: { locked: true } },
    {
      at: at('17:57:30'),
      what: 'plugged in, waits for its time',
      change: { isPluggedIn: true, charging: 'SCHEDULED' },
    },
    { at: at('19:00:05'), what: 'charging started', change: { charging: 'CHARGING' } },
    { at: at('23:41:20'), what: 'charging done', change: { charging: 'DONE' } },
    { at: at('22:08:55'), what: 'unlocked in the evening', change: { locked: false } },
    { at: at('22:09:04'), what: 'driver’s door opened', change: { doors: ['frontLeft'] } },
    { at: at('22:10:00'), what: 'rear window opened, and left open', change: { windows: ['rearRight'] } },
    { at: at('22:10:35'), what: 'driver’s door closed', change: { doors: [] } },
    { at: at('22:10:44'), what: 'locked with the window open', change: { locked: true } },
  ],
};

/** Lehmer's generator: the same days for the same seed, on every machine. */
function randomOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const doorNames = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'tailGate', 'hood'];
const windowNames = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight'];

/**
 * Up to seven outings with doors, windows and drives, things forgotten open or unlocked,
 * and up to two outages.
 */
export function randomDay(seed: number): Day {
  const random = randomOf(seed * 7_919 + 13);
  for (let i = 0; i < 3; i += 1) random();
  const start = at('06:00:00');
  const end = at('06:00:00', 2);
  const happenings: Happening[] = [];
  let time = start;
  let windows: readonly string[] = [];
  let kilometers = 0;
  const pick = (names: readonly string[]): string => names[Math.floor(random() * names.length)] ?? '';
  const pass = (least: number, most: number): void => {
    time += Math.round(least + random() * (most - least));
  };
  const happen = (what: string, change: Partial<CarState>): void => {
    happenings.push({ at: time, what, change });
  };
  const toggleWindow = (): void => {
    const name = pick(windowNames);
    windows = windows.includes(name) ? windows.filter((other) => other !== name) : [...windows, name];
    happen(`window ${name} moved`, { windows });
  };
  const useDoors = (): void => {
    for (let i = random() * 3; i > 0; i -= 1) {
      const name = pick(doorNames);
      pass(second, 30 * second);
      happen(`door ${name} opened`, { doors: [name] });
      if (random() < 0.3) {
        pass(second, 20 * second);
        toggleWindow();
      }
      pass(second, random() < 0.1 ? 30 * minute : 2 * minute);
      happen(`door ${name} closed`, { doors: [] });
    }
  };

  for (let outings = Math.floor(random() * 8); outings > 0; outings -= 1) {
    pass(minute, 5 * hour);
    happen('unlocked', { locked: false });
    useDoors();
    if (random() < 0.6) {
      pass(second, random() < 0.2 ? 8 * minute : 40 * second);
      happen('engine started', { running: true });
      pass(2 * second, 20 * second);
      happen('locks itself', { locked: true });
      for (let i = Math.floor(random() * 4); i > 0; i -= 1) {
        pass(5 * second, 20 * minute);
        toggleWindow();
      }
      pass(minute, 30 * minute);
      kilometers += 1 + Math.round(random() * 60);
      happen('engine stopped', { running: false, kilometers });
      pass(second, 20 * second);
      happen('unlocked', { locked: false });
      useDoors();
    }
    if (random() < 0.3) {
      pass(second, 20 * second);
      toggleWindow();
    }
    const plugsIn = random() < 0.3;
    if (plugsIn) happen('plugged in', { isPluggedIn: true, charging: 'SCHEDULED' });
    pass(second, random() < 0.1 ? 3 * hour : minute);
    happen('locked', { locked: true });
    if (plugsIn) {
      pass(minute, 2 * hour);
      happen('charging started', { charging: 'CHARGING' });
      pass(20 * minute, 4 * hour);
      happen('charging done', { charging: 'DONE' });
      pass(minute, 2 * hour);
      happen('unplugged', { isPluggedIn: false, charging: 'IDLE' });
    }
  }
  const outages: [number, number][] = [];
  for (let i = Math.floor(random() * 3); i > 0; i -= 1) {
    const from = Math.round(start + random() * (end - start));
    outages.push([from, Math.round(from + minute + random() * hour)]);
  }
  return { start, end, happenings: happenings.filter((happening) => happening.at < end - 5 * minute), outages };
}

const watched = ['doors', 'windows', 'engineRunning', 'accessibility'] as const;

/**
 * The same with endpoints that fail alone, for a blip or for hours, with messages that ask beside
 * the polls, and with doors that are read more rarely.
 */
export function troubledDay(seed: number): Day {
  const day = randomDay(seed);
  const random = randomOf(seed * 104_729 + 7);
  for (let i = 0; i < 3; i += 1) random();
  const sometime = (): number => Math.round(day.start + random() * (day.end - day.start));
  const anyRead = () => watched[Math.floor(random() * watched.length)] ?? 'doors';
  const broken = Array.from({ length: Math.floor(random() * 8) }, (): Breakage => {
    const from = sometime();
    return {
      read: anyRead(),
      from,
      to: from + Math.round(random() < 0.6 ? minute + second : random() * 5 * hour),
      lasting: random() < 0.5,
    };
  });
  const asked = Array.from({ length: Math.floor(random() * 30) }, () => ({ read: anyRead(), at: sometime() }));
  const slower = random() < 0.3 ? { doorsMs: ([2, 5, 10][Math.floor(random() * 4)] ?? 60) * minute } : {};
  return { ...day, broken, asked, ...slower };
}
