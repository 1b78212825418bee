/**
 * Shared by the routes of /rest: reads of the index, and parameters in the forms of
 * kaspa-rest-server.
 */
import { SOMPI_PER_KAS } from '@kasgres/kaspa';
import {
  addressInput,
  badRequest,
  type BoundStatement,
  hashInput,
  type IndexState,
  type Reading,
  requireCaughtUp,
  requireNetwork,
  Slices,
} from '@kasgres/reads';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { toJsonArray } from '../http/json-array.ts';
import type { BodyOptions } from '../http/json-body.ts';
import { callerOf } from '../http/request-identity.ts';
import { validate } from '../http/validation.ts';
import { contentFrom, respond, type TagOf } from '../http/respond.ts';
import type { NodeCaller } from '../node/node-calls.ts';
import { tooLargeFor } from '../resources/transactions/rest/select-transactions.ts';
import type { Services } from '../services.ts';
import { forEachItem, inTurn, jsonOf, readInTurn, TRANSACTIONS } from './convert.ts';

const DAY_MS = 86_400_000;

export interface Call {
  services: Services;
  request: FastifyRequest;
  reply: FastifyReply;
  params: Record<string, string>;
  query: Record<string, string | undefined>;
}

export type Handler = (call: Call) => Promise<unknown>;

export interface RestRoute {
  method: 'GET' | 'POST';
  path: string;
  handle: Handler;
  /** Request units; 0.1 by default. */
  cost?: number;
  /** As of an operation (openapi/route.ts). */
  countItems?(body: unknown): number;
  submits?: boolean;
  body?: z.ZodType;
  bodyOptions?: BodyOptions;
}

export const get = (path: string, handle: Handler, cost?: number): RestRoute => ({
  method: 'GET',
  path,
  handle,
  ...(cost !== undefined && { cost }),
});

export const post = (path: string, handle: Handler, options: Partial<RestRoute> = {}): RestRoute => ({
  method: 'POST',
  path,
  handle,
  ...options,
});

/** Defines a request for many items, which costs as those of /v1. */
export const postItems = <Body extends z.ZodType>(
  path: string,
  { body, countItems }: { body: Body; countItems: (items: z.output<Body>) => number },
  handle: (call: Call, items: z.output<Body>) => Promise<unknown>,
): RestRoute => post(path, (call) => handle(call, call.request.body as z.output<Body>), { body, countItems });

export const nodeOf = ({ services, request }: Call): NodeCaller => services.nodeCalls.of(callerOf(request));

/**
 * Responds with what is read from one state of the index, which the headers name. The first
 * catch-up must have finished.
 */
export const read = (
  { services: { index }, request, reply }: Call,
  query: (reading: Reading) => Promise<unknown>,
  tagOf: TagOf = 'state',
): Promise<unknown> =>
  respond(index, request, reply, tagOf, () =>
    index.read(
      (reading) =>
        contentFrom(reading.state, () => {
          requireCaughtUp(reading.state);
          return query(reading);
        }),
      callerOf(request),
    ),
  );

/**
 * Like `read`, with one prepared statement, also during the first catch-up.
 * @param toBody gets undefined if the statement names a problem
 */
export const readStatement = <Response>(
  { services: { index }, request, reply }: Call,
  statement: BoundStatement<Response>,
  toBody: (found: Response | undefined) => unknown,
): Promise<unknown> =>
  respond(index, request, reply, 'state', async () => {
    const { state, body, problem } = await index.run(statement, callerOf(request));
    const found = problem === null && body !== null ? (JSON.parse(String(body)) as Response) : undefined;
    return contentFrom(state, () => toBody(found));
  });

/**
 * Like `readStatement`, but the first catch-up must have finished. The only problem that the
 * statement may name is a page that would be too large.
 */
export async function readCaughtUp<Response>(
  call: Call,
  statement: BoundStatement<Response>,
  toBody: (found: Response) => unknown,
): Promise<unknown> {
  requireCaughtUp(await call.services.index.getSettledState());
  return readStatement(call, statement, (found) => {
    if (found === undefined) throw tooLargeFor('limit');
    return toBody(found);
  });
}

/**
 * Like `readCaughtUp`, for an array of transactions, which are converted one by one.
 * @param statement of an object whose last field is `transactions`, of which there are `limit` or a
 * few more
 * @param toItem returns undefined for a transaction that is left out
 * @param setHeaders gets the rest of the object, and the number of items
 */
export async function readTransactionPage<Page extends { transactions: unknown[] }>(
  { services: { index, turns }, request, reply }: Call,
  limit: number,
  statement: BoundStatement<Page>,
  toItem: (transaction: Page['transactions'][number]) => unknown,
  setHeaders: (page: Omit<Page, 'transactions'>, count: number) => void = () => undefined,
): Promise<unknown> {
  requireCaughtUp(await index.getSettledState());
  const caller = callerOf(request);
  const readPage = async () => {
    const { state, body, problem } = await index.run(statement, caller);
    return contentFrom(state, async () => {
      if (problem !== null || body === null) throw tooLargeFor('limit');
      return inTurn(caller, body, async () => {
        const items: Buffer[] = [];
        const page = (await forEachItem(body, TRANSACTIONS, new Slices(turns, caller), (transaction) => {
          const item = toItem(transaction);
          if (item !== undefined) items.push(jsonOf(item));
        })) as Page;
        setHeaders(page, items.length);
        return toJsonArray(items);
      });
    });
  };
  return respond(index, request, reply, 'state', () => readInTurn(caller, limit, readPage));
}

/** Like `read`, with the state in memory only, also during the first catch-up. */
export const readState = (
  { services: { index }, request, reply }: Call,
  toBody: (state: IndexState) => unknown,
): Promise<unknown> =>
  respond(index, request, reply, 'state', async () => {
    const state = await index.getState();
    return contentFrom(state, () => toBody(state));
  });

export async function addressOf(call: Call): Promise<string> {
  const address = validate(addressInput, call.params['address'], ['address']);
  requireNetwork(await call.services.index.getNetwork(), address, 'address');
  return address;
}

/** The words that FastAPI takes for flags. */
const TRUE = new Set(['true', '1', 'on', 't', 'y', 'yes']);
const FALSE = new Set(['false', '0', 'off', 'f', 'n', 'no']);

/** Returns a flag of the query: Python sends `True`, for example. @throws HttpError 400 */
export function flagOf({ query }: Call, name: string, fallback = false): boolean {
  const text = query[name];
  if (text === undefined) return fallback;
  const word = text.toLowerCase();
  if (!TRUE.has(word) && !FALSE.has(word)) throw badRequest({ path: name, message: 'must be true or false' });
  return TRUE.has(word);
}

interface NumberOptions {
  fallback?: number;
  minimum?: number;
  maximum?: number;
}

export function numberOf(
  { query }: Call,
  name: string,
  { fallback = 0, minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: NumberOptions = {},
): number {
  const text = query[name];
  if (text === undefined) return fallback;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum && value <= maximum))
    throw badRequest({ path: name, message: `must be a whole number from ${minimum} to ${maximum}` });
  return value;
}

export const toKas = (sompi: bigint): number => Number(sompi) / Number(SOMPI_PER_KAS);

export const hashOf = (value: unknown, name: string): Uint8Array => validate(hashInput, value, [name]);

export interface TimeRange {
  /** Unix milliseconds; `to` is exclusive. */
  from: number;
  to: number;
}

/** @param name of a parameter of the path: a year, a month or a day (UTC) */
export function rangeOf(call: Call, name: string): TimeRange {
  const [date = '', year, month, day] = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/.exec(call.params[name] ?? '') ?? [];
  const from = Date.parse(`${year}-${month ?? '01'}-${day ?? '01'}T00:00:00Z`);
  // Date.parse takes 31 February for a day of March.
  if (Number.isNaN(from) || !new Date(from).toISOString().startsWith(date))
    throw badRequest({ path: name, message: 'must be YYYY, YYYY-MM or YYYY-MM-DD' });
  if (day !== undefined) return { from, to: from + DAY_MS };
  return {
    from,
    to: month === undefined ? Date.UTC(Number(year) + 1, 0, 1) : Date.UTC(Number(year), Number(month), 1),
  };
}

export const plain = (call: Call, text: string): string => {
  call.reply.type('text/plain; charset=utf-8');
  return text;
};
