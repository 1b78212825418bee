/**
 * Requests to every endpoint that reads the database, on the large index and as large as they can
 * be.
 */
import type { Pool } from 'pg';
import { BUSY_COVENANT, COMMON_TEMPLATE, SOME_KCC_TEMPLATE, SOME_PROGRAM } from './covenant-rows.ts';
import { addressOf } from './large-index.ts';
import {
  BUSY_NAMESPACE,
  LARGE_CLUSTER,
  memberOfLarge,
  PAID_BY_ALL,
  PAID_IN_VAIN,
  RARE_LABEL,
} from './large-index-rows.ts';
import type { Request } from './harness.ts';

/** The position in the large cluster that is as far from the root as any. */
const DEEP_POSITION = 2 ** 15 - 2;

/** Rows whose keys do not follow from arithmetic. */
export interface Landmarks {
  transactionIds: string[];
  covenantIds: string[];
  /** The hash of a block of 300 transactions. */
  fullBlock: string;
  chainBlock: string;
  /** Neither on the chain nor near the sink. */
  sideBlock: string;
  daaScores: string[];
  /** The timestamp of an old chain block, Unix milliseconds. */
  time: number;
  /** scripts.id of an address with ten transactions. */
  ten: number;
  /**
   * How many transactions of the address that is paid in vain are newer than its newest accepted
   * one.
   */
  refused: number;
}

export const get = (url: string): Request => ({ method: 'get', url });
const post = (url: string, body: object): Request => ({ method: 'post', url, body });

/** Returns one request of each kind of look-up; listings are in listings.ts. */
export function lookUps(landmarks: Landmarks): Record<string, Request> {
  const { transactionIds, fullBlock, chainBlock, sideBlock, daaScores, time } = landmarks;
  const [transactionId = ''] = transactionIds;
  const [paidByAll, deepMember] = [addressOf(PAID_BY_ALL), addressOf(memberOfLarge(DEEP_POSITION))];
  const [first, last] = [addressOf(memberOfLarge(0)), addressOf(memberOfLarge(LARGE_CLUSTER - 1))];
  const farMember = addressOf(memberOfLarge(DEEP_POSITION - 1000));
  const addresses = Array.from({ length: 1000 }, (_, index) => addressOf(1000 + index));
  return {
    'virtual chain from an old chain block, with ids': post('/v1/rpc/getVirtualChainFromBlock', {
      startHash: chainBlock,
      includeAcceptedTransactionIds: true,
    }),
    'virtual chain from a block beside it': post('/v1/rpc/getVirtualChainFromBlock', {
      startHash: sideBlock,
      includeAcceptedTransactionIds: false,
    }),
    'a page of blocks with their transactions': post('/v1/rpc/getBlocks', {
      lowHash: chainBlock,
      includeBlocks: true,
      includeTransactions: true,
    }),
    'a page of hashes': post('/v1/rpc/getBlocks', { lowHash: sideBlock }),
    'acceptance of 500 transactions': post('/v1/transactions/acceptance', { transactionIds }),
    'times of 1,000 DAA scores': post('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores }),
    'the tag of an address': get(`/v1/addresses/${addressOf(4)}/tag`),
    'the tag of a cluster': get(`/v1/addresses/${addressOf(5)}/tag`),
    'the tag of a member deep in a large cluster': get(`/v1/addresses/${deepMember}/tag`),
    'a cluster of ten': get(`/v1/addresses/${addressOf(5)}/cluster`),
    'an address that stands alone, with its supposed change': get(`/v1/addresses/${paidByAll}/cluster`),
    'evidence over a way of a thousand transactions': get(
      `/v1/addresses/${deepMember}/cluster?limit=1&evidence_for=${farMember}`,
    ),
    'evidence over a way that is too long': get(`/v1/addresses/${first}/cluster?limit=1&evidence_for=${last}`),
    'hash rate over 10,000 blocks': get('/v1/rpc/estimateNetworkHashesPerSecond?windowSize=10000'),
    'hash rate before an old block': get(
      `/v1/rpc/estimateNetworkHashesPerSecond?windowSize=1000&startHash=${sideBlock}`,
    ),
    'a balance': get(`/v1/rpc/getBalanceByAddress/${paidByAll}`),
    supply: get('/v1/rpc/getCoinSupply'),
    'a transaction': get(`/v1/transactions/${transactionId}?include_payload=true`),
    '500 transactions': post('/v1/transactions', { transactionIds, includePayload: false }),
    'a block of 300 transactions': get(`/v1/blocks/${fullBlock}?include_transactions=true`),
    'a block': get(`/v1/blocks/${sideBlock}`),
    'the blocks of 101 DAA scores': get('/v1/blocks/daa-score/60000/60100'),
    'an address': get(`/v1/addresses/${paidByAll}`),
    'hours of a balance': get(`/v1/addresses/${paidByAll}/balance-history?interval=hour`),
    'months of a balance': get(`/v1/addresses/${paidByAll}/balance-history?interval=month`),
    'tags with a label that one of them has': get(`/v1/tags?label=${RARE_LABEL}`),
    'getBlock with 300 transactions': post('/v1/rpc/getBlock', { hash: fullBlock, includeTransactions: true }),
    'the sink': get('/v1/rpc/getSink'),
    'its blue score': get('/v1/rpc/getSinkBlueScore'),
    'balances of 1,000 addresses': post('/v1/rpc/getBalancesByAddresses', { addresses }),
    'UTXOs of 1,000 addresses': post('/v1/rpc/getUtxosByAddresses', { addresses }),
    network: get('/v1/rpc/getCurrentNetwork'),
    'the network at the sink': get('/v1/network'),
    'hours of the network': get('/v1/network/history?interval=hour'),
    'a thousand minutes of the network': get('/v1/network/history?interval=minute&from=0'),
    'supply as text': get('/v1/network/supply/circulating'),
    'maximum supply as text': get('/v1/network/supply/max'),
    'distribution of balances': get('/v1/network/distribution'),
    'miners of a week': get('/v1/miners?interval=week'),
    'the newest blocks of the DAG': get('/v1/dag'),
    'blocks of 301 DAA scores of the DAG': get('/v1/dag?from=60000&to=60300'),
    'blocks around one in the DAG': get(`/v1/dag?around=${sideBlock}`),
    'search for a score': get('/v1/search?q=60000&limit=20'),
    'search for a hash': get(`/v1/search?q=${fullBlock}`),
    'search for a transaction': get(`/v1/search?q=${transactionId}`),
    'search for the beginning of a hash': get(`/v1/search?q=${fullBlock.slice(0, 10)}`),
    'search for an address': get(`/v1/search?q=${paidByAll}`),
    'search for the beginning of an address': get(`/v1/search?q=${paidByAll.slice(0, 15)}`),
    'search for the beginning of names': get('/v1/search?q=na&limit=20'),
    '1,000 addresses': post('/v1/addresses', { addresses }),
    'transactions of a block': get(`/v1/blocks/${fullBlock}/transactions?limit=100`),
    'transactions that a block accepts': get(`/v1/blocks/${chainBlock}/transactions?relation=accepted`),
    'transactions that pay the address of a million': get(`/v1/addresses/${paidByAll}/transactions?direction=received`),
    'transactions that the address of a million has sent': get(
      `/v1/addresses/${paidByAll}/transactions?direction=sent`,
    ),
    'large transactions of the address of a million': get(`/v1/addresses/${paidByAll}/transactions?min_amount=1`),
    'transactions of an hour of the address of a million': get(
      `/v1/addresses/${paidByAll}/transactions?from=${time}&to=${time + 3_600_000}`,
    ),
    'a transaction with tags': get(`/v1/transactions/${transactionId}?include=tags`),
    'a block with tags': get(`/v1/blocks/${fullBlock}?include=tags`),
    'addresses with tags': get('/v1/addresses?include=tags'),
    'inscriptions of a rare protocol': get('/v1/inscriptions?protocol=kns&limit=100'),
    'inscriptions of an address with a rare operation': get(`/v1/inscriptions?address=${paidByAll}&operation=deploy`),
    'protocols by hour': get('/v1/network/protocols?from=0'),
    'protocols by day': get('/v1/network/protocols?interval=day'),
    'a covenant': get(`/v1/covenants/${BUSY_COVENANT}`),
    '500 covenants': post('/v1/covenants', { covenantIds: landmarks.covenantIds }),
    'UTXOs of a covenant': get(`/v1/covenants/${BUSY_COVENANT}/utxos`),
    'a program': get(`/v1/programs/${SOME_PROGRAM}`),
    'a program with its bytes': get(`/v1/programs/${SOME_PROGRAM}?include=bytes,disassembly`),
    'a template': get(`/v1/templates/${COMMON_TEMPLATE}`),
    'a transaction with programs': get(`/v1/transactions/${transactionId}?include=programs`),
    'transactions with programs and tags': get('/v1/transactions?include=programs,tags'),
    '500 transactions with programs': post('/v1/transactions', {
      transactionIds,
      includePayload: false,
      include: 'programs',
    }),
    'the blocks of 101 DAA scores with programs': get('/v1/blocks/daa-score/60000/60100?include=programs'),
    'search for a template of KCC-1': get(`/v1/search?q=${SOME_KCC_TEMPLATE}`),
    'search for the beginning of a covenant id': get(`/v1/search?q=${BUSY_COVENANT.slice(0, 8)}`),
    'search for a tick': get('/v1/search?q=t7'),
    'a lane': get(`/v1/lanes/${BUSY_NAMESPACE}`),
    status: get('/v1/status'),
    ...restServerLookUps(landmarks),
  };
}

/** Requests to /rest, besides those that only the node serves. */
function restServerLookUps({
  transactionIds,
  fullBlock,
  chainBlock,
  sideBlock,
  time,
}: Landmarks): Record<string, Request> {
  const [transactionId = ''] = transactionIds;
  const paidByAll = `/rest/addresses/${addressOf(PAID_BY_ALL)}`;
  const addresses = Array.from({ length: 1000 }, (_, index) => addressOf(1000 + index));
  return {
    'their block of 300 transactions': get(`/rest/blocks/${fullBlock}?includeColor=true`),
    'their page of blocks': get(`/rest/blocks?lowHash=${sideBlock}&includeBlocks=true`),
    'their blocks of a blue score': get('/rest/blocks-from-bluescore?blueScore=50000'),
    'their blocks of a blue score or above': get('/rest/blocks-from-bluescore?blueScoreGte=50000'),
    'their blocks below a blue score': get('/rest/blocks-from-bluescore?blueScoreLt=50000'),
    'their virtual chain of 100 blue scores': get(
      '/rest/virtual-chain?blueScoreGte=50000&limit=100&resolveInputs=true',
    ),
    'their virtual chain from a block': get(`/rest/info/get-vscp-from-block?startHash=${chainBlock}`),
    'their hash rates by quarters': get('/rest/info/hashrate/history?resolution=15m'),
    'their hash rates by hours': get('/rest/info/hashrate/history'),
    'their hash rates by weeks': get('/rest/info/hashrate/history?resolution=7d'),
    'their highest hash rate': get('/rest/info/hashrate/max'),
    'their transaction': get(`/rest/transactions/${transactionId}?resolve_previous_outpoints=light`),
    'their 500 transactions': post('/rest/transactions/search', { transactionIds }),
    'their transactions of 100 blue scores': post('/rest/transactions/search', {
      acceptingBlueScores: { gte: 50_000, lt: 50_100 },
    }),
    'their acceptance of 500 transactions': post('/rest/transactions/acceptance', { transactionIds }),
    'their number of transactions': get('/rest/transactions/count/'),
    'their balance': get(`${paidByAll}/balance`),
    'their balances of a month': get(`${paidByAll}/balance/2025-06`),
    'their number of UTXOs': get(`${paidByAll}/utxos/count`),
    'their UTXOs': get(`${paidByAll}/utxos`),
    'their number of transactions of an address': get(`${paidByAll}/transactions-count`),
    'their newest transactions of an address': get(`${paidByAll}/full-transactions-page`),
    'their oldest transactions of an address': get(`${paidByAll}/full-transactions-page?after=1`),
    'their accepted transactions of an address before a time': get(
      `${paidByAll}/full-transactions-page?before=${time}&acceptance=accepted`,
    ),
    'their accepted transactions of an address after a time': get(
      `${paidByAll}/full-transactions-page?after=${time}&acceptance=accepted`,
    ),
    'their transactions of an address after a time': get(`${paidByAll}/full-transactions-page?after=${time}&limit=500`),
    'their transactions of an address at an offset': get(`${paidByAll}/full-transactions?offset=100`),
    'their transactions of an address before a time': get(
      `${paidByAll}/full-transactions-page?before=${time}&limit=500`,
    ),
    'their richest addresses': get('/rest/addresses/top'),
    'their distribution': get('/rest/addresses/distribution'),
    'their names': get('/rest/addresses/names'),
    'their number of addresses': get('/rest/addresses/active/count/'),
    'their active addresses by hours': get('/rest/addresses/active/count/2025-06-15'),
    'their activity of 1,000 addresses': post('/rest/addresses/active', { addresses }),
    'their balances of 1,000 addresses': post('/rest/addresses/balances', { addresses }),
    'their UTXOs of 1,000 addresses': post('/rest/addresses/utxos', { addresses }),
  };
}

export async function findLandmarks(pool: Pool): Promise<Landmarks> {
  const { rows } = await pool.query<Landmarks>(
    `select
       array(select encode(transaction_id, 'hex') from transactions where id % 2003 = 7 order by id
         limit 500) as "transactionIds",
       array(select encode(covenant_id, 'hex') from covenants where id % 1009 = 7 order by id
         limit 500) as "covenantIds",
       (select encode(hash, 'hex') from blocks where id = 60000) as "fullBlock",
       (select encode(hash, 'hex') from blocks where id = 60003) as "chainBlock",
       (select encode(hash, 'hex') from blocks where id = 60004) as "sideBlock",
       array(select (daa_score + 1)::text from chain_blocks where index % 42 = 0 order by index
         limit 1000) as "daaScores",
       (select chain_time::float8 from chain_blocks where index = 20001) as time,
       (select script_id::integer from balances where transaction_count = 10 and balance > 0
         order by script_id limit 1) as ten,
       (select count(*)::integer from address_transactions
         where script_id = ${PAID_IN_VAIN} and transaction_id > (
          select max(a.transaction_id) from address_transactions a
            join transactions t on t.id = a.transaction_id
          where a.script_id = ${PAID_IN_VAIN} and t.accepting_index is not null)) as refused`,
  );
  return rows[0] as Landmarks;
}
