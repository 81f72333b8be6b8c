import type { NextFunction, Request, Response } from 'express';
import type { NodeAPI } from 'node-red';
import * as z from 'zod/mini';
import { diagnosticsOf } from './diagnostics';
import { demoForm, formBody, longText, readForm, shortText, withAccount, type Form } from './form-routes';
import { protectRoute } from './origin-check';
import { signInsOf } from '../vehicle/sign-in';
import { redactor, shownFailure } from '../node-red/redaction';
import { packOf, sharedStoreOf } from '../node-red/storage';
import { findVehicle, type VehicleNode } from '../node-red/vehicle-node';
import { worded, wordsOf, wordsOfRequest, type Words } from '../node-red/i18n';
import { reportedError } from '../node-red/failures';
import { clock } from '../node-red/time';
import { carsOf, clickCarOfTab, lastPosition, picturesOf, readCar } from '../cars/runtime/cars';
import { demoPage } from '../vehicle/demo-car';
import { editorsOf } from '../node-red/editors';
import { conditionsOfForm, factText, judgeAll } from '../condition/check';
import { conditionOptions } from '../condition/options';
import type { TestableNode } from '../node-red/car-node';
import { parseBody } from '../node-red/options';
import {
  checkAccount,
  checkStore,
  endingAt,
  findVehicles,
  memberOf,
  normalVin,
  parseInterface,
  parseReads,
  readEach,
  VehicleError,
  type Account,
} from '../../src/index';

/** The address that the browser was sent to, pasted back. */
const finishBody = z.object({ redirected: longText });
/** The read that a status form shows. */
const readBody = z.object({
  vin: z._default(shortText, ''),
  reads: z.array(shortText).check(z.minLength(1), z.maxLength(100)),
  interface: z._default(shortText, 'auto'),
  /** The demo car of the configuration, which needs no deploy. */
  demoCar: z.optional(shortText),
});
/** The event that a test sends. */
const testBody = z.object({ event: z.optional(shortText) });
/** Whether the last answers of the service are wanted as well. */
const diagnosticsBody = z.object({ answers: z._default(z.boolean(), false) });
/** The vehicle of a node; empty: that of the configuration. */
const vehicleBody = z.object({ vin: z._default(shortText, '') });

/** A person does not wait longer than this for a dialog. */
const timeLimitMs = 45_000;

/** The handlers of `POST /connected-vehicle/:id/:action` and `GET /connected-vehicle/callback`. */
interface EditorRoutes {
  action(request: Request, response: Response, next: NextFunction): void;
  callback(request: Request, response: Response): void;
}

/**
 * The routes that the dialogs and the tab "Cars" call. No route returns a secret, and none sends a command; `test` sends a message into a
 * flow, which may.
 */
export function editorRoutes(RED: NodeAPI): EditorRoutes {
  const own = protectRoute(RED);
  const signIns = signInsOf(RED);
  const actions = new Map<string, (request: Request, response: Response) => void>();

  const route = (
    action: string,
    permission: 'read' | 'write',
    work: (id: string, body: unknown, words: Words) => Promise<unknown>,
    limited = own,
  ): void => {
    const answer = async (request: Request, response: Response): Promise<void> => {
      const words = wordsOfRequest(RED, request);
      try {
        const result = await work(String(request.params['id']), request.body, words);
        // Diagnostics are for a report to the maintainers, so they stay in English.
        response.json(worded(result, action === 'diagnostics' ? wordsOf(RED, '', 'en-US') : words));
      } catch (error) {
        const { code, sentence, retryAt } = reportedError(RED, action, error, RED.log);
        response.json({ error: worded({ code, message: sentence, retryAt }, words) });
      }
    };
    const permitted = RED.auth.needsPermission(`connected-vehicle.${permission}`);
    actions.set(action, (request, response) =>
      permitted(request, response, () => limited(request, response, () => void answer(request, response))),
    );
  };
  const formRoute = (action: string, work: (form: Form, body: ReturnType<typeof bodyOf>) => Promise<unknown>): void =>
    route(action, 'write', async (id, input) => {
      const body = bodyOf(input);
      return work(readForm(RED, id, body), body);
    });
  const bodyOf = (input: unknown) => parseBody(formBody, input);
  const deployed = (id: string): VehicleNode => {
    const node = findVehicle(RED, id);
    if (node === null)
      throw new VehicleError(
        'CONFIG',
        'This vehicle configuration is not deployed yet. Close the form, press Deploy, then try again.',
      );
    return node;
  };

  formRoute('vehicles', (form) =>
    withAccount(RED, form, async (account) => ({
      vehicles: await withTimeLimit((signal) => findVehicles(account, signal)),
    })),
  );

  formRoute('check', async (form, { nodes }) => {
    const findings = await withAccount(RED, form, (account, vin) =>
      withTimeLimit((signal) => checkAccount(account, { vin, nodes, signal })),
    );
    const store = sharedStoreOf(RED);
    const ofStore = store === null ? [] : await checkStore(store, packOf(RED).presence);
    return redactor.value({ findings: [...ofStore, ...findings] });
  });

  formRoute('sign-in', async (form, { callback }) => signIns.begin(form, callback));

  route('sign-in-finish', 'write', async (id, input) => {
    const { redirected } = parseBody(finishBody, input);
    const { scopes, missing, expiresAt, warning } = await signIns.finish(redirected, id);
    editorsOf(RED).notify();
    return { scopes, missing, expiresAt, warning };
  });

  route('diagnostics', 'write', async (id, input) => {
    const { answers } = parseBody(diagnosticsBody, input);
    return { diagnostics: await diagnosticsOf(RED, deployed(id), answers) };
  });

  route('state', 'read', async (id) => {
    const account = await findVehicle(RED, id)
      ?.account()
      .catch(() => null);
    const signIn = await signIns.resultOf(id);
    // Perhaps another copy of the flows has got the answer.
    const cause = account?.cause();
    if (signIn?.error === null && (cause === 'NOT_SIGNED_IN' || cause === 'SIGN_IN_REQUIRED'))
      await account?.refreshToken().catch(() => undefined);
    return redactor.value({
      token: account?.token() ?? null,
      quota: account?.quota() ?? null,
      signIn,
      demoPage: await demoPage(RED),
    });
  });

  route('values', 'write', async (id, input) => {
    const { vin, reads, interface: version, demoCar } = parseBody(readBody, input);
    const names = [parseReads(reads)].flat();
    const read = async (account: Account, own: unknown) => {
      const readOptions = { vin: own, interface: parseInterface(version) };
      const { payload, failures } = await withTimeLimit((signal) =>
        readEach(names, (name, batch) => account.read(name, { ...readOptions, batch, signal })),
      );
      return redactor.value({ payloads: payload, errors: [...failures].map(shownFailure) });
    };
    const form = demoCar === undefined ? null : demoForm(RED, id, demoCar);
    if (form !== null) return withAccount(RED, form, (account, own) => read(account, vin || own));
    const node = deployed(id);
    return read(await node.account(), node.chooseVin(vin));
  });

  // In the language of the editor, as the rest of the dialog.
  route('conditions', 'write', async (id, input, words) => {
    const node = deployed(id);
    const { vin, match, conditions } = parseBody(conditionOptions, input);
    const asked = conditionsOfForm(conditions);
    const { client } = await node.account();
    const { judged, failures, now, result } = await withTimeLimit(async (signal) =>
      judgeAll(client, asked, {
        match,
        vin: await client.requireVin(node.chooseVin(vin), signal),
        maxAgeMs: 0,
        signal,
      }),
    );
    const lines = judged.map((one) => ({ result: one.result, text: factText(words, one, now) }));
    return redactor.value({ result, lines, errors: [...failures].map(shownFailure) });
  });

  route('commands', 'write', async (id, input) => {
    const node = deployed(id);
    const { vin } = parseBody(vehicleBody, input);
    const { client } = await node.account();
    const { payload } = await withTimeLimit((signal) => client.read('commands', { vin: node.chooseVin(vin), signal }));
    return { commands: payload.map(({ command }) => command) };
  });

  route('test', 'write', async (id, input) => {
    const { event } = parseBody(testBody, input);
    // Null for a node that is not deployed, though the types say otherwise.
    const node = RED.nodes.getNode(id) as TestableNode | null;
    if (node === null || !('sendTest' in node))
      throw new VehicleError(
        'CONFIG',
        'This node does not run. Deploy first, and check that the node and its tab are enabled. A node inside a subflow cannot be tested here.',
      );
    return { text: await node.sendTest(event) };
  });

  // Asks nothing of the service: it is what flows have learned of the car.
  route('equipment', 'read', async (id, input) => {
    const { vin } = parseBody(vehicleBody, input);
    const vehicle = findVehicle(RED, id);
    const { facts } = packOf(RED, memberOf(vehicle?.config, 'service'));
    return { equipment: (await facts.known(normalVin(vehicle?.chooseVin(vin)))).equipment };
  });

  // With a limit of its own: each open editor asks after each signal.
  route('cars', 'read', async () => ({ cars: await carsOf(RED) }), protectRoute(RED));

  route('click', 'write', async (key, click) => {
    await clickCarOfTab(RED, key, click);
    return {};
  });

  route('read-car', 'write', (key) => withTimeLimit((signal) => readCar(RED, key, signal)));

  route('position', 'write', async (key) => ({ position: await lastPosition(RED, key) }));

  route('pictures', 'write', async (key) => ({
    pictures: await withTimeLimit((signal) => picturesOf(RED, key, signal)),
  }));

  return {
    action(request, response, next) {
      const handle = actions.get(String(request.params['action']));
      if (handle === undefined) next();
      else handle(request, response);
    },
    callback: (request, response) => void signIns.answerCallback(request, response).then(() => editorsOf(RED).notify()),
  };
}

const withTimeLimit = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
  endingAt(clock().now() + timeLimitMs, { clock: clock(), reason: late }, work);

const late = (): VehicleError => new VehicleError('TIMEOUT', 'The service did not answer in time. Try again later.');
