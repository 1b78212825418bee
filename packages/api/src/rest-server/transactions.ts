/** Transactions in the forms of kaspa-rest-server, and submission. */
import { computeMass, fromHex, toHex } from '@kasgres/kaspa';
import { NodeRpcError, toTransactionMessage } from '@kasgres/node';
import { badRequest, flag, hashInput, list, notFound, type Reading, runForJson, runWithin } from '@kasgres/reads';
import { z } from 'zod';
import { envelopeOf } from '../http/error-envelope.ts';
import { toJsonArray } from '../http/json-array.ts';
import { callerOf } from '../http/request-identity.ts';
import { validate } from '../http/validation.ts';
import { completeStorageMasses } from '../resources/rpc/submitted/storage-masses.ts';
import { tooLargeFor } from '../resources/transactions/rest/select-transactions.ts';
import {
  type Call,
  flagOf,
  get,
  hashOf,
  nodeOf,
  post,
  postItems,
  rangeOf,
  read,
  readCaughtUp,
  type RestRoute,
} from './call.ts';
import { forEachItem, jsonOf, TRANSACTIONS } from './convert.ts';
import { type Resolve, type TimedTransaction, toTransaction, type TransactionForm } from './forms.ts';
import * as queries from './queries.ts';
import { digitsOr, restServerTransaction } from './submitted-transaction.ts';

export const MAX_PAGE = 500;
const MAX_IDS = 1000;
const IDS_AT_ONCE = 100;
/** Blue scores whose accepted transactions a search returns. */
const MAX_BLUE_SCORES = 100;
const COINBASE_SUBNETWORK = `01${'00'.repeat(19)}`;

export function formOf(call: Call): TransactionForm {
  const resolve = (call.query['resolve_previous_outpoints'] ?? 'no') as Resolve;
  if (!['no', 'light', 'full'].includes(resolve))
    throw badRequest({ path: 'resolve_previous_outpoints', message: 'must be no, light or full' });
  return { inputs: true, outputs: true, resolve };
}

/**
 * Reads the transactions with these ids in this order, without unknown ones.
 * @param path of what the client asked for
 * @throws HttpError 400 if they are too large together
 */
export async function forEachTransaction(
  reading: Reading,
  { ids, path, form }: { ids: readonly Uint8Array[]; path: string; form: TransactionForm },
  handle: (transaction: ReturnType<typeof toTransaction>) => void,
): Promise<void> {
  const areFew = ids.length <= IDS_AT_ONCE;
  if (!areFew && (await runWithin(reading, queries.totalSize.with({ ids }))) === undefined) throw tooLargeFor(path);
  for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
    const some = queries.transactionsByIds.with({ ids: ids.slice(start, start + IDS_AT_ONCE) });
    const json = await runForJson(reading, some);
    if (json === undefined) throw tooLargeFor(path);
    await forEachItem(json, TRANSACTIONS, reading.slices, (transaction) =>
      handle(toTransaction(transaction as TimedTransaction, form)),
    );
  }
}

const transactionIds = list(hashInput, MAX_IDS);
const blueScore = digitsOr(z.int().min(0));

const searched = z
  .object({
    transactionIds: transactionIds.nullish().transform((ids) => ids ?? []),
    acceptingBlueScores: z
      .object({ gte: blueScore, lt: blueScore })
      .refine(({ gte, lt }) => lt - gte <= MAX_BLUE_SCORES, `must span at most ${MAX_BLUE_SCORES} blue scores`)
      .nullish()
      .transform((range) => range ?? undefined),
  })
  .refine(({ transactionIds: ids, acceptingBlueScores }) => ids.length === 0 || acceptingBlueScores === undefined, {
    path: ['transactionIds'],
    message: 'cannot be used together with acceptingBlueScores',
  });

type Searched = z.output<typeof searched>;

/** Counts the ids or the blue scores, so that MAX_BLUE_SCORES cost as a page. */
const countSearched = ({ transactionIds: ids, acceptingBlueScores: range }: Searched): number =>
  range === undefined ? ids.length : range.lt - range.gte;

export type Acceptance = 'accepted' | 'rejected';

/** Returns which transactions are wanted; undefined for all. */
export function acceptanceOf({ query: { acceptance } }: Call): Acceptance | undefined {
  if (acceptance === undefined || acceptance === 'accepted' || acceptance === 'rejected') return acceptance;
  throw badRequest({ path: 'acceptance', message: 'must be accepted or rejected' });
}

export const isWanted =
  (acceptance: Acceptance | undefined) =>
  (transaction: { is_accepted: boolean }): boolean =>
    acceptance === undefined || transaction.is_accepted === (acceptance === 'accepted');

async function search(call: Call, { transactionIds: ids, acceptingBlueScores }: Searched) {
  const acceptance = acceptanceOf(call);
  const form = formOf(call);
  return read(call, async (reading) => {
    const isOfRange = acceptingBlueScores !== undefined;
    const wanted = isOfRange ? await acceptedWithin(reading, acceptingBlueScores) : uniqueIds(ids);
    const path = isOfRange ? 'acceptingBlueScores' : 'transactionIds';
    const found: { time: number; json: Buffer }[] = [];
    await forEachTransaction(reading, { ids: wanted, path, form }, (transaction) => {
      if (!isOfRange && !isWanted(acceptance)(transaction)) return;
      found.push({ time: transaction.block_time, json: jsonOf(transaction) });
    });
    return toJsonArray(found.sort((one, other) => other.time - one.time).map(({ json }) => json));
  });
}

/**
 * Pages ask for the same id once for each input that spends it, and expect its transaction once.
 */
const uniqueIds = (ids: readonly Uint8Array[]): Uint8Array[] => [...new Map(ids.map((id) => [toHex(id), id])).values()];

async function acceptedWithin({ db }: Reading, { gte, lt }: { gte: number; lt: number }): Promise<Uint8Array[]> {
  const blocks = await queries.listChainBlocks(db, gte, lt);
  return blocks.flatMap((block) => block.ids).map(fromHex);
}

async function weigh(call: Call) {
  const { services, request } = call;
  const transaction = validate(restServerTransaction, request.body);
  if ((request.body as { subnetworkId?: unknown }).subnetworkId === COINBASE_SUBNETWORK)
    return { mass: 0, storage_mass: 0, compute_mass: 0 };
  const context = {
    index: services.index,
    node: nodeOf(call),
    toError: () => notFound('Previous outpoint(s) not found in database.'),
  };
  const [complete] = await completeStorageMasses(context, [transaction], callerOf(request));
  if (complete === undefined) throw new Error('a transaction was lost');
  const [storage, compute] = [Number(complete.storageMass), Number(computeMass(complete))];
  return { mass: Math.max(storage, compute), storage_mass: storage, compute_mass: compute };
}

const submission = z.object({ transaction: restServerTransaction, allowOrphan: flag });

async function submit(call: Call) {
  if (flagOf(call, 'replaceByFee')) throw badRequest({ path: 'replaceByFee', message: 'is not supported' });
  const { transaction, allowOrphan } = validate(submission, call.request.body);
  try {
    const { transactionId } = await nodeOf(call).call('submitTransaction', {
      transaction: toTransactionMessage({ ...transaction, storageMass: 0n }),
      allowOrphan,
    });
    return { transactionId };
  } catch (error) {
    if (!(error instanceof NodeRpcError)) throw error;
    const { message, ...envelope } = envelopeOf(400, error.message);
    call.reply.code(400);
    // The original has nothing but `error`.
    return { ...envelope, message, detail: message, error: message };
  }
}

export const transactionRoutes: readonly RestRoute[] = [
  get('/transactions/count/', (call) =>
    read(call, async ({ db }) => {
      const { coinbase, regular, time } = await queries.countAllTransactions(db);
      return { timestamp: time, dateTime: new Date(time).toISOString(), coinbase, regular };
    }),
  ),
  get('/transactions/count/:date', async (call) => {
    const { from, to } = rangeOf(call, 'date');
    return read(call, async ({ db }) => {
      if (to <= (await queries.findFirstHour(db))) throw notFound('Nothing is indexed of this time');
      return queries.countTransactions(db, from, to);
    });
  }),
  get('/transactions/:transactionId', async (call) => {
    const id = hashOf(call.params['transactionId'], 'transactionId');
    const form = { ...formOf(call), inputs: flagOf(call, 'inputs', true), outputs: flagOf(call, 'outputs', true) };
    return readCaughtUp(call, queries.transactionsByIds.with({ ids: [id] }), ({ transactions: [transaction] }) => {
      if (transaction === undefined) throw notFound('Transaction not found');
      return toTransaction(transaction, form);
    });
  }),
  postItems('/transactions/search', { body: searched, countItems: countSearched }, search),
  postItems(
    '/transactions/acceptance',
    { body: z.object({ transactionIds }), countItems: (body) => body.transactionIds.length },
    async (call, body) => {
      const ids = body.transactionIds.map((id) => Buffer.from(id).toString('hex'));
      return read(call, async ({ db }) => {
        const rows = await queries.listAcceptance(db, ids);
        return rows.map(({ id, accepted, hash, blueScore, timestamp }) => ({
          transactionId: id,
          accepted,
          acceptingBlockHash: hash,
          acceptingBlueScore: blueScore === null ? null : Number(blueScore),
          acceptingTimestamp: timestamp === null ? null : Number(timestamp),
        }));
      });
    },
  ),
  post('/transactions/mass', weigh, { bodyOptions: { exactIntegers: true } }),
  post('/transactions', submit, { submits: true, bodyOptions: { exactIntegers: true } }),
];
