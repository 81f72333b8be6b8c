import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The parts of a schema that the document of the energy device API uses. */
interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  pattern?: string;
  nullable?: boolean;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}
interface Content {
  content?: Record<string, { schema: Schema }>;
}
interface Operation {
  parameters?: { name: string; in: 'path' | 'query'; required?: boolean; schema: Schema }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}
interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

// The cast: the vendor's document, verbatim.
const document = JSON.parse(
  readFileSync(resolve(__dirname, '../../../test/fixtures/energy-device-v1-openapi.json'), 'utf8'),
) as Document;
const basePath = new URL(document.servers[0]?.url ?? '').pathname;

const kinds: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** What of a value does not follow the schema. */
function problemsOf(value: unknown, schema: Schema, at: string): string[] {
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
    return named === undefined ? [`${at}: no schema ${schema.$ref}`] : problemsOf(value, named, at);
  }
  if (value === null && schema.nullable === true) return [];
  if (schema.type !== undefined && kinds[schema.type]?.(value) !== true) return [`${at}: not of type ${schema.type}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at}: none of ${schema.enum.join(', ')}`];
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(value)))
    return [`${at}: not like ${schema.pattern}`];
  if (schema.format === 'date-time' && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(String(value)))
    return [`${at}: no date and time`];
  const members = kinds['object']?.(value) === true ? (value as Record<string, unknown>) : {};
  const branches = (schema.anyOf ?? []).map((one) => problemsOf(value, one, at));
  return [
    ...(schema.required ?? []).filter((name) => !(name in members)).map((name) => `${at}.${name}: missing`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
      name in members ? problemsOf(members[name], one, `${at}.${name}`) : [],
    ),
    ...(Array.isArray(value) && schema.items
      ? value.flatMap((item, index) => problemsOf(item, schema.items ?? {}, `${at}[${index}]`))
      : []),
    ...(branches.length > 0 && branches.every((branch) => branch.length > 0) ? branches.flat() : []),
  ];
}

function operationOf(method: string, path: string): Operation | undefined {
  const found = Object.entries(document.paths).find(([template]) =>
    new RegExp(`^${basePath}${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return found?.[1][method.toLowerCase()];
}

/** What of a request does not follow the vendor's OpenAPI document; empty for a valid one. */
export function requestProblems(method: string, address: string, body: string): string[] {
  const { pathname, searchParams } = new URL(address, 'http://service');
  const operation = operationOf(method, pathname);
  if (operation === undefined) return [`no ${method} ${pathname}`];
  const inQuery = (operation.parameters ?? []).filter((one) => one.in === 'query');
  const schema = operation.requestBody?.content?.['application/json']?.schema;
  return [
    ...[...searchParams.keys()]
      .filter((key) => !inQuery.some(({ name }) => name === key))
      .map((key) => `query ${key}: unknown`),
    ...inQuery.flatMap(({ name, required, schema: one }) => {
      const text = searchParams.get(name);
      if (text === null) return required === true ? [`query ${name}: missing`] : [];
      return problemsOf(one.type === 'number' ? Number(text) : text, one, `query ${name}`);
    }),
    ...(schema === undefined ? (body === '' ? [] : ['a body']) : problemsOf(JSON.parse(body), schema, 'body')),
  ];
}

/** What of an answer does not follow the document. */
export function answerProblems(method: string, path: string, status: number, body: unknown): string[] {
  const answer = operationOf(method, path)?.responses[String(status)];
  if (answer === undefined) return [`no ${status} of ${method} ${path}`];
  const schema = answer.content?.['application/json']?.schema;
  return schema === undefined ? [] : problemsOf(body, schema, 'answer');
}
