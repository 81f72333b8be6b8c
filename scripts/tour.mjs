// `npm run tour`: every read, command and event through a deployed flow of a real Node-RED, as tables, and the kinds of cars side by side.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import realNodeRed from '../dist/test/support/real-node-red.js';
import tarball from '../dist/test/package/tarball.js';
import events from '../dist/test/package/event-tour.js';
import guided from '../dist/test/package/tour.js';

const folder = await mkdtemp(join(tmpdir(), 'tour-'));
const nodeRed = await realNodeRed.startNodeRed([], tarball.installTarball(await tarball.packTarball(folder)));
try {
  const { rows, profiles } = await guided.tour(nodeRed);
  const happened = await events.eventTour(nodeRed);
  const failed =
    rows.filter(({ seen }) => Object.values(seen).some(({ problems }) => problems.length > 0)).length +
    happened.filter(({ problems }) => problems.length > 0).length;
  console.log(`${guided.tourTable(rows)}\n\nThe kinds of cars, real dialect:\n\n${guided.profileTable(profiles)}`);
  console.log(`\nThe events:\n\n${events.eventTable(happened)}`);
  console.log(`\n${rows.length} stops, ${happened.length} events, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await nodeRed.stop();
  await rm(folder, { recursive: true, force: true });
}
