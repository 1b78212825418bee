/**
 * Describes the routes of /rest in an OpenAPI document: their parameters and bodies. Responses have
 * the forms of kaspa-rest-server.
 */
import { z } from 'zod';
import { ERRORS, NOT_MODIFIED, TRANSPORT_ERRORS } from '../http/responses.ts';
import type { RestRoute } from './call.ts';
import { restServerTransaction } from './submitted-transaction.ts';

/** Rows that Postgres reads and leaves out, at most. */
export const MAX_OFFSET = 100_000;

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean', default: false };
const on: Schema = { type: 'boolean', default: true };
const hash: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const time: Schema = { type: 'integer', minimum: 0, default: 0, description: 'Unix milliseconds, exclusive' };
const score: Schema = { type: 'integer', minimum: 0 };
const choice = (...values: string[]): Schema => ({ type: 'string', enum: values });

const limit: Schema = { type: 'integer', minimum: 1, maximum: 500, default: 50 };
const form = { fields: text, resolve_previous_outpoints: choice('no', 'light', 'full') };
const sides = { inputs: on, outputs: on };
const acceptance = choice('accepted', 'rejected');
const asText = { stringOnly: flag };

/** Has no effect here: the state of the chain is the present one. */
const past: Schema = { type: 'integer', description: 'Ignored' };

/** The parameters of the query, by route. */
export const QUERIES: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  '/addresses/:address/full-transactions': {
    limit,
    offset: { type: 'integer', minimum: 0, maximum: MAX_OFFSET, default: 0 },
    ...form,
  },
  '/addresses/:address/full-transactions-page': { limit, before: time, after: time, ...form, acceptance },
  '/addresses/top': { before: past, limit: past },
  '/addresses/distribution': { before: past, limit: past },
  '/blocks': { lowHash: hash, includeBlocks: flag, includeTransactions: flag },
  '/blocks/:hash': { includeTransactions: on, includeColor: flag },
  '/blocks-from-bluescore': { blueScore: score, blueScoreGte: score, blueScoreLt: score, includeTransactions: flag },
  '/virtual-chain': {
    blueScoreGte: score,
    limit: { type: 'integer', enum: [10, 100] },
    resolveInputs: flag,
    includeCoinbase: on,
  },
  '/info/get-vscp-from-block': { startHash: hash, includeAcceptedTransactionIds: on },
  '/info/coinsupply/circulating': { in_billion: flag },
  '/info/coinsupply/total': { in_billion: flag },
  '/info/coinsupply/max': { in_billion: flag },
  '/info/blockreward': asText,
  '/info/hashrate': asText,
  '/info/price': asText,
  '/info/marketcap': asText,
  '/info/halving': { field: choice('nextHalvingTimestamp', 'nextHalvingDate', 'nextHalvingAmount') },
  '/info/hashrate/history': { resolution: choice('15m', '1h', '3h', '1d', '7d') },
  '/info/hashrate/history/:date': { resolution: choice('15m', '1h') },
  '/transactions': { replaceByFee: flag },
  '/transactions/:transactionId': { ...sides, resolve_previous_outpoints: form.resolve_previous_outpoints },
  '/transactions/search': { ...form, acceptance },
};

/** The parameters of the query without which a request is a 400. */
const REQUIRED: Readonly<Record<string, string>> = {
  '/blocks': 'lowHash',
  '/virtual-chain': 'blueScoreGte',
  '/info/get-vscp-from-block': 'startHash',
};

const HEALTH = '/info/health';

/** Bodies that routes check themselves. */
const BODIES: Readonly<Record<string, z.ZodType>> = {
  '/transactions': z.object({ transaction: restServerTransaction, allowOrphan: z.boolean().default(false) }),
  '/transactions/mass': restServerTransaction,
};

const ERROR: Schema = {
  type: 'object',
  required: ['statusCode', 'message', 'detail'],
  properties: {
    statusCode: { type: 'integer' },
    message: text,
    detail: text,
    error: { ...text, description: 'Why the node rejected a transaction' },
    details: { type: 'array', items: { type: 'object', properties: { path: text, message: text } } },
  },
};

/** Their bodies, if any, have no `detail`. */
const OTHERS: Readonly<Record<number, string>> = { 304: NOT_MODIFIED, ...TRANSPORT_ERRORS };

const errors = Object.fromEntries(
  Object.entries(ERRORS).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  ]),
);

function describeResponses({ method, path, submits = false }: RestRoute): object {
  const { 403: forbidden, 413: tooLarge, 415: notJson, 426: _ofWebSockets, ...common } = errors;
  return {
    200: { description: 'In the form of kaspa-rest-server' },
    ...Object.fromEntries(Object.entries(OTHERS).map(([status, description]) => [status, { description }])),
    ...common,
    ...(submits && { 403: forbidden }),
    ...(method === 'POST' && { 413: tooLarge, 415: notJson }),
    // Its body is that of the 200, as in the original.
    ...(path === HEALTH && { 503: { description: 'The index is behind, or the node is not synced' } }),
  };
}

const parameter = (name: string, location: 'path' | 'query', schema: Schema, required: boolean): object => ({
  name,
  in: location,
  required,
  schema,
});

function describeRoute(route: RestRoute): object {
  const { method, path, body = BODIES[path], cost = 0.1 } = route;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^a-z0-9]+(\w)?/gi, (_, letter: string = '') => letter.toUpperCase())}`,
    tags: [path.split('/')[1]],
    'x-request-cost-ru': cost,
    parameters: [
      ...names.map((name) => parameter(name, 'path', text, true)),
      ...Object.entries(QUERIES[path] ?? {}).map(([name, schema]) =>
        parameter(name, 'query', schema, REQUIRED[path] === name),
      ),
    ],
    ...(body !== undefined &&
      method === 'POST' && {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) } },
        },
      }),
    responses: describeResponses(route),
  };
}

export function describeRestServer(routes: readonly RestRoute[]): object {
  const paths: Record<string, object> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Kasgres: kaspa-rest-server',
      version: '2.3',
      description:
        'The routes of kaspa-rest-server v2.3 over the index of Kasgres. The API of Kasgres is described in [/openapi.json](/openapi.json).',
    },
    servers: [{ url: '/rest' }],
    security: [{ apiKey: [] }, {}],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      schemas: { Error: ERROR },
    },
  };
}
