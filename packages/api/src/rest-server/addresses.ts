/** Addresses in the forms of kaspa-rest-server. */
import { fromHex, SOMPI_PER_KAS } from '@kasgres/kaspa';
import { z } from 'zod';
import { badRequest, notFound } from '../http/errors.ts';
import type { Db } from '../index-state/sql.ts';
import { requireCaughtUp } from '../index-state/state.ts';
import { historyOfBalance } from '../resources/addresses/balance-history.ts';
import { requireNetworkOfAll } from '../schemas/address.ts';
import { addressesInput } from '../schemas/values.ts';
import {
  addressOf,
  type Call,
  get,
  numberOf,
  PAGE_COST,
  postItems,
  rangeOf,
  read,
  type RestRoute,
  run,
} from './call.ts';
import * as network from './network-queries.ts';
import * as queries from './queries.ts';
import { type Acceptance, acceptanceOf, isWanted, MAX_PAGE, readTransactions } from './transactions.ts';

const limitOf = (call: Call): number => numberOf(call, 'limit', { fallback: 50, minimum: 1, maximum: MAX_PAGE });

/** Tokens of pages are keys below this; from here on they are times: that of the first block of the network. */
const FIRST_TIME = 1_636_298_787_842n;

async function sendHistory(call: Call, page: queries.HistoryPage, acceptance: Acceptance | undefined) {
  const { reply } = call;
  const [newest, oldest] = [page.keys[0], page.keys.at(-1)];
  if (page.hasOlder && oldest !== undefined) reply.header('x-next-page-before', String(oldest));
  if (page.hasNewer && newest !== undefined) reply.header('x-next-page-after', String(newest));
  const found = await readTransactions(call, page.ids.map(fromHex));
  const wanted = found.filter(isWanted(acceptance));
  reply.header('x-page-count', String(wanted.length));
  return wanted;
}

/** Pages jump to the oldest transactions with `after=1`. */
const OLDEST = 1n;

async function tokenOf(call: Call, name: 'before' | 'after'): Promise<bigint | undefined> {
  const value = BigInt(numberOf(call, name));
  if (value === 0n) return undefined;
  if (name === 'after' && value === OLDEST) return 0n;
  return value >= FIRST_TIME ? read(call, (db) => queries.findKeyAt(db, Number(value))) : value;
}

type UtxoRow = Awaited<ReturnType<typeof queries.listUtxos>>[number];

const toUtxo = ({ address, id, index, amount, script, blockDaaScore, isCoinbase }: UtxoRow) => ({
  address,
  outpoint: { transactionId: id, index },
  utxoEntry: { amount, scriptPublicKey: { scriptPublicKey: script }, blockDaaScore, isCoinbase },
});

/** Whole KAS at the end of each hour, newest first. */
async function readBalances(call: Call) {
  const address = await addressOf(call);
  const { from, to } = rangeOf(call, 'date');
  requireCaughtUp(await call.services.index.getSettledState());
  const found = await run(call, historyOfBalance({ interval: 'hour' }).with({ address, from, to }));
  return (found?.history ?? [])
    .map(({ timestamp, balance }) => ({ timestamp, amount: Number(BigInt(balance) / SOMPI_PER_KAS) }))
    .reverse();
}

const listUtxos = async (db: Db, addresses: readonly string[]) => (await queries.listUtxos(db, addresses)).map(toUtxo);

/** Defines a request for many addresses. */
const ofAddresses = (path: string, query: (db: Db, addresses: readonly string[]) => Promise<unknown>): RestRoute =>
  postItems(
    path,
    { body: z.object({ addresses: addressesInput }), countItems: ({ addresses }) => addresses.length },
    async (call, { addresses }) => {
      requireNetworkOfAll(await call.services.index.getNetwork(), addresses);
      return read(call, (db) => query(db, addresses));
    },
  );

export const addressRoutes: readonly RestRoute[] = [
  get(
    '/addresses/names',
    async (call) => {
      // Pages drop the first one.
      const names = await read(call, (db) => queries.listNames(db));
      const { addressPrefix } = await call.services.index.getNetwork();
      return [{ address: `${addressPrefix}:`, name: '' }, ...names];
    },
    PAGE_COST,
  ),
  get(
    '/addresses/top',
    async (call) => {
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
    PAGE_COST,
  ),
  get('/addresses/distribution', async (call) => {
    const [tiers, { sinkTimestamp }] = await Promise.all([
      read(call, queries.listTiers),
      call.services.index.getState(),
    ]);
    return [{ timestamp: Number(sinkTimestamp), tiers }];
  }),
  get('/addresses/:address/balance', async (call) => {
    const address = await addressOf(call);
    const [entry] = await read(call, (db) => queries.listBalances(db, [address]));
    return entry;
  }),
  get(
    '/addresses/:address/utxos',
    async (call) => {
      const address = await addressOf(call);
      return read(call, (db) => listUtxos(db, [address]));
    },
    PAGE_COST,
  ),
  get('/addresses/:address/name', async (call) => {
    const address = await addressOf(call);
    const [name] = await read(call, (db) => queries.listNames(db, address));
    if (name === undefined) throw notFound('Address name not found');
    return name;
  }),
  get('/addresses/:address/transactions-count', async (call) => {
    const address = await addressOf(call);
    return { total: await read(call, (db) => queries.countTransactionsOf(db, address)), limit_exceeded: false };
  }),
  get(
    '/addresses/:address/full-transactions',
    async (call) => {
      const address = await addressOf(call);
      const request = {
        address,
        limit: limitOf(call),
        offset: numberOf(call, 'offset', { maximum: 100_000 }),
      };
      const page = await read(call, (db) => queries.readHistoryPage(db, request));
      return readTransactions(call, page.ids.map(fromHex));
    },
    PAGE_COST,
  ),
  get(
    '/addresses/:address/full-transactions-page',
    async (call) => {
      const address = await addressOf(call);
      const [before, after] = [await tokenOf(call, 'before'), await tokenOf(call, 'after')];
      if (before !== undefined && after !== undefined)
        throw badRequest({ path: 'before', message: 'cannot be used together with after' });
      const request = { address, limit: limitOf(call), before, after };
      const acceptance = acceptanceOf(call);
      const acceptedOnly = acceptance === 'accepted';
      const page = await read(call, (db) => queries.readHistoryPage(db, { ...request, acceptedOnly }));
      return sendHistory(call, page, acceptance);
    },
    PAGE_COST,
  ),
  get('/addresses/:address/utxos/count', async (call) => {
    const address = await addressOf(call);
    return { count: await read(call, (db) => queries.countUtxosOf(db, address)) };
  }),
  get('/addresses/:address/balance/:date', readBalances, PAGE_COST),
  get('/addresses/active/count/', async (call) => {
    const { count, time } = await read(call, network.countScripts);
    return { timestamp: time, dateTime: new Date(time).toISOString(), count };
  }),
  get('/addresses/active/count/:date', async (call) => {
    const { from, to } = rangeOf(call, 'date');
    return read(call, (db) => network.countActive(db, from, to));
  }),
  ofAddresses('/addresses/active', queries.listLastSeen),
  ofAddresses('/addresses/balances', queries.listBalances),
  ofAddresses('/addresses/utxos', listUtxos),
];
