import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'acorn';
import { simple } from 'acorn-walk';
import { transformSync } from 'esbuild';
import { sentenceIn } from '../../../nodes/runtime';

const root = resolve(__dirname, '../../../..');
const filesOf = (folder: string): string[] => readdirSync(join(root, folder)).map((file) => `${folder}/${file}`);

/** The code behind Check, the sign-in and the state of the token: its failures are shown in a dialog. */
const behindDialogs = [...filesOf('src/session'), ...filesOf('nodes/admin'), 'src/http/addresses.ts', 'src/account.ts'];

/** The code that says what became of a command: the tab "Cars" lists it. */
const behindCommands = [
  'src/catalogue/outcomes.ts',
  'src/commands/journal.ts',
  'src/commands/follow-watch.ts',
  'src/commands/follow.ts',
  'src/wire/failures.ts',
];

/** Never shown in a dialog: it has texts of its own for the codes of these, and the last one is only written to the log. */
const notShown = /^(This service does not|The link of this command|The command journal|The stored command journal)/;

/** The sentences in a source, with `{}` for what is filled in. */
function sentencesIn(file: string): string[] {
  const { code } = transformSync(readFileSync(join(root, file), 'utf8'), { loader: 'ts' });
  const found: string[] = [];
  simple(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), {
    Literal: ({ value }) => void (typeof value === 'string' && found.push(value)),
    TemplateLiteral: ({ quasis }) => void found.push(quasis.map(({ value }) => value.cooked ?? '').join('{}')),
  });
  return found.filter((text) => /^[A-Z]\S* .* .*\.$/s.test(text));
}

describe('The sentences of errors', () => {
  const sentences = [...behindDialogs, ...behindCommands]
    .flatMap(sentencesIn)
    .filter((sentence) => !notShown.test(sentence));

  it('that a dialog or the tab can show are translated into German', () => {
    assert.ok(sentences.length > 30);
    // Such a frame holds a sentence that is translated by itself.
    const frames = new Set(['{} The pack tries again by itself.', '{} Start the sign-in again.']);
    const missing = sentences.filter((sentence) => !frames.has(sentence) && sentenceIn('de', sentence) === sentence);
    assert.deepEqual(missing, []);
  });

  it('are translated with what is filled in, and several in a row', () => {
    assert.equal(
      sentenceIn(
        'de',
        'The sign-in service is out of order (it answered with status 503). The pack tries again by itself.',
      ),
      'Der Anmeldedienst ist gestört (er antwortete mit Status 503). Das Paket versucht es von selbst wieder.',
    );
    assert.match(
      sentenceIn(
        'de',
        'The access token contains a blank, a line break or a character outside ASCII. Copy it again, in one piece, into the vehicle configuration.',
      ),
      /ASCII: Zugriffstoken\./,
    );
  });

  it('of a command whose answer was lost are German in the tab', () => {
    assert.equal(
      sentenceIn(
        'de',
        'The service answered with an error (HTTP 504), and the command may have reached the car all the same. It is not sent again. Check at the car whether it acted.',
      ),
      'Der Dienst antwortete mit einem Fehler (HTTP 504); der Befehl kann das Auto trotzdem erreicht haben. Er wird nicht noch einmal gesendet. Sehen Sie am Auto nach, ob es ihn ausgeführt hat.',
    );
    assert.equal(
      sentenceIn('de', 'The car carried out the command. But the doors say that it did not happen. Check the car.'),
      'Das Auto hat den Befehl ausgeführt. Aber: Die Türen zeigen, dass es nicht geschehen ist. Sehen Sie am Auto nach.',
    );
  });

  it('name what is open in German', () => {
    assert.equal(
      sentenceIn('de', 'The car could not be locked because a door is open. Open: front left door, tailgate.'),
      `${sentenceIn('de', 'The car could not be locked because a door is open.')} Offen: Tür vorn links, Heckklappe.`,
    );
    assert.equal(sentenceIn('de', 'Open: something new, hood.'), 'Offen: something new, Motorhaube.');
  });

  it('stay English in English, and where a translation is missing', () => {
    const known = 'The vehicle is not deployed yet. Press Deploy, then try again.';
    assert.equal(sentenceIn('en-US', known), known);
    assert.equal(sentenceIn('de', `${known} Something new.`), `${known} Something new.`);
  });

  it('are not looked for in a text that is longer than any error', () => {
    const text = 'The last poll failed: The sign-in service: '.repeat(10_000);
    assert.equal(sentenceIn('de', text), text);
  });
});
