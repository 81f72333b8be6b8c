import type { NodeAPI } from 'node-red';
import { version } from '../../package.json';
import { redactor, safeError } from '../node-red/redaction';
import type { VehicleNode } from '../node-red/vehicle-node';
import { storedNodes } from '../node-red/flows';
import { LastFailures } from '../node-red/failures';
import { perNodeRed } from '../per-node-red';
import { parseOptions } from '../node-red/options';
import { vehicleCredentials, vehicleOptions } from '../vehicle/options';
import { isLoopback, shortVin } from '../../src/index';

/**
 * The text of *Copy diagnostics* (docs/security.md, “What Copy diagnostics leaves out”). The
 * answers have the form of `test/fixtures/answers`.
 * @throws VehicleError
 */
export async function diagnosticsOf(RED: NodeAPI, node: VehicleNode, withAnswers: boolean): Promise<unknown> {
  const options = parseOptions(vehicleOptions, node.config);
  const credentials = parseOptions(vehicleCredentials, node.credentials ?? {});
  const account = await node.account().catch(safeError);
  const opened = 'client' in account ? account : null;
  return redactor.value({
    pack: version,
    nodeRed: RED.version?.(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    settings: {
      ...options,
      name: undefined,
      // They show where a person lives and works.
      places: options.places.length,
      tariff: options.tariff === '' ? '' : '[tariff]',
      vin: options.vin === '' ? '' : shortVin(options.vin),
      wallbox: options.wallbox === '' ? '' : '[id]',
      baseUrl: shownAddress(options.baseUrl),
      authorizeUrl: shownAddress(options.authorizeUrl),
      tokenUrl: shownAddress(options.tokenUrl),
      redirectUrl: shownAddress(options.redirectUrl, false),
    },
    // Their names only.
    credentials: Object.entries(credentials).flatMap(([name, value]) => (value === '' ? [] : [name])),
    nodes: countNodes(RED, node.id),
    interfaces: opened?.client.service.availableInterfaces,
    connection: opened?.connection,
    problem: 'report' in account ? account.report() : undefined,
    token: opened?.token(),
    quota: opened?.quota(),
    requests: opened?.recentRequests(),
    failures: perNodeRed(RED, LastFailures).list,
    answers: withAnswers ? opened?.lastAnswers() : undefined,
  });
}

/**
 * An address as a form has it, without user, password, query and fragment.
 * @param hasHost with the name of any host; else only with one of the machine itself, because the
 * owner's Node-RED has a name of the owner
 */
function shownAddress(address: string, hasHost = true): string {
  if (address === '') return '';
  if (!URL.canParse(address)) return '[no address]';
  const { protocol, hostname, port, pathname, username, search, hash } = new URL(address);
  const host = hasHost || isLoopback(hostname) ? hostname : '[host]';
  return `${protocol}//${username && '[user]@'}${host}${port && `:${port}`}${pathname}${search && '?…'}${hash && '#…'}`;
}

/** The number of nodes of each type that use the configuration. */
function countNodes(RED: NodeAPI, id: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type, vehicle } of storedNodes(RED)) if (vehicle === id) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
