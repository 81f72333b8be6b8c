import { sendAround, type DispatchesMet } from '../../model/dispatch-history';
import { itMetEverything, itOnHistories, times } from '../../support/random';

// Commands that wait for their turn or for the car, are cancelled and lose their connection, with
// the real client, the real turns and the simulated service.
const histories = times(60);

describe('Commands on random histories', () => {
  const met: DispatchesMet[] = [];

  itOnHistories('leave once, one at a time to a car, and never after their time', histories, async (random) => {
    met.push(await sendAround(random));
  });

  itMetEverything(histories >= 60, histories / 100, () => {
    const counts: Record<string, number> = {};
    for (const one of met) for (const [what, many] of Object.entries(one)) counts[what] = (counts[what] ?? 0) + many;
    return counts;
  });
});
