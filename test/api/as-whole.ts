/**
 * Requests whose responses are the same on an index with a gap and on a whole one, since both have
 * all of their data.
 */
import { expect } from 'vitest';
import { walk } from '../support/listings.ts';
import type { BalanceHistory, CutIndex } from './cut-index.ts';
import { addresses, addressUtxos } from './listings.ts';

export interface Responses {
  blocks: Map<string, unknown>;
  details: Map<string, unknown>;
  transactions: Map<string, RestTransaction>;
  state: unknown[];
  history: BalanceHistory['history'];
  hashRate: unknown;
}

export interface RestTransaction {
  transactionId: string;
  isAccepted: boolean;
  acceptingBlockHash: string | null;
  confirmations: number;
  blockHashes: string[];
  inputs: { previousOutput: { transactionId: string; index: number; amount: string | null } }[];
  outputs: { spentBy: string | null; isSpent: boolean }[];
}

/**
 * Requests for blocks around these positions, with blocks beside the chain, and for their
 * transactions.
 */
export async function askAround(index: CutIndex, places: readonly number[]): Promise<Responses> {
  const hashes = hashesAround(index, places);
  const blocks = new Map<string, unknown>();
  const details = new Map<string, unknown>();
  for (const hash of hashes) {
    blocks.set(hash, (await index.post('/v1/rpc/getBlock', { hash, includeTransactions: true })).json['block']);
    details.set(hash, (await index.get('/v1/blocks/{hash}', { hash })).json['block']);
  }
  return {
    blocks,
    details,
    transactions: await askTransactions(index, hashes),
    state: await askState(index),
    history: (await index.getBalanceHistory()).history,
    hashRate: (await index.get('/v1/rpc/estimateNetworkHashesPerSecond')).json,
  };
}

/** @param whole the responses of the whole index around these and other positions */
export async function expectAsWhole(index: CutIndex, whole: Responses, places: readonly number[]): Promise<void> {
  const now = await askAround(index, places);
  for (const hash of hashesAround(index, places)) {
    expect(now.blocks.get(hash), hash).toEqual(whole.blocks.get(hash));
    expect(now.details.get(hash), hash).toEqual(whole.details.get(hash));
  }
  expect(now.state).toEqual(whole.state);
  expect(now.hashRate).toEqual(whole.hashRate);
  const { rows } = await index.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions where accepting_index is not null`,
  );
  const accepted = new Set(rows.map(({ id }) => id));
  for (const [id, transaction] of now.transactions) {
    const before = withKnownSpenders(whole.transactions.get(id) as RestTransaction, accepted);
    if (transaction.acceptingBlockHash !== null) expect(transaction).toEqual(before);
    else expect(ownOf(transaction)).toEqual(ownOf(before));
  }
}

/** Outputs accepted before a gap may have been spent in it, which the index cannot know. */
function withKnownSpenders(transaction: RestTransaction, accepted: ReadonlySet<string>): RestTransaction {
  const outputs = transaction.outputs.map((output) => ({
    ...output,
    spentBy: output.spentBy !== null && (!output.isSpent || accepted.has(output.spentBy)) ? output.spentBy : null,
    isSpent: output.isSpent && accepted.has(output.spentBy ?? ''),
  }));
  return { ...transaction, outputs };
}

function hashesAround(index: CutIndex, places: readonly number[]): string[] {
  return [...new Set(places.flatMap((place) => [index.hashAt(place), ...index.mergedBy(place + 1, place + 20)]))];
}

async function askTransactions(index: CutIndex, hashes: readonly string[]): Promise<Map<string, RestTransaction>> {
  const { rows } = await index.pool.query<{ id: string }>(
    `select distinct encode(t.transaction_id, 'hex') as id
     from transactions t join block_transactions c on c.transaction_id = t.id
       join blocks b on b.id = c.block_id
     where encode(b.hash, 'hex') = any($1)`,
    [hashes],
  );
  const found = new Map<string, RestTransaction>();
  for (let from = 0; from < rows.length; from += 500) {
    const transactionIds = rows.slice(from, from + 500).map(({ id }) => id);
    const { json } = await index.post('/v1/transactions', { transactionIds, includePayload: true });
    for (const transaction of json['transactions'] as RestTransaction[])
      found.set(transaction.transactionId, transaction);
  }
  return found;
}

/** Responses that do not depend on where the index begins. */
async function askState(index: CutIndex): Promise<unknown[]> {
  const { api } = index.harness;
  const { address } = index.owner;
  return [
    (await index.get('/v1/rpc/getCoinSupply')).json,
    (await index.get('/v1/rpc/getBalanceByAddress/{address}', { address })).json,
    (await index.post('/v1/rpc/getUtxosByAddresses', { addresses: await listOwners(index) })).json,
    await walk(api, addressUtxos(index.owner), 50),
    await walk(api, addresses(), 100),
    (await index.post('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: ['900', '901', '99999999'] })).json,
  ];
}

/** Every holder, also of UTXOs with covenants. */
async function listOwners({ pool }: CutIndex): Promise<string[]> {
  const { rows } = await pool.query<{ address: string }>(
    `select s.address from balances b join scripts s on s.id = b.script_id
     where b.balance > 0 and s.address is not null order by s.id limit 1000`,
  );
  return rows.map(({ address }) => address);
}

/** The fields of a transaction that do not depend on other blocks. */
const ownOf = ({ transactionId, inputs, outputs }: RestTransaction): unknown => [
  transactionId,
  inputs.length,
  outputs.map(({ spentBy: _spender, isSpent: _isSpent, ...output }) => output),
];
