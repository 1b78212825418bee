/** Checks answers against openapi.json, the file that clients are given: status, body and headers. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { HttpResponse } from './http-client.ts';

export type Method = 'get' | 'post';

/** Stands where it is, or leads to a component. */
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
const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addSchema(document, 'openapi');

/** Every operation of the document. */
export const operations: readonly string[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method} ${path}`),
);

/** What is wrong with an answer; empty when it is as the document says. `path` is a template of the document. */
export function faultsOf(
  method: Method,
  path: string,
  answer: Pick<HttpResponse, 'status' | 'json' | 'headers'>,
): string[] {
  const place = ['paths', path, method, 'responses', String(answer.status)];
  if (document.paths[path]?.[method]?.responses[answer.status] === undefined) {
    return [`${method} ${path} does not declare status ${answer.status}`];
  }
  const declared = resolve(place);
  const { content, headers = {} } = declared.value as Response;
  const body =
    content === undefined ? [] : faultsBy([...declared.place, 'content', 'application/json', 'schema'], answer.json);
  return [...body, ...faultsOfHeaders([...declared.place, 'headers'], Object.keys(headers), answer.headers)];
}

/** The template of the document that a path is made of. */
export function findTemplate(method: Method, url: string): string | undefined {
  const [path = ''] = url.split('?');
  const templates = Object.keys(document.paths).filter((template) => document.paths[template]?.[method] !== undefined);
  return (
    templates.find((template) => template === path) ?? templates.find((template) => patternOf(template).test(path))
  );
}

const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

/** Headers that say something of ours: none may be sent that the document does not know. */
const OUR_HEADERS = /^(?:x-|ratelimit-|etag$|retry-after$)/;

function faultsOfHeaders(place: readonly string[], declared: readonly string[], sent: Headers): string[] {
  const unknown = [...sent.keys()].filter((name) => OUR_HEADERS.test(name) && !declared.includes(name));
  return [
    ...unknown.map((name) => `header ${name} is not declared`),
    ...declared.flatMap((name) => faultsOfHeader([...place, name], name, sent.get(name))),
  ];
}

function faultsOfHeader(place: readonly string[], name: string, text: string | null): string[] {
  const declared = resolve(place);
  const { required, schema } = declared.value as Header;
  if (text === null) return required === true ? [`header ${name} is missing`] : [];
  const isNumber = ['number', 'integer'].includes(schema.type ?? '');
  return faultsBy([...declared.place, 'schema'], isNumber ? Number(text) : text).map(
    (fault) => `header ${name}${fault}`,
  );
}

/** What stands at a place of the document, and where that really is. */
function resolve(place: readonly string[]): { value: object; place: readonly string[] } {
  const value = place.reduce<object>((within, name) => (within as Record<string, object>)[name] ?? {}, document);
  return '$ref' in value ? resolve(String(value.$ref).split('/').slice(1)) : { value, place };
}

const validators = new Map<string, ValidateFunction>();

/** By the schema at a place of the document, compiled once: a test may check thousands of answers of one form. */
function faultsBy(place: readonly string[], value: unknown): string[] {
  const fragment = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const validate = validators.get(fragment) ?? ajv.compile({ $ref: `openapi#/${fragment}` });
  validators.set(fragment, validate);
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}
