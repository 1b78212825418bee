/** Checks the status, body and headers of responses against openapi.json. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; `{}` if there is none. */
  json: Record<string, unknown>;
}

export type Method = 'get' | 'post' | 'patch' | 'delete';

type Referable<T> = T | { $ref: string };

interface Header {
  required?: boolean;
  schema: { type?: string };
}

interface Response {
  headers?: Record<string, Referable<Header>>;
  content?: object;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Referable<Response>> }>>;
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as Document;
const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
ajv.addSchema(document, 'openapi');

/** Every operation of the document, as `get /v1/…`. */
export const operations: readonly string[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method} ${path}`),
);

/**
 * Returns how a response differs from the document; empty if it does not. `path` is a template of
 * the document.
 */
export function faultsOf(
  method: Method,
  path: string,
  response: Pick<ApiResponse, 'status' | 'json' | 'headers'>,
): string[] {
  const pointer = ['paths', path, method, 'responses', String(response.status)];
  if (document.paths[path]?.[method]?.responses[response.status] === undefined) {
    return [`${method} ${path} does not declare status ${response.status}`];
  }
  const declared = resolve(pointer);
  const { content, headers = {} } = declared.value as Response;
  const body =
    content === undefined
      ? []
      : faultsBy([...declared.pointer, 'content', 'application/json', 'schema'], response.json);
  return [...body, ...faultsOfHeaders([...declared.pointer, 'headers'], Object.keys(headers), response.headers)];
}

/** Returns the template of the document that matches a URL. */
export function findTemplate(method: Method, url: string): string | undefined {
  const [path = ''] = url.split('?');
  if (document.paths[path]?.[method] !== undefined) return path;
  return patterns.find(
    ([template, pattern]) => document.paths[template]?.[method] !== undefined && pattern.test(path),
  )?.[0];
}

const patterns = Object.keys(document.paths).map(
  (template) => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as const,
);

/** Headers that must be declared if they are sent. */
const OUR_HEADERS = /^(?:x-|ratelimit-|etag$|retry-after$)/;

function faultsOfHeaders(pointer: readonly string[], declared: readonly string[], sent: Headers): string[] {
  const unknown = [...sent.keys()].filter((name) => OUR_HEADERS.test(name) && !declared.includes(name));
  return [
    ...unknown.map((name) => `header ${name} is not declared`),
    ...declared.flatMap((name) => faultsOfHeader([...pointer, name], name, sent.get(name))),
  ];
}

function faultsOfHeader(pointer: readonly string[], name: string, text: string | null): string[] {
  const declared = resolve(pointer);
  const { required, schema } = declared.value as Header;
  if (text === null) return required === true ? [`header ${name} is missing`] : [];
  const isNumber = ['number', 'integer'].includes(schema.type ?? '');
  return faultsBy([...declared.pointer, 'schema'], isNumber ? Number(text) : text).map(
    (fault) => `header ${name}${fault}`,
  );
}

/** Returns the value at a path of the document, and its path after `$ref`s are followed. */
function resolve(pointer: readonly string[]): { value: object; pointer: readonly string[] } {
  const value = pointer.reduce<object>((within, name) => (within as Record<string, object>)[name] ?? {}, document);
  return '$ref' in value ? resolve(String(value.$ref).split('/').slice(1)) : { value, pointer };
}

/** @param name of a schema of the document @throws if the value differs from it */
export function requireSchema(name: string, value: unknown): void {
  const faults = faultsBy(['components', 'schemas', name], value);
  if (faults.length > 0) throw new Error(`not a ${name}: ${faults.join('; ')}: ${JSON.stringify(value).slice(0, 500)}`);
}

const validators = new Map<string, ValidateFunction>();

/**
 * Validates by the schema at a path of the document. Compiled schemas are kept: a test may check
 * thousands of responses.
 */
function faultsBy(pointer: readonly string[], value: unknown): string[] {
  const fragment = pointer
    .map((segment) => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = validators.get(fragment) ?? ajv.compile({ $ref: `openapi#/${fragment}` });
  validators.set(fragment, validate);
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
}

/**
 * Returns the properties of the schemas of responses, as `get /v1/blocks: blocks.header.hash`, that
 * none of these bodies has. A component of the document is one schema, wherever responses have it.
 * @param bodies by `get /v1/blocks`, with status 200
 */
export function unseenProperties(bodies: ReadonlyMap<string, readonly unknown[]>): string[] {
  const seen = new Set<Schema>();
  const unseen = new Map<Schema, string>();
  for (const [operation, values] of bodies) {
    const [method = '', path = ''] = operation.split(' ');
    const { pointer } = resolve(['paths', path, method, 'responses', '200']);
    const schema = resolve([...pointer, 'content', 'application/json', 'schema']).value as Schema;
    look(schema, values, `${operation}: `, { seen, unseen });
  }
  return [...unseen].filter(([schema]) => !seen.has(schema)).map(([, name]) => name);
}

interface Looked {
  seen: Set<Schema>;
  unseen: Map<Schema, string>;
}

function look(schema: Schema, values: readonly unknown[], name: string, looked: Looked): void {
  const { $ref: reference, properties = {}, items } = schema;
  if (reference !== undefined) return look(resolve(reference.split('/').slice(1)).value, values, name, looked);
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    look(each, values, name, looked);
  if (items !== undefined) look(items, values.filter(Array.isArray).flat(), name, looked);
  const objects = values.filter(
    (value): value is Record<string, unknown> => value !== null && typeof value === 'object',
  );
  for (const [property, of] of Object.entries(properties)) {
    const present = objects.filter((object) => property in object).map((object) => object[property]);
    if (present.length === 0) looked.unseen.set(of, `${name}${property}`);
    else looked.seen.add(of);
    if (present.length > 0) look(of, present, `${name}${property}.`, looked);
  }
}
