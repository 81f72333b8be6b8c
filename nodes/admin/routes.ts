import type { NodeAPI } from 'node-red';
import * as z from 'zod/mini';
import { diagnosticsOf } from './diagnostics';
import { demoForm, formBody, longText, readForm, shortText, withAccount } from './form-routes';
import { signInsOf } from '../vehicle/sign-in';
import { redactor, shownFailure } from '../node-red/redaction';
import { checkStorage, packOf } from '../node-red/storage';
import { findVehicle, type VehicleNode } from '../node-red/vehicle-node';
import type { Words } from '../node-red/i18n';
import { clock } from '../node-red/time';
import { carsOf, clickCarOfTab, lastPosition, picturesOf, readCar } from '../cars/runtime/cars';
import { demoPage } from '../vehicle/demo-car';
import { editorsOf } from '../node-red/editors';
import { conditionsOfForm, factText, judgeAll } from '../condition/check';
import { conditionOptions } from '../condition/options';
import type { TestableNode } from '../node-red/car-node';
import {
  checkAccount,
  endingAt,
  findVehicles,
  memberOf,
  normalVin,
  parseInterface,
  parseReads,
  readEach,
  VehicleError,
  type Account,
  type Signal,
} from '../../src/index';

/** A body that the work checks itself, or that nobody reads. */
const anyBody = z.unknown();
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
const testBody = z.object({ event: z.optional(shortText) });
/** Whether the last answers of the service are wanted as well. */
const diagnosticsBody = z.object({ answers: z._default(z.boolean(), false) });
/** The vehicle of a node; empty: that of the configuration. */
const vehicleBody = z.object({ vin: z._default(shortText, '') });

/** A person does not wait longer than this for a dialog. */
const timeLimitMs = 45_000;

/** A call of a route. */
interface Call {
  RED: NodeAPI;
  /** The id of the node, or the name of the car in the tab. */
  id: string;
  /** The texts in the language of the editor. */
  words: Words;
}

export interface Route<Body extends z.ZodMiniType = z.ZodMiniType> {
  /**
   * `read` for what the runtime knows; `write` for what asks the service, changes something
   * or shows a position.
   */
  permission: 'read' | 'write';
  body: Body;
  /**
   * Not counted in the limit that all other routes share, because each open editor calls
   * it after each signal.
   */
  hasOwnLimit?: true;
  run(call: Call, body: z.infer<Body>): Promise<unknown>;
}

/** Infers what `run` gets from `body`. */
const route = <Body extends z.ZodMiniType>(row: Route<Body>): Route<Body> => row;

/**
 * The routes that the dialogs and the tab "Cars" call. None returns a secret or sends a command;
 * `test` sends a message into a flow, which may send one.
 */
export const routes = {
  vehicles: route({
    permission: 'write',
    body: formBody,
    run: ({ RED, id }, body) =>
      withAccount(RED, readForm(RED, id, body), async (account) => ({
        vehicles: await withTimeLimit((signal) => findVehicles(account, signal)),
      })),
  }),
  check: route({
    permission: 'write',
    body: formBody,
    async run({ RED, id }, body) {
      const findings = await withAccount(RED, readForm(RED, id, body), (account, vin) =>
        withTimeLimit((signal) => checkAccount(account, { vin, nodes: body.nodes, signal })),
      );
      return redactor.value({ findings: [...(await checkStorage(RED)), ...findings] });
    },
  }),
  'form-position': route({
    permission: 'write',
    body: formBody,
    run: ({ RED, id }, body) =>
      withAccount(RED, readForm(RED, id, body), (account, vin) =>
        valuesOf(account, vin, { reads: ['location'], interface: 'auto' }),
      ),
  }),
  'sign-in': route({
    permission: 'write',
    body: formBody,
    run: async ({ RED, id }, body) => signInsOf(RED).begin(readForm(RED, id, body), body.callback),
  }),
  'sign-in-finish': route({
    permission: 'write',
    body: finishBody,
    async run({ RED, id }, { redirected }) {
      const { missing, warning } = await signInsOf(RED).finish(redirected, id);
      editorsOf(RED).notify();
      return { missing, warning };
    },
  }),
  diagnostics: route({
    permission: 'write',
    body: diagnosticsBody,
    run: async ({ RED, id }, { answers }) => ({ diagnostics: await diagnosticsOf(RED, deployed(RED, id), answers) }),
  }),
  state: route({ permission: 'read', body: anyBody, run: stateOf }),
  values: route({
    permission: 'write',
    body: readBody,
    async run({ RED, id }, { vin, demoCar, ...asked }) {
      const form = demoCar === undefined ? null : demoForm(RED, id, demoCar);
      if (form !== null) return withAccount(RED, form, (account, own) => valuesOf(account, vin || own, asked));
      const node = deployed(RED, id);
      return valuesOf(await node.account(), node.chooseVin(vin), asked);
    },
  }),
  conditions: route({ permission: 'write', body: conditionOptions, run: judgeConditions }),
  commands: route({
    permission: 'write',
    body: vehicleBody,
    async run({ RED, id }, { vin }) {
      const node = deployed(RED, id);
      const { client } = await node.account();
      const { payload } = await withTimeLimit((signal) =>
        client.read('commands', { vin: node.chooseVin(vin), signal }),
      );
      return { commands: payload.map(({ command }) => command) };
    },
  }),
  test: route({
    permission: 'write',
    body: testBody,
    run: async ({ RED, id }, { event }) => ({ text: await testable(RED, id).sendTest(event) }),
  }),
  // Sends no request: flows have learned this about the car.
  equipment: route({
    permission: 'read',
    body: vehicleBody,
    async run({ RED, id }, { vin }) {
      const vehicle = findVehicle(RED, id);
      const { facts } = packOf(RED, memberOf(vehicle?.config, 'service'));
      return { equipment: (await facts.known(normalVin(vehicle?.chooseVin(vin)))).equipment };
    },
  }),
  cars: route({
    permission: 'read',
    body: anyBody,
    hasOwnLimit: true,
    run: async ({ RED }) => ({ cars: await carsOf(RED) }),
  }),
  click: route({
    permission: 'write',
    body: anyBody,
    async run({ RED, id }, click) {
      await clickCarOfTab(RED, id, click);
      return {};
    },
  }),
  'read-car': route({
    permission: 'write',
    body: anyBody,
    run: ({ RED, id }) => withTimeLimit((signal) => readCar(RED, id, signal)),
  }),
  position: route({
    permission: 'write',
    body: anyBody,
    run: async ({ RED, id }) => ({ position: await lastPosition(RED, id) }),
  }),
  pictures: route({
    permission: 'write',
    body: anyBody,
    run: async ({ RED, id }) => ({ pictures: await withTimeLimit((signal) => picturesOf(RED, id, signal)) }),
  }),
};

async function stateOf({ RED, id }: Call): Promise<unknown> {
  const account = await findVehicle(RED, id)
    ?.account()
    .catch(() => null);
  const signIn = await signInsOf(RED).resultOf(id);
  // Another copy of the flows may have received the answer of this sign-in.
  const obstacle = account?.obstacle();
  if (signIn?.error === null && (obstacle === 'NOT_SIGNED_IN' || obstacle === 'SIGN_IN_REQUIRED'))
    await account?.refreshToken().catch(() => undefined);
  return redactor.value({
    token: account?.token() ?? null,
    quota: account?.quota() ?? null,
    signIn,
    demoPage: await demoPage(RED),
  });
}

async function valuesOf(
  account: Account,
  vin: unknown,
  { reads, interface: version }: Pick<z.infer<typeof readBody>, 'reads' | 'interface'>,
): Promise<unknown> {
  const names = [parseReads(reads)].flat();
  const options = { vin, interface: parseInterface(version) };
  const { payload, failures } = await withTimeLimit((signal) =>
    readEach(names, (name) => account.read(name, { ...options, signal })),
  );
  return redactor.value({ payloads: payload, errors: [...failures].map(shownFailure) });
}

/** The lines are in the language of the editor, as the rest of the dialog is. */
async function judgeConditions(
  { RED, id, words }: Call,
  { vin, match, conditions }: z.infer<typeof conditionOptions>,
): Promise<unknown> {
  const node = deployed(RED, id);
  const asked = conditionsOfForm(conditions);
  const account = await node.account();
  const { client } = account;
  const { judged, failures, now, result } = await withTimeLimit(async (signal) =>
    judgeAll(account, asked, { match, vin: await client.requireVin(node.chooseVin(vin), signal), maxAgeMs: 0, signal }),
  );
  const lines = judged.map((one) => ({
    result: one.result,
    text: factText(words, one, now),
  }));
  return redactor.value({ result, lines, errors: [...failures].map(shownFailure) });
}

/** @throws VehicleError CONFIG */
function deployed(RED: NodeAPI, id: string): VehicleNode {
  const node = findVehicle(RED, id);
  if (node === null)
    throw new VehicleError(
      'CONFIG',
      'This vehicle configuration is not deployed yet. Close the form, press Deploy, then try again.',
    );
  return node;
}

/** @throws VehicleError CONFIG */
function testable(RED: NodeAPI, id: string): TestableNode {
  // Null for a node that is not deployed, although the types exclude null.
  const node = RED.nodes.getNode(id) as TestableNode | null;
  if (node === null || !('sendTest' in node))
    throw new VehicleError(
      'CONFIG',
      'This node is not running. Deploy first, and check that the node and its tab are enabled. A node inside a subflow cannot be tested here.',
    );
  return node;
}

const withTimeLimit = <Result>(work: (signal: Signal) => Promise<Result>): Promise<Result> =>
  endingAt(clock().now() + timeLimitMs, { clock: clock(), reason: late }, work);

const late = (): VehicleError => new VehicleError('TIMEOUT', 'The service did not answer in time. Try again later.');
