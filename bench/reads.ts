/**
 * The requests of bench:read, from samples of an index. A read is a list of requests, which are
 * sent in turn.
 */
import type { Connection } from '@kasgres/database';
import { type ApplicationSamples, findApplicationSamples, hasApplications, listValues } from './application-samples.ts';
import type { Request } from './http-connection.ts';

const SAMPLES = 2000;

export type Reads = Readonly<Record<string, readonly Request[]>>;

export interface Samples {
  ids: readonly string[];
  addresses: readonly string[];
  /** The three addresses with the most transactions. */
  busiest: readonly string[];
  blocks: readonly string[];
  daaScores: readonly string[];
}

/**
 * Groups of reads by name. `explorer`: those of an explorer that need no node. `applications`:
 * covenants, programs, lanes and inscriptions.
 */
export const GROUPS: Readonly<Record<string, (samples: Samples, database: Connection) => Reads | Promise<Reads>>> = {
  frequent: frequentReads,
  explorer: explorerReads,
  // An index of an earlier checkout may have none of them.
  applications: async (_samples, database) =>
    (await hasApplications(database)) ? applicationReads(await findApplicationSamples(database)) : {},
};

/** Samples ids and addresses of the index, the same in each run. */
export async function findSamples(database: Connection): Promise<Samples> {
  const list = async (text: string): Promise<string[]> => await listValues(database, text);
  return {
    ids: await list(
      `select encode(transaction_id, 'hex') as value from transactions where accepting_index is not null
       order by md5(id::text) limit ${SAMPLES}`,
    ),
    addresses: await list(
      `select address as value from scripts where address is not null order by md5(id::text) limit ${SAMPLES}`,
    ),
    busiest: await list(
      `select s.address as value from balances b join scripts s on s.id = b.script_id
       where s.address is not null order by b.transaction_count desc limit 3`,
    ),
    blocks: await list(
      `select encode(hash, 'hex') as value from blocks where is_chain_block order by md5(id::text) limit ${SAMPLES}`,
    ),
    daaScores: await list(
      `select daa_score::text as value from blocks where is_chain_block order by md5(id::text) limit ${SAMPLES}`,
    ),
  };
}

function frequentReads({ ids, addresses, busiest, blocks }: Samples): Reads {
  const look = {
    transaction: get((id) => `/v1/transactions/${id}`, ids),
    balance: get((address) => `/v1/rpc/getBalanceByAddress/${address}`, addresses),
    addressPage: get((address) => `/v1/addresses/${address}/transactions`, addresses),
    latestBlocks: [{ path: '/v1/blocks' }],
    utxos: get((address) => `/v1/addresses/${address}/utxos`, addresses),
    blocks: blocks.map((hash) => ({
      method: 'POST' as const,
      path: '/v1/rpc/getBlock',
      body: { hash, includeTransactions: true },
    })),
  };
  return {
    getCurrentNetwork: [{ path: '/v1/rpc/getCurrentNetwork' }],
    getCoinSupply: [{ path: '/v1/rpc/getCoinSupply' }],
    getBalanceByAddress: look.balance,
    'transaction by id': look.transaction,
    'address page of 20': look.addressPage,
    'page of 20 of the three busiest addresses': get((address) => `/v1/addresses/${address}/transactions`, busiest),
    'getBlock with transactions': look.blocks,
    'acceptance of 100 ids': post('/v1/transactions/acceptance', 'transactionIds', ids, 100),
    'latest 20 blocks': look.latestBlocks,
    'latest 20 transactions': [{ path: '/v1/transactions' }],
    'UTXO page': look.utxos,
    'mix of six': ids.flatMap((_, index) =>
      Object.values(look).map((requests) => requests[index % requests.length] as Request),
    ),
  };
}

function explorerReads({ ids, addresses, busiest, blocks, daaScores }: Samples): Reads {
  return {
    'search for a transaction': get((id) => `/v1/search?q=${id}`, ids),
    'search for a prefix of a block': get((hash) => `/v1/search?q=${hash.slice(0, 10)}`, blocks),
    'search for a DAA score': get((score) => `/v1/search?q=${score}`, daaScores),
    'search for an address': get((address) => `/v1/search?q=${address}`, addresses),
    'search for a tag': get((text) => `/v1/search?q=${text}`, ['ow', 'owner', 'owner+9', 'none']),
    network: [{ path: '/v1/network' }],
    'network history of 100 minutes': [{ path: '/v1/network/history?interval=minute' }],
    'circulating supply as text': [{ path: '/v1/network/supply/circulating' }],
    distribution: [{ path: '/v1/network/distribution' }],
    'miners of an hour': [{ path: '/v1/miners?interval=hour' }],
    'miners of a week': [{ path: '/v1/miners?interval=week' }],
    'latest window of the DAG': [{ path: '/v1/dag' }],
    'window of the DAG around a block': get((hash) => `/v1/dag?around=${hash}`, blocks),
    'block with miner and rewards': get((hash) => `/v1/blocks/${hash}`, blocks),
    'page of contained transactions': get((hash) => `/v1/blocks/${hash}/transactions?relation=contained`, blocks),
    'page of accepted transactions': get((hash) => `/v1/blocks/${hash}/transactions?relation=accepted`, blocks),
    'blocks by DAA score': get((score) => `/v1/blocks/daa-score/${score}/${Number(score) + 20}`, daaScores),
    'transaction with tags': get((id) => `/v1/transactions/${id}?include=tags`, ids),
    'address with tags': get((address) => `/v1/addresses/${address}?include=tags`, addresses),
    '100 addresses': post('/v1/addresses', 'addresses', addresses, 100),
    'address page, received only': get(
      (address) => `/v1/addresses/${address}/transactions?direction=received`,
      addresses,
    ),
    'busy address page, sent only': get((address) => `/v1/addresses/${address}/transactions?direction=sent`, busiest),
    'busy address page, of at least 1 KAS': get(
      (address) => `/v1/addresses/${address}/transactions?min_amount=100000000`,
      busiest,
    ),
    'balance history': get((address) => `/v1/addresses/${address}/balance-history`, addresses),
    cluster: get((address) => `/v1/addresses/${address}/cluster`, addresses),
    tags: [{ path: '/v1/tags' }],
    'rich list': [{ path: '/v1/addresses' }],
    '/rest block': get((hash) => `/rest/blocks/${hash}?includeColor=true`, blocks),
    '/rest transaction': get((id) => `/rest/transactions/${id}?resolve_previous_outpoints=light`, ids),
    '/rest address page': get(
      (address) => `/rest/addresses/${address}/full-transactions-page?limit=20&resolve_previous_outpoints=light`,
      addresses,
    ),
    '/rest top addresses': [{ path: '/rest/addresses/top' }],
    '/rest counts of a day': [{ path: '/rest/transactions/count/' }],
  };
}

function applicationReads(samples: ApplicationSamples): Reads {
  const { covenants, busyCovenants, templates, programs, namespaces, protocols, ticks, holders, transactions } =
    samples;
  const rarest = protocols.slice(-1);
  return {
    'covenant by id': get((id) => `/v1/covenants/${id}`, covenants),
    'program by hash': get((hash) => `/v1/programs/${hash}`, programs),
    'program with bytes': get((hash) => `/v1/programs/${hash}?include=bytes,disassembly`, programs),
    'template by hash': get((hash) => `/v1/templates/${hash}`, templates),
    'lane by namespace': get((namespace) => `/v1/lanes/${namespace}`, namespaces),
    'transaction with programs': get((id) => `/v1/transactions/${id}?include=programs`, transactions),
    'protocols of 24 hours': [{ path: '/v1/network/protocols?interval=hour' }],
    'protocols of a month': [{ path: '/v1/network/protocols?interval=day' }],
    'search for a covenant': get((id) => `/v1/search?q=${id}`, covenants),
    'search for a program': get((hash) => `/v1/search?q=${hash}`, programs),
    'search for a tick': get((tick) => `/v1/search?q=${encodeURIComponent(tick)}`, ticks),
    'search for a lane': get((namespace) => `/v1/search?q=${namespace}`, namespaces),
    '20 covenants by id': post('/v1/covenants', 'covenantIds', covenants, 20),
    covenants: [{ path: '/v1/covenants' }],
    'covenants by creation': [{ path: '/v1/covenants?order=created' }],
    'live and complete covenants': [{ path: '/v1/covenants?live_only=true&complete_only=true' }],
    'covenants after a cursor': get((id) => `/v1/covenants?starting_after=${id}`, covenants),
    'covenants of a template': get((hash) => `/v1/templates/${hash}/covenants`, templates),
    'live covenants of a template': get((hash) => `/v1/covenants?live_only=true&template=${hash}`, templates),
    'covenants of an address': get((address) => `/v1/addresses/${address}/covenants`, holders),
    'UTXOs of a covenant': get((id) => `/v1/covenants/${id}/utxos`, covenants),
    'events of a covenant': get((id) => `/v1/covenants/${id}/events`, covenants),
    'events of a busy covenant': get((id) => `/v1/covenants/${id}/events`, busyCovenants),
    'latest events': [{ path: '/v1/covenant-events' }],
    templates: [{ path: '/v1/templates' }],
    lanes: [{ path: '/v1/lanes' }],
    'transactions of a lane': get((namespace) => `/v1/lanes/${namespace}/transactions`, namespaces),
    'latest transactions with programs': [{ path: '/v1/transactions?include=programs' }],
    inscriptions: [{ path: '/v1/inscriptions' }],
    'inscriptions of a tick': get((tick) => `/v1/inscriptions?tick=${encodeURIComponent(tick)}`, ticks),
    'inscriptions of the busiest tick': get(
      (tick) => `/v1/inscriptions?tick=${encodeURIComponent(tick)}`,
      ticks.slice(0, 1),
    ),
    'inscriptions of an address': get((address) => `/v1/inscriptions?address=${address}`, holders),
    'inscriptions of the rarest protocol': get((protocol) => `/v1/inscriptions?protocol=${protocol}`, rarest),
  };
}

function get(path: (value: string) => string, values: readonly string[]): Request[] {
  return values.map((value) => ({ path: path(value) }));
}

/** Returns 20 requests, each with `count` other values. */
function post(path: string, property: string, values: readonly string[], count: number): Request[] {
  return Array.from({ length: 20 }, (_, index) => ({
    method: 'POST',
    path,
    body: { [property]: values.slice(index * count, (index + 1) * count) },
  }));
}
