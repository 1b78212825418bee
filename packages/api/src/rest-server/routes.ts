/**
 * /rest: a drop-in for kaspa-rest-server v2.1.5, so that pages which were made for it need only another base URL. Prices are not part of the chain:
 * those routes are a 404 with an explanation.
 */
import { fromHex, MAX_SOMPI, SOMPI_PER_KAS } from '@kasgres/kaspa';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { badRequest, notFound } from '../http/errors.ts';
import { callerOf } from '../http/request-identity.ts';
import { requireCaughtUp } from '../index-state/state.ts';
import type { BoundStatement } from '../index-state/statement.ts';
import { required } from '../node-calls.ts';
import { blockDetailsByHash } from '../resources/blocks/rest-blocks.ts';
import { emissionOf } from '../resources/network/network.ts';
import { transactionsByIds } from '../resources/transactions/rest/routes.ts';
import type { RestTransactionJson } from '../resources/transactions/rest/schemas.ts';
import { type AnyOperation, type ApiPlugin, hiddenOperation } from '../route.ts';
import { requireNetworkOfAll } from '../schemas/address.ts';
import { list } from '../schemas/list.ts';
import { addressesInput, addressInput, hashInput } from '../schemas/values.ts';
import type { Services } from '../services.ts';
import { type Resolve, toBlock, toTransaction, type TransactionForm } from './forms.ts';
import * as queries from './queries.ts';

/** Tokens of pages are keys below this; from here on they are times: that of the first block of the network. */
const FIRST_TIME = 1_636_298_787_842n;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_PAGE = 500;
const MAX_IDS = 1000;
const NO_PRICES = 'Kasgres indexes the chain, which has no prices: ask a market for them';

interface Call {
  services: Services;
  request: FastifyRequest;
  reply: FastifyReply;
  params: Record<string, string>;
  query: Record<string, string | undefined>;
}

type Handler = (call: Call) => Promise<unknown>;

const read = <T>(
  { services: { index }, request }: Call,
  query: (db: Parameters<Parameters<typeof index.read>[0]>[0]['db']) => Promise<T>,
): Promise<T> =>
  index.read(async ({ db, state }) => {
    requireCaughtUp(state);
    return query(db);
  }, callerOf(request));

async function run<Response>(
  { services: { index }, request }: Call,
  statement: BoundStatement<Response>,
): Promise<Response | undefined> {
  const { body, problem } = await index.run(statement, callerOf(request));
  return problem === null && body !== null ? (JSON.parse(String(body)) as Response) : undefined;
}

function check<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw badRequest({ path, message: parsed.error.issues[0]?.message ?? 'is not valid' });
  return parsed.data;
}

async function addressOf(call: Call): Promise<string> {
  const address = check(addressInput, call.params['address'], 'address');
  requireNetworkOfAll(await call.services.index.getNetwork(), [address]);
  return address;
}

const isTrue = (text: string | undefined): boolean => text?.toLowerCase() === 'true';

function numberOf(call: Call, name: string, fallback: number, maximum: number): number {
  const text = call.query[name];
  if (text === undefined || text === '') return fallback;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= maximum)) throw badRequest({ path: name, message: `must be a whole number up to ${maximum}` });
  return value;
}

const toKas = (sompi: bigint): number => Number(sompi) / Number(SOMPI_PER_KAS);

function formOf({ query }: Call): TransactionForm {
  const resolve = (query['resolve_previous_outpoints'] ?? 'no') as Resolve;
  if (!['no', 'light', 'full'].includes(resolve))
    throw badRequest({ path: 'resolve_previous_outpoints', message: 'must be no, light or full' });
  return { inputs: query['inputs'] !== 'false', outputs: query['outputs'] !== 'false', resolve };
}

async function readTransactions(call: Call, ids: readonly Uint8Array[]) {
  requireCaughtUp(await call.services.index.getSettledState());
  const found: RestTransactionJson[] = [];
  for (let start = 0; start < ids.length; start += MAX_PAGE) {
    const part = ids.slice(start, start + MAX_PAGE);
    const body = await run(call, transactionsByIds({ includePayload: true }).with({ ids: part }));
    found.push(...(body?.transactions ?? []));
  }
  const times = await read(call, (db) =>
    queries.readAcceptingTimes(
      db,
      found.map(({ acceptingBlockHash }) => acceptingBlockHash),
    ),
  );
  const form = formOf(call);
  return found.map((transaction) => toTransaction(transaction, form, times));
}

async function sendHistory(call: Call, page: queries.HistoryPage) {
  const { reply } = call;
  const [newest, oldest] = [page.keys[0], page.keys.at(-1)];
  reply.header('x-page-count', String(page.keys.length));
  if (page.hasOlder && oldest !== undefined) reply.header('x-next-page-before', String(oldest));
  if (page.hasNewer && newest !== undefined) reply.header('x-next-page-after', String(newest));
  return readTransactions(call, page.ids.map(fromHex));
}

async function tokenOf(call: Call, name: 'before' | 'after'): Promise<bigint | undefined> {
  const value = BigInt(numberOf(call, name, 0, Number.MAX_SAFE_INTEGER));
  if (value === 0n) return undefined;
  return value >= FIRST_TIME ? read(call, (db) => queries.findKeyAt(db, Number(value))) : value;
}

const readBlock = async (call: Call, hash: string, withTransactions: boolean) => {
  const { network } = await call.services.index.getSettledState();
  const window = network.difficultyWindowBlueScores;
  const statement = blockDetailsByHash({ includeTransactions: withTransactions, withTags: false }).with({
    hash: fromHex(hash),
    window,
  });
  return (await run(call, statement))?.block;
};

const plain = (call: Call, text: string): string => {
  call.reply.type('text/plain; charset=utf-8');
  return text;
};

const toBucket = ({ feerate, estimatedSeconds }: { feerate: number; estimatedSeconds: number }) => ({
  feerate,
  estimatedSeconds,
});

const GET: Record<string, Handler> = {
  '/info/blockdag': async ({ services: { nodeCalls }, request }) => {
    const info = await nodeCalls.of(callerOf(request)).call('getBlockDagInfo', {});
    const {
      networkName,
      blockCount,
      headerCount,
      tipHashes,
      difficulty,
      pastMedianTime,
      virtualParentHashes,
      pruningPointHash,
      virtualDaaScore,
      sink,
    } = info;
    return {
      networkName,
      blockCount: String(blockCount),
      headerCount: String(headerCount),
      tipHashes,
      difficulty,
      pastMedianTime: String(pastMedianTime),
      virtualParentHashes,
      pruningPointHash,
      virtualDaaScore: String(virtualDaaScore),
      sink,
    };
  },
  '/info/coinsupply': async ({ services: { index } }) => {
    const state = await index.getState();
    requireCaughtUp(state);
    return { circulatingSupply: String(state.circulatingSompi), maxSupply: String(MAX_SOMPI) };
  },
  '/info/coinsupply/circulating': async (call) => {
    const state = await call.services.index.getState();
    requireCaughtUp(state);
    return plain(
      call,
      isTrue(call.query['in_billion'])
        ? (toKas(state.circulatingSompi) / 1e9).toFixed(2)
        : String(toKas(state.circulatingSompi)),
    );
  },
  '/info/coinsupply/total': async (call) => {
    const state = await call.services.index.getState();
    requireCaughtUp(state);
    return plain(
      call,
      isTrue(call.query['in_billion'])
        ? (toKas(state.circulatingSompi) / 1e9).toFixed(2)
        : String(toKas(state.circulatingSompi)),
    );
  },
  '/info/coinsupply/max': async (call) =>
    plain(call, isTrue(call.query['in_billion']) ? (toKas(MAX_SOMPI) / 1e9).toFixed(2) : String(toKas(MAX_SOMPI))),
  '/info/blockreward': async (call) => {
    const reward = toKas(BigInt(emissionOf(await call.services.index.getState()).blockReward));
    return isTrue(call.query['stringOnly']) ? plain(call, reward.toFixed(2)) : { blockreward: reward };
  },
  '/info/halving': async (call) => {
    const state = await call.services.index.getState();
    const { nextReward, nextRewardAt } = emissionOf(state);
    if (nextReward === null || nextRewardAt === null) throw notFound('There is no subsidy left to fall');
    const halving = {
      nextHalvingTimestamp: Math.floor(nextRewardAt / 1000),
      nextHalvingDate: `${new Date(nextRewardAt).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
      nextHalvingAmount: toKas(BigInt(nextReward)),
    };
    const { field } = call.query;
    if (field === undefined || field === '') return halving;
    if (!(field in halving))
      throw badRequest({ path: 'field', message: `must be one of ${Object.keys(halving).join(', ')}` });
    return plain(call, String(halving[field as keyof typeof halving]));
  },
  '/info/hashrate': async (call) => {
    const { networkHashesPerSecond } = await call.services.nodeCalls
      .of(callerOf(call.request))
      .call('estimateNetworkHashesPerSecond', { windowSize: 1000, startHash: '' });
    const hashrate = Number(networkHashesPerSecond) / 1e12;
    return isTrue(call.query['stringOnly']) ? plain(call, String(hashrate)) : { hashrate };
  },
  '/info/virtual-chain-blue-score': async ({ services: { index } }) => ({
    blueScore: Number((await index.getState()).sinkBlueScore),
  }),
  '/info/kaspad': async ({ services: { nodeCalls }, request }) => {
    const { mempoolSize, serverVersion, isUtxoIndexed, isSynced, p2pId } = await nodeCalls
      .of(callerOf(request))
      .call('getInfo', {});
    return { mempoolSize: String(mempoolSize), serverVersion, isUtxoIndexed, isSynced, p2pIdHashed: p2pId };
  },
  '/info/fee-estimate': async ({ services: { nodeCalls }, request }) => {
    const { estimate } = await nodeCalls.of(callerOf(request)).call('getFeeEstimate', {});
    const { priorityBucket, normalBuckets, lowBuckets } = required(estimate, 'estimate');
    return {
      priorityBucket: toBucket(required(priorityBucket, 'priority bucket')),
      normalBuckets: normalBuckets.map(toBucket),
      lowBuckets: lowBuckets.map(toBucket),
    };
  },
  '/info/health': async ({ services: { index } }) => {
    const { sinkBlueScore, sinkTimestamp } = await index.getState();
    const lag = Math.max(Math.round((Date.now() - Number(sinkTimestamp)) / 1000), 0);
    return {
      kaspadServers: [],
      database: {
        isSynced: lag < 60,
        blueScore: Number(sinkBlueScore),
        blueScoreDiff: null,
        acceptedTxBlockTime: Number(sinkTimestamp),
        acceptedTxBlockTimeDiff: lag,
      },
    };
  },
  '/info/price': async () => {
    throw notFound(NO_PRICES);
  },
  '/info/market-data': async () => {
    throw notFound(NO_PRICES);
  },
  '/info/marketcap': async () => {
    throw notFound(NO_PRICES);
  },
  '/blocks/:hash': async (call) => {
    const hash = Buffer.from(check(hashInput, call.params['hash'], 'hash')).toString('hex');
    const found = await readBlock(call, hash, call.query['includeTransactions'] !== 'false');
    if (found === undefined) throw notFound('Block not found');
    const extra = isTrue(call.query['includeColor'])
      ? { color: found.color, minerAddress: found.miner?.address ?? null, minerInfo: found.miner?.extraText ?? null }
      : null;
    return { ...toBlock(found), extra };
  },
  '/blocks-from-bluescore': async (call) => {
    const hashes = await read(call, (db) =>
      queries.listBlocksAt(db, BigInt(numberOf(call, 'blueScore', 0, Number.MAX_SAFE_INTEGER))),
    );
    const blocks = await Promise.all(
      hashes.map((hash) => readBlock(call, hash, isTrue(call.query['includeTransactions']))),
    );
    return blocks.filter((block) => block !== undefined).map(toBlock);
  },
  '/transactions/count/': async (call) => {
    const { coinbase, regular, time } = await read(call, queries.countAllTransactions);
    return { timestamp: time, dateTime: new Date(time).toISOString(), coinbase, regular };
  },
  '/transactions/count/:date': async (call) => {
    const date = call.params['date'] ?? '';
    const [year, month, day] = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/.exec(date)?.slice(1) ?? [];
    const from = Date.parse(`${year}-${month ?? '01'}-${day ?? '01'}T00:00:00Z`);
    if (year === undefined || Number.isNaN(from))
      throw badRequest({ path: 'date', message: 'must be YYYY, YYYY-MM or YYYY-MM-DD' });
    const to =
      day !== undefined
        ? from + DAY_MS
        : month !== undefined
          ? Date.UTC(Number(year), Number(month), 1)
          : Date.UTC(Number(year) + 1, 0, 1);
    const counts = await read(call, (db) => queries.countTransactions(db, from, to));
    if (counts.length === 0) throw notFound('Nothing is indexed of this time');
    return counts;
  },
  '/transactions/:transactionId': async (call) => {
    const [transaction] = await readTransactions(call, [
      check(hashInput, call.params['transactionId'], 'transactionId'),
    ]);
    if (transaction === undefined) throw notFound('Transaction not found');
    return transaction;
  },
  '/addresses/names': async (call) => {
    // Pages drop the first one.
    const names = await read(call, (db) => queries.listNames(db));
    const { addressPrefix } = await call.services.index.getNetwork();
    return [{ address: `${addressPrefix}:`, name: '' }, ...names];
  },
  '/addresses/top': async (call) => {
    const [richest, { sinkTimestamp }] = await Promise.all([
      read(call, queries.listRichest),
      call.services.index.getState(),
    ]);
    const ranking = richest.map(({ address, balance }, rank) => ({
      rank,
      address,
      amount: Number(balance / SOMPI_PER_KAS),
    }));
    return [{ timestamp: Number(sinkTimestamp), ranking }];
  },
  '/addresses/distribution': async (call) => {
    const [tiers, { sinkTimestamp }] = await Promise.all([
      read(call, queries.listTiers),
      call.services.index.getState(),
    ]);
    return [{ timestamp: Number(sinkTimestamp), tiers }];
  },
  '/addresses/:address/balance': async (call) => {
    const address = await addressOf(call);
    const [entry] = await read(call, (db) => queries.listBalances(db, [address]));
    return entry;
  },
  '/addresses/:address/utxos': async (call) => {
    const address = await addressOf(call);
    return (await read(call, (db) => queries.listUtxos(db, [address]))).map(toUtxo);
  },
  '/addresses/:address/name': async (call) => {
    const address = await addressOf(call);
    const [name] = await read(call, (db) => queries.listNames(db, address));
    if (name === undefined) throw notFound('Address name not found');
    return name;
  },
  '/addresses/:address/transactions-count': async (call) => {
    const address = await addressOf(call);
    return { total: await read(call, (db) => queries.countTransactionsOf(db, address)), limit_exceeded: false };
  },
  '/addresses/:address/full-transactions': async (call) => {
    const address = await addressOf(call);
    const request = {
      address,
      limit: numberOf(call, 'limit', 50, MAX_PAGE),
      offset: numberOf(call, 'offset', 0, 100_000),
    };
    const page = await read(call, (db) => queries.readHistoryPage(db, request));
    return readTransactions(call, page.ids.map(fromHex));
  },
  '/addresses/:address/full-transactions-page': async (call) => {
    const address = await addressOf(call);
    const [before, after] = [await tokenOf(call, 'before'), await tokenOf(call, 'after')];
    if (before !== undefined && after !== undefined)
      throw badRequest({ path: 'before', message: 'cannot be used together with after' });
    const limit = numberOf(call, 'limit', 50, MAX_PAGE);
    return sendHistory(call, await read(call, (db) => queries.readHistoryPage(db, { address, limit, before, after })));
  },
};

type UtxoRow = Awaited<ReturnType<typeof queries.listUtxos>>[number];

const toUtxo = ({ address, id, index, amount, script, blockDaaScore, isCoinbase }: UtxoRow) => ({
  address,
  outpoint: { transactionId: id, index },
  utxoEntry: { amount, scriptPublicKey: { scriptPublicKey: script }, blockDaaScore, isCoinbase },
});

const idsOf = (call: Call): Uint8Array[] => {
  const body = check(z.object({ transactionIds: list(hashInput, MAX_IDS) }), call.request.body, 'transactionIds');
  return body.transactionIds;
};

async function addressesOf(call: Call): Promise<string[]> {
  const { addresses } = check(z.object({ addresses: addressesInput }), call.request.body, 'addresses');
  requireNetworkOfAll(await call.services.index.getNetwork(), addresses);
  return addresses;
}

const POST: Record<string, Handler> = {
  '/transactions/search': async (call) => readTransactions(call, idsOf(call)),
  '/transactions/acceptance': async (call) => {
    const ids = idsOf(call).map((id) => Buffer.from(id).toString('hex'));
    const rows = await read(call, (db) => queries.listAcceptance(db, ids));
    return rows.map(({ id, hash, blueScore, timestamp }) => ({
      transactionId: id,
      accepted: hash !== null,
      acceptingBlockHash: hash,
      acceptingBlueScore: blueScore === null ? null : Number(blueScore),
      acceptingTimestamp: timestamp === null ? null : Number(timestamp),
    }));
  },
  '/addresses/balances': async (call) => {
    const addresses = await addressesOf(call);
    return read(call, (db) => queries.listBalances(db, addresses));
  },
  '/addresses/utxos': async (call) => {
    const addresses = await addressesOf(call);
    return (await read(call, (db) => queries.listUtxos(db, addresses))).map(toUtxo);
  },
};

/** Pages and batches cost as those of /v1. */
const costOf = (path: string): number => (/full-transactions|search|utxos|top|names/.test(path) ? 0.5 : 0.1);

export const restServerRoutes: ApiPlugin = async (app, services) => {
  const add = (method: 'GET' | 'POST', path: string, handler: Handler): void => {
    const operation: AnyOperation = hiddenOperation({ method, url: `/rest${path}`, cost: costOf(path) });
    app.route({
      method,
      url: operation.url,
      config: { operation },
      handler: (request, reply) =>
        handler({
          services,
          request,
          reply,
          params: request.params as Record<string, string>,
          query: request.query as Record<string, string | undefined>,
        }),
    });
  };
  for (const [path, handler] of Object.entries(GET)) add('GET', path, handler);
  for (const [path, handler] of Object.entries(POST)) add('POST', path, handler);
};
