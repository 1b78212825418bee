/** Checks answers against openapi.json, the file that clients are given. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { HttpAnswer } from './http-client.ts';

interface Answer {
  /** Leads to a component, and stands alone. */
  $ref?: string;
  content?: object;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>;
  components: { responses: Record<string, Answer> };
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as Document;
const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addSchema(document, 'openapi');

/** What is wrong with an answer; empty when it is as the document says. `path` is a template of the document. */
export function faultsOf(method: 'get' | 'post', path: string, { status, json }: HttpAnswer): string[] {
  const declared = document.paths[path]?.[method]?.responses[status];
  if (declared === undefined) return [`${method} ${path} does not declare status ${status}`];
  const component = /^#\/components\/responses\/(\w+)$/.exec(declared.$ref ?? '')?.[1];
  const answer = component === undefined ? declared : document.components.responses[component];
  if (answer?.content === undefined) return [];
  const place =
    component === undefined
      ? ['paths', path, method, 'responses', String(status)]
      : ['components', 'responses', component];
  const fragment = [...place, 'content', 'application/json', 'schema']
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = validatorOf(fragment);
  return validate(json) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

const validators = new Map<string, ValidateFunction>();

/** Compiled once: a test may check thousands of answers of one form. */
function validatorOf(fragment: string): ValidateFunction {
  const known = validators.get(fragment) ?? ajv.compile({ $ref: `openapi#/${fragment}` });
  validators.set(fragment, known);
  return known;
}

/** Every operation of the document. */
export const operations: readonly string[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method} ${path}`),
);
