import type { Request, Response } from 'express';
import type { NodeAPI } from 'node-red';
import { diagnosticsOf } from './diagnostics';
import { deployedOf, readForm, withAccount, type Form } from './form';
import { requireOwnEditor } from './origin-check';
import { beginSignIn, callbackPage, signInResultOf, finishSignIn } from './sign-in';
import { runtime } from '../load';
import { redactor, safeError, safeJournal } from '../vehicle/redaction';
import type { VehicleNode } from '../vehicle/vehicle-node';
import { clock } from '../node-red/time';
import { carsOf, clickCar, readCar } from '../overview/cars';
import { demoPage } from '../overview/demo';
import { changed, publishWith } from '../overview/signal';

/** Longer nobody looks at a dialog. */
const timeLimitMs = 45_000;

/** The routes that the dialogs call. No route sends a command, and none returns a secret. */
export function serveEditor(RED: NodeAPI): void {
  const { httpAdmin } = RED as { httpAdmin?: NodeAPI['httpAdmin'] };
  if (httpAdmin === undefined || httpAdmin === null) return;
  const own = requireOwnEditor(RED);
  // Without data, because it reaches every editor that is connected; the routes check who may read what.
  publishWith(() => RED.comms.publish('connected-vehicle/changed', {}, false));

  const route = (
    action: string,
    permission: 'read' | 'write',
    work: (id: string, body: unknown) => Promise<unknown>,
    limited = own,
  ): void => {
    const answer = async (request: Request, response: Response): Promise<void> => {
      try {
        response.json(await work(String(request.params['id']), request.body));
      } catch (error) {
        const { code, message, retryAt } = safeError(error).report();
        response.json({ error: { code, message, retryAt } });
      }
    };
    httpAdmin.post(
      `/connected-vehicle/:id/${action}`,
      RED.auth.needsPermission(`connected-vehicle.${permission}`),
      limited,
      (request, response) => void answer(request, response),
    );
  };
  const formRoute = (action: string, work: (form: Form, body: ReturnType<typeof bodyOf>) => Promise<unknown>): void =>
    route(action, 'write', async (id, input) => {
      const body = bodyOf(input);
      return work(readForm(RED, id, body), body);
    });
  const bodyOf = (input: unknown) => runtime().parseBody(runtime().formBody, input);
  const deployed = (id: string): VehicleNode => {
    const node = deployedOf(RED, id);
    if (node === null)
      throw new (runtime().VehicleError)('CONFIG', 'The vehicle is not deployed yet. Press Deploy, then try again.');
    return node;
  };

  formRoute('vehicles', (form) =>
    withAccount(RED, form, async (account) => ({
      vehicles: await withTimeLimit((signal) => runtime().findVehicles(account, signal)),
    })),
  );

  formRoute('check', async (form, { users }) => {
    const findings = await withAccount(RED, form, (account, vin) =>
      withTimeLimit((signal) => runtime().checkAccount(account, { vin, users, signal })),
    );
    return redactor().value({ findings });
  });

  formRoute('sign-in', async (form, { callback }) => beginSignIn(RED, form, callback));

  route('sign-in-finish', 'write', async (id, input) => {
    const { redirected } = runtime().parseBody(runtime().finishBody, input);
    const { scopes, expiresAt } = await finishSignIn(RED, redirected, id);
    changed();
    return { scopes, expiresAt };
  });

  route('diagnostics', 'write', async (id) => ({ diagnostics: await diagnosticsOf(RED, deployed(id)) }));

  route('state', 'read', async (id) => {
    const account = await deployedOf(RED, id)
      ?.account()
      .catch(() => null);
    return redactor().value({
      token: account?.token() ?? null,
      quota: account?.quota() ?? null,
      signIn: signInResultOf(id),
      demoPage: await demoPage(),
    });
  });

  route('values', 'write', async (id, input) => {
    const node = deployed(id);
    const { vin, reads, interface: version } = runtime().parseBody(runtime().readBody, input);
    const { client, journal } = await node.account();
    const names = [runtime().parseReads(reads)].flat();
    const readOptions = { vin: node.chooseVin(vin), interface: runtime().parseInterface(version) };
    const { payload, vehicle } = await withTimeLimit((signal) =>
      runtime().readEach(names, async (name) =>
        runtime().isLocalReadName(name)
          ? safeJournal(await runtime().readJournal(journal, { clear: false, now: new Date(clock().now()) }))
          : client.read(name, { ...readOptions, signal }),
      ),
    );
    return redactor().value({ payloads: payload, errors: vehicle.errors });
  });

  route('commands', 'write', async (id, input) => {
    const node = deployed(id);
    const { vin } = runtime().parseBody(runtime().commandsBody, input);
    const { client } = await node.account();
    const { payload } = await withTimeLimit((signal) => client.commands({ vin: node.chooseVin(vin), signal }));
    return { commands: payload.map(({ command }) => command) };
  });

  // With a limit of its own: each open editor asks after each signal.
  route('cars', 'read', async () => ({ cars: await carsOf(RED) }), requireOwnEditor(RED));

  route('click', 'write', async (key, click) => {
    await clickCar(RED, key, click);
    return {};
  });

  route('read-car', 'write', (key) => withTimeLimit((signal) => readCar(RED, key, signal)));

  httpAdmin.get(
    '/connected-vehicle/callback',
    (request, response) => void callbackPage(RED)(request, response).then(changed),
  );
}

async function withTimeLimit<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const timeLimit = new AbortController();
  const cancel = clock().after(timeLimitMs, () => timeLimit.abort());
  try {
    return await work(timeLimit.signal);
  } catch (error) {
    if (!timeLimit.signal.aborted) throw error;
    throw new (runtime().VehicleError)('TIMEOUT', 'The service did not answer in time. Try again later.');
  } finally {
    cancel();
  }
}
