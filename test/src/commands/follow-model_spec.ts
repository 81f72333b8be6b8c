import { liveThrough, type Met } from '../../model/follow-history';
import { itMetEverything, itOnHistories, times } from '../../support/random';

// Following a command on random histories, with the real client, the real way to follow it and
// the simulated service.
const histories = times(100);

describe('Following a command, on random histories', () => {
  const met: Met[] = [];

  itOnHistories('sends once, settles once, and says nothing that the car denies', histories, async (random) => {
    met.push(await liveThrough(random));
  });

  itMetEverything(histories >= 100, histories / 200, () => {
    const count = (test: (one: Met) => boolean): number => met.filter(test).length;
    return {
      succeeded: count(({ outcome }) => outcome === 'succeeded'),
      failed: count(({ outcome }) => outcome === 'failed'),
      undetermined: count(({ outcome }) => outcome === 'undetermined'),
      cancelled: count(({ outcome }) => outcome === 'cancelled'),
      'not sent': count(({ outcome }) => outcome === 'not sent'),
      'verified true': count(({ verified }) => verified === true),
      'verified false': count(({ verified }) => verified === false),
      restarted: count(({ restarts }) => restarts > 0),
      'lost looks': count(({ lostPolls }) => lostPolls > 0),
      expired: count(({ expired }) => expired),
      'told again': count(({ toldAgain }) => toldAgain > 0),
      'unknown words': count(({ unknownWord }) => unknownWord),
    };
  });
});
