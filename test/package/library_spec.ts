import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { packageJson, readText, root } from './checkout';
import { listen } from '../support/listening';

/** What the library answers to its form. */
interface Answer {
  status: number;
  body: string;
}

/**
 * npm and the flow library, each as its source or its documents describe it; npm shows the version
 * when it was asked twice.
 */
class Services {
  readonly asked: string[] = [];
  readonly server: Server;
  readonly answer: Answer;
  readonly form: string;

  constructor(answer: Answer, form = '<input type="hidden" id="add-node-csrf" value="a-token/+">') {
    this.answer = answer;
    this.form = form;
    this.server = createServer(async (request, response) => {
      const body = await text(request);
      this.asked.push(`${request.method} ${request.url}`);
      if (request.url !== '/add/node') return void response.writeHead(this.asked.length < 2 ? 404 : 200).end('{}');
      if (request.method === 'GET')
        return void response
          .setHeader('set-cookie', ['_csrf=secret; Path=/', 'connect.sid=session; HttpOnly'])
          .end(`<form>${this.form}</form>`);
      const fields = new URLSearchParams(body);
      const isRight =
        request.headers.cookie === '_csrf=secret; connect.sid=session' &&
        fields.get('_csrf') === 'a-token/+' &&
        fields.get('module') === packageJson.name;
      response.writeHead(isRight ? this.answer.status : 403).end(isRight ? this.answer.body : 'Invalid token');
    });
  }

  /** What the script prints, and how it ends. */
  async run(): Promise<{ code: number; said: string }> {
    const address = `http://127.0.0.1:${await listen(this.server)}`;
    try {
      const script = spawn(process.execPath, [join(root, 'scripts/library.mjs'), address, address, '1']);
      const [out, err, [code]] = await Promise.all([text(script.stdout), text(script.stderr), once(script, 'close')]);
      return { code: Number(code), said: (out + err).replaceAll(address, '') };
    } finally {
      this.server.closeAllConnections();
      this.server.close();
    }
  }
}

describe('The page of the flow library is refreshed after a release', () => {
  const { name, version } = packageJson;

  it('when npm shows the version, by the form of the library', async () => {
    const services = new Services({ status: 200, body: `/node/${name}?m=` });
    assert.deepEqual(await services.run(), { code: 0, said: `The flow library shows ${name} ${version}.\n` });
    const ofNpm = `GET /${name.replace('/', '%2f')}/${version}`;
    assert.deepEqual(services.asked, [ofNpm, ofNpm, 'GET /add/node', 'POST /add/node']);
  });

  it('and is fine if the library was first', async () => {
    const { code } = await new Services({ status: 400, body: 'Module already at latest version' }).run();
    assert.equal(code, 0);
  });

  for (const [what, services, sentence] of [
    [
      'refuses',
      new Services({ status: 400, body: 'Not found' }),
      /^The library answers 400 \(Not found\)\. Enter .* by hand/,
    ],
    [
      'has another form',
      new Services({ status: 200, body: '' }, ''),
      /^The form of the library has changed\. Enter .* by hand/,
    ],
  ] as const)
    it(`and the job fails with what to do if the library ${what}`, async () => {
      const { code, said } = await services.run();
      assert.equal(code, 1);
      assert.match(said, sentence);
    });

  it('in a job without the right to publish', () => {
    const [, job = ''] = /\n {2}library:\n([\s\S]*)$/.exec(readText('.github/workflows/release.yml')) ?? [];
    assert.match(job, /needs: publish\n/);
    assert.match(
      job,
      /run: node scripts\/library\.mjs https:\/\/flows\.nodered\.org "\$\(npm config get registry\)"\n/,
    );
    assert.doesNotMatch(job, /permissions|secrets|environment|id-token/);
  });
});
