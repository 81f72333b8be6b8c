import type { NodeAPI } from 'node-red';
import type { AccountOptions, ServiceProfile } from '../../src/index';
import { runtime } from './load';
import type { VehicleCredentials, VehicleOptions } from './options';
import { redactor } from './redaction';
import { signInKeeping } from './sign-ins';
import { clock } from './time';

/** The service that a configuration names. @throws VehicleError CONFIG */
export function serviceOf(options: VehicleOptions): ServiceProfile {
  const { resolveService } = runtime();
  if (options.service === 'custom') return resolveService('custom', options);
  // Only where the sign-in returns to is a person's own.
  return resolveService(options.service, { redirectUrl: options.redirectUrl });
}

/**
 * What an account of a configuration is opened with. From here on, none of its secrets leaves the pack.
 * @param id of the config node: its sign-in is its own
 * @throws VehicleError CONFIG
 */
export function accessOf(RED: NodeAPI, id: string, options: VehicleOptions, credentials: VehicleCredentials): AccountOptions {
  const { apiKey, accessToken, clientId, clientSecret, refreshToken } = credentials;
  redactor().learn(apiKey, accessToken, clientId, clientSecret, refreshToken);
  const service = serviceOf(options);
  const store = service.tokenUrl === '' || clientId === '' ? null : (signInKeeping(RED)?.store ?? null);
  return {
    service,
    apiKey,
    tokens: (send) =>
      runtime().chosenToken({
        client: { tokenUrl: service.tokenUrl, clientId, clientSecret },
        owner: id,
        accessToken,
        refreshToken,
        store,
        send,
        onSecret: (secret) => redactor().learnRotated(secret),
        clock: clock(),
      }),
    readOnly: options.readOnly,
    limits: options,
    clock: clock(),
  };
}
