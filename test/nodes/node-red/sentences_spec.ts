import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { followCommand, type FollowOptions } from '../../../src/commands/follow';
import { Command } from '../../../src/commands/command';
import { noAnswer, parseRecord, type CommandRecord } from '../../../src/commands/record';
import { VehicleError } from '../../../src/errors';
import { parseGuardSettings } from '../../../src/guard/options';
import { RateLimiter } from '../../../src/http/rate-limiter';
import { asSentence, sentence, wordSentence, type Sentence } from '../../../src/sentence';
import { MemoryStateStore } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
import { said, templates } from '../../support/sentences';
import { wordsIn } from '../../support/words';

const root = resolve(__dirname, '../../../..');
const german = JSON.parse(readFileSync(join(root, 'nodes/locales/de/sentences.json'), 'utf8')) as Record<
  string,
  string
>;

const placesOf = (text: string): string[] => [...text.matchAll(/\{\d\}/g)].map(([place]) => place).sort();

describe('The sentences of errors', () => {
  it('are all translated, with the same places', () => {
    assert.ok(templates.length > 150, String(templates.length));
    assert.deepEqual(
      templates.filter((template) => german[template] === undefined),
      [],
    );
    for (const [english, own] of Object.entries(german)) assert.deepEqual(placesOf(own), placesOf(english), english);
  });

  it('have no translation of a sentence that no longer exists', () => {
    const texts = new Set(said.flatMap((source) => source.texts));
    assert.deepEqual(
      // The months of `clockTime` have a template each.
      Object.keys(german).filter((english) => !texts.has(english) && !/^\{0\} \w{3}, \{1\}$/.test(english)),
      [],
    );
  });

  it('are all found by their text in docs/errors.md or docs/commands.md; `npm run readme` writes them', () => {
    const read = (page: string): string => readFileSync(join(root, 'docs', page), 'utf8');
    const found = read('errors.md') + read('commands.md');
    assert.deepEqual(
      templates.filter((template) => !found.includes(template.replace(/(?:\{\d\})+/g, '…'))),
      [],
    );
  });

  it('have the tag if a value is filled in, so that their template is known', () => {
    assert.deepEqual(
      said.flatMap(({ untagged }) => untagged),
      [],
    );
  });

  it('are translated with what is filled in, also if a value is itself a sentence or a list', () => {
    const refused = sentence`The sign-in service is unavailable (it answered with status ${503}).`;
    assert.equal(
      wordsIn('de').translate(sentence`${refused} The pack tries again automatically.`),
      'Der Anmeldedienst ist gestört (er antwortete mit Status 503). Das Paket versucht es automatisch noch einmal.',
    );
    assert.match(
      wordsIn('de').translate(
        sentence`The ${asSentence('access token')} contains a space, a line break or a non-ASCII character. Copy it again, in one piece, into the vehicle configuration.`,
      ),
      /ASCII: Zugriffstoken\./,
    );
    assert.equal(
      wordsIn('de').translate(sentence`Choose ${['one', asSentence('client ID')]} {1}`),
      'Choose one, Client-ID {1}',
    );
  });

  it('say in German what is wrong with the settings of a guard', () => {
    const problemOf = (settings: object): string => {
      try {
        parseGuardSettings(settings);
      } catch (error) {
        return error instanceof VehicleError ? wordsIn('de').translate(error.sentence) : String(error);
      }
      return '';
    };
    assert.equal(
      problemOf({ minutesFor: { window: 'ten' } }),
      'Der Wächter kann nicht starten. Berichtigen Sie die andere Zeit von „window“. Die Zeit bis zu einer Meldung muss eine Zahl von Minuten sein, 0 oder mehr.',
    );
    assert.equal(
      problemOf({ watch: [] }),
      'Der Wächter kann nicht starten. Es ist keine Öffnung gewählt. Wählen Sie mindestens eine Art von Öffnung.',
    );
  });

  it('say in German what delays a request', async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ clock, store: new MemoryStateStore(), key: 'quota/key' });
    limiter.use({ requestsPerDay: 10_000, requestsPerMinute: 0, commandsPerMinute: 1 });
    const reason = async (kind: 'read' | 'command'): Promise<string> => {
      const refused: unknown = await limiter.acquire(kind, { api: 'connected', deadline: 0 }).catch((error) => error);
      return refused instanceof VehicleError ? wordsIn('de').translate(refused.sentence) : String(refused);
    };
    assert.match(await reason('read'), /^Die Grenze von 0 Anfragen je Minute ist erreicht\. Die nächste Anfrage /);
    limiter.pauseUntil('RATE_LIMITED', new Date(clock.now() + 3_600_000), 'connected');
    assert.match(await reason('command'), /^Der Dienst hat um eine Pause gebeten\. Die nächste Anfrage /);
  });

  it('name in German the source of a property that has no value', () => {
    const label = sentence`${asSentence('The expression')} for “${'vin'}” of this node`;
    assert.equal(
      wordsIn('de').translate(sentence`${label} cannot be evaluated. Correct it in the node.`),
      'Der Ausdruck für „vin“ dieses Nodes lässt sich nicht auswerten. Berichtigen Sie ihn im Node.',
    );
  });

  it('stay English in English, and if a translation is missing', () => {
    const known = 'This vehicle configuration is not deployed yet. Close the form, press Deploy, then try again.';
    assert.equal(wordsIn('en-US').translate(asSentence(known)), known);
    assert.equal(wordsIn('de').translate(asSentence('Something new.')), 'Something new.');
  });
});

describe('The reasons of commands', () => {
  const reasonIn = async (
    language: string,
    answer: Partial<CommandRecord>,
    { isOpen = false, fault = null as Sentence | null } = {},
  ): Promise<string> => {
    const clock = new ManualClock();
    const record = parseRecord({
      id: 'x',
      command: 'lock',
      vin: 'YV1CT9551B1570982',
      interface: 'connected-v1',
      sentAt: new Date(clock.now() - 1_000).toISOString(),
      ...answer,
    });
    const command = Command.adopt(record, 'a', clock.now());
    command.answer({ record, status: 'open', fault }, clock.now());
    const payload = { carLocked: { value: 'UNLOCKED', timestamp: new Date(clock.now() + 1_000).toISOString() } };
    const client = {
      read: () => Promise.resolve({ payload, vehicle: { locked: false, open: isOpen ? ['frontLeft', 'odd'] : [] } }),
    } as unknown as FollowOptions['client'];
    for await (const { settled, reason } of followCommand(command, { client, clock }))
      if (settled) return wordsIn(language).translate(reason);
    return '';
  };

  it('are German in the tab, one sentence or several', async () => {
    assert.equal(
      await reasonIn('de', { outcome: 'succeeded', message: 'The car carried out the command.' }),
      'Das Auto hat den Befehl ausgeführt. Die Türen zeigen jedoch das Gegenteil. Sehen Sie am Auto nach.',
    );
    const fault = noAnswer(new VehicleError('TIMEOUT', 'No answer came.'));
    assert.equal(
      await reasonIn('de', { outcome: 'undetermined', message: wordSentence(fault) }, { fault }),
      'Der Befehl kann das Auto erreicht haben, aber es kam keine Antwort (TIMEOUT). Er wird nicht noch einmal gesendet. Sehen Sie am Auto nach.',
    );
  });

  it('name what is open, in English and in German', async () => {
    const refused = {
      outcome: 'failed',
      requestStatus: 'UNABLE_TO_LOCK_DOOR_OPEN',
      message: 'The car could not be locked because a door is open.',
    } as const;
    assert.equal(
      await reasonIn('en-US', refused, { isOpen: true }),
      'The car could not be locked because a door is open. Open: front-left door, odd.',
    );
    assert.equal(
      await reasonIn('de', refused, { isOpen: true }),
      'Das Auto ließ sich nicht verriegeln, weil eine Tür offen ist. Offen: Tür vorn links, odd.',
    );
  });
});
