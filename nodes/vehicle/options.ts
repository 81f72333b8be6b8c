import * as z from 'zod/mini';
import { accessNames, defaultAccess, interfaceNames, parsePlaces, serviceNames, unitSystems } from '../../src/index';
import { flag, listOf, number, text } from '../node-red/options';

/** `connected-vehicle` (docs/internals/contract.md 2). The credentials are below. */
export const vehicleOptions = z.lazy(() =>
  z.object({
    name: text,
    /** The units that people see; `car`: as the car reports them. */
    units: z._default(z.enum(unitSystems), 'car'),
    service: z._default(z.enum(serviceNames), 'demo'),
    baseUrl: text,
    apiKeyHeader: text,
    mediaTypeVendor: text,
    authorizeUrl: text,
    tokenUrl: text,
    redirectUrl: text,
    /** Which car of the demo: its VIN is the default one. */
    demoCar: z._default(z.enum(['petrol', 'electric']), 'petrol'),
    vin: text,
    /** The id of the wallbox; the service has no list of them. */
    wallbox: text,
    readOnly: flag(false),
    /** The permissions that the sign-in asks for besides reading the status. */
    access: listOf(accessNames, defaultAccess),
    /** Further scopes that the sign-in asks for, with spaces between them. */
    moreScopes: text,
    /** The interfaces that a `custom` service has. */
    interfaces: listOf(interfaceNames, interfaceNames),
    requestsPerDay: number(10_000, 1),
    requestsPerMinute: number(100, 1),
    commandsPerMinute: number(10, 1),
    /** Seconds that a reading answers other readers; 0: every read is its own request. */
    shareFor: number(5, 0),
    /** Each node reads at its own interval, or less often while the car is parked. */
    polling: z._default(z.enum(['fixed', 'adaptive']), 'fixed'),
    /** The price of a kilowatt-hour (src/logbook/tariff); empty: not known. */
    tariff: z._default(z.unknown(), ''),
    tariffType: z._default(z.enum(['num', 'json', 'flow', 'global', 'env', 'jsonata']), 'num'),
    /** ISO 4217. */
    currency: text,
    /** The places that event and condition nodes, the tariff and the logbook can name. */
    places: z.pipe(z.optional(z.unknown()), z.transform(parsePlaces)),
    /** The language of `payload.text`, node status and notifications; empty: that of Node-RED. */
    language: z._default(z.enum(['', 'en-US', 'de', 'fr', 'nb', 'nl', 'sv']), ''),
  }),
);
export type VehicleOptions = z.infer<typeof vehicleOptions>;

/** All but `clientId` are of type `password` and never reach a browser. */
export const vehicleCredentials = z.lazy(() =>
  z.object({
    apiKey: text,
    accessToken: text,
    clientId: text,
    clientSecret: text,
  }),
);
export type VehicleCredentials = z.infer<typeof vehicleCredentials>;
