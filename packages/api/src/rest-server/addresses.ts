/** Addresses in the forms of kaspa-rest-server. */
import { SOMPI_PER_KAS } from '@kasgres/kaspa';
import { addressesInput, badRequest, type Db, notFound, requireNetworkOfAll } from '@kasgres/reads';
import { z } from 'zod';
import type { TagOf } from '../http/respond.ts';
import { historyOfBalance } from '../resources/addresses/balance-history.ts';
import { PAGE_COST } from '../resources/shared.ts';
import {
  addressOf,
  type Call,
  get,
  numberOf,
  postItems,
  rangeOf,
  read,
  readCaughtUp,
  readTransactionPage,
  type RestRoute,
} from './call.ts';
import { MAX_OFFSET } from './document.ts';
import { type TimedTransaction, toTransaction } from './forms.ts';
import { historyPage, newestTransactions } from './history.ts';
import * as network from './network-queries.ts';
import * as queries from './queries.ts';
import { acceptanceOf, formOf, isWanted, MAX_PAGE } from './transactions.ts';

/**
 * The time of the first block of the mainnet: pages jump to the oldest transactions with an earlier
 * `after`.
 */
const GENESIS_MS = 1_636_298_787_842;

const limitOf = (call: Call): number => numberOf(call, 'limit', { fallback: 50, minimum: 1, maximum: MAX_PAGE });

async function readHistory(call: Call) {
  const address = await addressOf(call);
  const [before, after] = [numberOf(call, 'before'), numberOf(call, 'after')];
  if (before !== 0 && after !== 0) throw badRequest({ path: 'before', message: 'cannot be used together with after' });
  const start = after === 0 ? (before === 0 ? 'newest' : 'before') : 'after';
  const acceptance = acceptanceOf(call);
  const form = formOf(call);
  const page = historyPage({ start, acceptedOnly: acceptance === 'accepted' });
  const limit = limitOf(call);
  const parameters = { address, limit, time: Math.max(before, after) };
  const toItem = (transaction: TimedTransaction) => {
    const item = toTransaction(transaction, form);
    return isWanted(acceptance)(item) ? item : undefined;
  };
  return readTransactionPage(call, limit, page.with(parameters), toItem, (found, count) => {
    const { newest, oldest, hasOlder, hasNewer } = found;
    if (hasOlder && (after === 0 || after >= GENESIS_MS)) call.reply.header('x-next-page-before', String(oldest));
    if (hasNewer) call.reply.header('x-next-page-after', String(newest));
    call.reply.header('x-page-count', String(count));
  });
}

async function readNewest(call: Call) {
  const address = await addressOf(call);
  const request = { address, limit: limitOf(call), offset: numberOf(call, 'offset', { maximum: MAX_OFFSET }) };
  const form = formOf(call);
  const page = newestTransactions.with(request);
  return readTransactionPage(call, request.limit, page, (transaction) => toTransaction(transaction, form));
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
  return readCaughtUp(call, historyOfBalance({ interval: 'hour' }).with({ address, from, to }), ({ history }) =>
    history.map(({ timestamp, balance }) => ({ timestamp, amount: Number(BigInt(balance) / SOMPI_PER_KAS) })).reverse(),
  );
}

const listUtxos = async (db: Db, addresses: readonly string[]) => (await queries.listUtxos(db, addresses)).map(toUtxo);

/** Defines a look-up of one address. */
const ofAddress = (
  path: string,
  query: (db: Db, address: string) => Promise<unknown>,
  { cost, tagOf }: { cost?: number; tagOf?: TagOf } = {},
): RestRoute =>
  get(
    path,
    async (call) => {
      const address = await addressOf(call);
      return read(call, ({ db }) => query(db, address), tagOf);
    },
    cost,
  );

/** Defines a request for many addresses. */
const ofAddresses = (path: string, query: (db: Db, addresses: readonly string[]) => Promise<unknown>): RestRoute =>
  postItems(
    path,
    { body: z.object({ addresses: addressesInput }), countItems: ({ addresses }) => addresses.length },
    async (call, { addresses }) => {
      requireNetworkOfAll(await call.services.index.getNetwork(), addresses);
      return read(call, ({ db }) => query(db, addresses));
    },
  );

export const addressRoutes: readonly RestRoute[] = [
  get(
    '/addresses/names',
    (call) =>
      read(
        call,
        async ({ db, state }) => {
          // Pages drop the first one.
          const dummy = { address: `${state.network.addressPrefix}:`, name: '' };
          return [dummy, ...(await queries.listNames(db))];
        },
        'content',
      ),
    PAGE_COST,
  ),
  get('/addresses/top', (call) => readCaughtUp(call, queries.richestAddresses.with({}), (found) => found), PAGE_COST),
  get('/addresses/distribution', (call) =>
    read(call, async ({ db, state }) => [
      { timestamp: Number(state.sinkTimestamp), tiers: await queries.listTiers(db) },
    ]),
  ),
  ofAddress('/addresses/:address/balance', async (db, address) => (await queries.listBalances(db, [address]))[0]),
  ofAddress('/addresses/:address/utxos', (db, address) => listUtxos(db, [address]), { cost: PAGE_COST }),
  ofAddress(
    '/addresses/:address/name',
    async (db, address) => {
      const [name] = await queries.listNames(db, address);
      if (name === undefined) throw notFound('Address name not found');
      return name;
    },
    { tagOf: 'content' },
  ),
  ofAddress('/addresses/:address/transactions-count', async (db, address) => ({
    total: await queries.countTransactionsOf(db, address),
    limit_exceeded: false,
  })),
  get('/addresses/:address/full-transactions', readNewest, PAGE_COST),
  get('/addresses/:address/full-transactions-page', readHistory, PAGE_COST),
  ofAddress('/addresses/:address/utxos/count', async (db, address) => ({
    count: await queries.countUtxosOf(db, address),
  })),
  get('/addresses/:address/balance/:date', readBalances, PAGE_COST),
  get('/addresses/active/count/', (call) =>
    read(call, async ({ db }) => {
      const { count, time } = await network.countScripts(db);
      return { timestamp: time, dateTime: new Date(time).toISOString(), count };
    }),
  ),
  get('/addresses/active/count/:date', async (call) => {
    const { from, to } = rangeOf(call, 'date');
    return read(call, ({ db }) => network.countActive(db, from, to));
  }),
  ofAddresses('/addresses/active', queries.listLastSeen),
  ofAddresses('/addresses/balances', queries.listBalances),
  ofAddresses('/addresses/utxos', listUtxos),
];
