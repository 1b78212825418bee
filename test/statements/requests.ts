/**
 * Requests to an operation: its example, and one for each value of each of its parameters. These
 * are few, since no two parameters are varied together. EXTRA has what they do not reach.
 */
import type { ExampleRequest } from '@kasgres/api';
import * as listings from '../api/listings.ts';

interface Schema {
  type?: string;
  const?: string;
  enum?: readonly (string | number)[];
  properties?: Readonly<Record<string, Schema>>;
}

export interface Operation {
  operationId: string;
  tags?: readonly string[];
  parameters?: readonly { name?: string; in?: string; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/**
 * Values of parameters by name. The first of a parameter in the path is that of the example, and
 * the others are for requests at once.
 */
export type Values = Readonly<Record<string, readonly (string | number | boolean)[]>>;

/** A request with how it differs from the example of its operation. */
export interface Variant extends ExampleRequest {
  label: string;
  accept?: string;
}

const owner = { address: '', scriptId: 0 };
const LISTINGS: readonly listings.Listing[] = [
  listings.transactions(),
  listings.blocks(),
  listings.addresses(),
  listings.tags(),
  listings.addressTransactions(owner),
  listings.addressUtxos(owner),
  listings.clusterMembers(owner),
  listings.lanes(),
  listings.laneTransactions(''),
  listings.inscriptions(),
  listings.covenants(),
  listings.templateCovenants(''),
  listings.addressCovenants(owner),
  listings.covenantUtxos(''),
  listings.covenantEvents(''),
  listings.newestCovenantEvents(),
  listings.templates(),
];

export const isListing = (path: string): boolean => LISTINGS.some(({ template }) => template === path);

/** Returns the cursor of the first item of a page; undefined if it has none. */
export function cursorOf(path: string, response: Readonly<Record<string, unknown>>): string | undefined {
  const listing = LISTINGS.find(({ template }) => template === path);
  const [item] = (response[listing?.field ?? 'transactions'] ?? []) as listings.Item[];
  return item && (listing?.cursorOf(item) ?? String(item['transactionId']));
}

/** @throws Error for a parameter without values */
export function variantsOf(operation: Operation, example: ExampleRequest, values: Values): Variant[] {
  const inQuery = (operation.parameters ?? []).flatMap(({ name, in: place, schema = {} }) =>
    name === undefined || place !== 'query'
      ? []
      : valuesOf(name, schema, values).map((value) => ({
          ...example,
          query: { ...example.query, [name]: value },
          label: labelOf(name, value),
        })),
  );
  const { properties = {} } = operation.requestBody?.content['application/json']?.schema ?? {};
  const inBody = Object.entries(properties).flatMap(([name, schema]) =>
    schema.type !== 'boolean' && schema.enum === undefined
      ? []
      : valuesOf(name, schema, values).map((value) => ({
          ...example,
          body: { ...example.body, [name]: value },
          label: labelOf(name, value),
        })),
  );
  return [...inQuery, ...inBody];
}

/** Hashes and addresses follow from the simulated chain. */
const labelOf = (name: string, value: unknown): string => `${name}=${String(value).length > 20 ? '…' : String(value)}`;

function valuesOf(name: string, { type, const: only, enum: choices }: Schema, values: Values): Values[string] {
  const all = only === undefined ? choices : [only];
  const chosen = all ?? values[name] ?? (type === 'boolean' ? [true, false] : undefined);
  if (chosen === undefined) throw new Error(`test/statements has no value for the parameter ${name}`);
  return chosen;
}

/**
 * Returns requests for other items or pages than the example, which may share an execution with
 * each other if they are sent at once.
 */
export function othersOf(path: string, example: ExampleRequest, values: Values): ExampleRequest[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  if (name !== undefined)
    return (values[name] ?? [])
      .slice(1)
      .map((value) => ({ ...example, path: { ...example.path, [name]: String(value) } }));
  const limits = isListing(path) && example.body === undefined ? [3, 4] : [];
  return limits.map((limit) => ({ ...example, query: { ...example.query, limit } }));
}

/**
 * @param values of parameters in the path that the request does not have.
 * @throws Error if there is none
 */
export function urlOf(path: string, { path: given = {}, query = {} }: ExampleRequest, values: Values): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name] ?? values[name]?.[0];
    if (value === undefined) throw new Error(`test/statements has no value for ${name} of ${path}`);
    return encodeURIComponent(value);
  });
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return parameters.size === 0 ? filled : `${filled}?${parameters.toString()}`;
}
