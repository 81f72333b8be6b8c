import specification from '../fixtures/specification.json';

/**
 * A row of `test/fixtures/specification.json`, which was typed by hand from the documents that
 * `source` names; nothing of it is generated.
 */
export interface Endpoint {
  /** Of the read or the command. */
  name: string;
  interface: 'connected-v1' | 'connected-v2' | 'extended-v1' | 'energy-v2' | 'location-v1';
  method: 'GET' | 'POST';
  path: string;
  /**
   * Value of the header `accept` of a GET, `content-type` of a POST, for the media
   * type vendor `vendor`.
   */
  type: string;
  scopes: readonly string[];
  /** The JSON of a POST; null: empty. */
  body: Record<string, number> | null;
  source: string;
}

interface Row extends Omit<Endpoint, 'type' | 'body'> {
  accept?: string;
  'content-type'?: string;
  body?: Record<string, number>;
}

/**
 * The type of a resource: a number with its unit, the words of a boolean, or
 * the list of its values.
 */
export interface SpecifiedResource {
  scope: string;
  type?: string;
  unit?: string;
  words?: { true: string; false: string };
  values?: string[];
}

export const specifiedResources: Readonly<Record<string, SpecifiedResource>> = specification.resources;

export const endpoints: readonly Endpoint[] = [
  ...(specification.endpoints as unknown as Row[]).map(({ accept, 'content-type': contentType, body, ...row }) => ({
    ...row,
    type: accept ?? contentType ?? '',
    body: body ?? null,
  })),
  ...Object.entries(specifiedResources).map(([name, { scope }]) => ({
    name,
    interface: 'extended-v1' as const,
    method: 'GET' as const,
    path: `/extended-vehicle/v1/vehicles/{vin}/resources/${name}`,
    type: 'application/json',
    scopes: ['openid', scope],
    body: null,
    source: 'docs/internals/service.md 2.8 and 4.3',
  })),
];
