/** What the database says is true, in the form of a recording's `expected.json`, by SQL. */
import type { Pool } from 'pg';
import type { Oracle } from './oracle.ts';

type Stored = Omit<Oracle, 'reorgs' | 'unacceptedByReorgs' | 'checkpoints' | 'network' | 'finalSinkBlueScore'>;

export async function storedOracle(pool: Pool): Promise<Stored> {
  const [ends] = await rows<{ genesis: string; sink: string; circulating: string; utxos: string; nonstandard: string }>(
    pool,
    `select (select encode(b.hash, 'hex') from chain_blocks c join blocks b on b.id = c.block_id order by c.index limit 1) as genesis,
       encode(sink.hash, 'hex') as sink, c.circulating_sompi::text as circulating,
       (select count(*) from utxos)::text as utxos,
       (select coalesce(sum(balance), 0) from balances join scripts s on s.id = script_id where s.type = 'nonstandard')::text as nonstandard
     from checkpoint c join blocks sink on sink.id = c.block_id`,
  );
  if (ends === undefined) throw new Error('there is no checkpoint');
  return {
    genesis: ends.genesis,
    finalSink: ends.sink,
    circulatingSupply: { atSink: ends.circulating, inNonStandardScriptsAtSink: ends.nonstandard },
    chainBlocks: (await rows<{ hash: string }>(pool, CHAIN)).slice(1).map(({ hash }) => hash),
    acceptedTxToAcceptingBlock: Object.fromEntries(
      (await rows<{ id: string; hash: string }>(pool, ACCEPTED)).map(({ id, hash }) => [id, hash]),
    ),
    minedButNotAcceptedTxs: (await rows<{ id: string }>(pool, NOT_ACCEPTED)).map(({ id }) => id).sort(),
    txToContainingBlocks: Object.fromEntries(
      (await rows<{ id: string; blocks: string[] }>(pool, IN_SEVERAL_BLOCKS)).map(({ id, blocks }) => [id, blocks]),
    ),
    balances: Object.fromEntries(
      (await rows<{ address: string; balance: string; transactions: string }>(pool, BALANCES)).map((row) => [
        row.address,
        { atSink: row.balance, txCountAtSink: Number(row.transactions) },
      ]),
    ),
    utxoCountAtSink: Number(ends.utxos),
    counts: await storedCounts(pool),
  };
}

const CHAIN = `select encode(b.hash, 'hex') as hash from chain_blocks c join blocks b on b.id = c.block_id order by c.index`;

const ACCEPTED = `
  select encode(t.transaction_id, 'hex') as id, encode(b.hash, 'hex') as hash
  from transactions t join blocks b on b.id = t.accepting_block_id`;

const NOT_ACCEPTED = `select encode(transaction_id, 'hex') as id from transactions where accepting_block_id is null`;

/** Sorted by hash: the order is not the index's to say. */
const IN_SEVERAL_BLOCKS = `
  select encode(t.transaction_id, 'hex') as id, array_agg(encode(b.hash, 'hex') order by b.hash) as blocks
  from block_transactions bt join transactions t on t.id = bt.transaction_id join blocks b on b.id = bt.block_id
  group by t.id having count(*) > 1`;

const BALANCES = `
  select s.address, coalesce(b.balance, 0)::text as balance, count(*)::text as transactions
  from address_transactions a
  join transactions t on t.id = a.transaction_id and t.accepting_block_id is not null
  join scripts s on s.id = a.script_id
  left join balances b on b.script_id = s.id
  where s.address is not null
  group by s.id, b.balance`;

/** By the names of expected.json; each statement gives one number. */
const COUNTS: Readonly<Record<string, string>> = {
  blocks: 'select count(*) from blocks',
  chainBlocks: 'select count(*) - 1 from chain_blocks',
  offChainBlocks: 'select count(*) from blocks where not is_chain_block',
  acceptedTxs: 'select sum(cardinality(accepted_transactions)) from chain_blocks',
  acceptedNonCoinbase: 'select count(*) from transactions where accepting_block_id is not null and subnetwork_id <> 1',
  distinctTxsInBlocks: 'select count(*) from transactions',
  chainBlocksMergingRed: 'select count(*) from blocks where is_chain_block and cardinality(merge_set_reds) > 0',
  redBlocks: 'select count(*) from blocks where not is_blue',
  redBlocksWithTxs: `select count(*) from blocks b where not is_blue
    and (select count(*) from block_transactions where block_id = b.id) > 1`,
  nonCoinbaseTxsAcceptedOnlyViaRed: `select count(*) from transactions t
    where accepting_block_id is not null and subnetwork_id <> 1 and not exists (
      select from block_transactions bt join blocks b on b.id = bt.block_id
      where bt.transaction_id = t.id and b.is_blue is distinct from false)`,
  chainBlocksMerging2plusBlues: 'select count(*) from blocks where is_chain_block and cardinality(merge_set_blues) > 1',
  maxBlues: 'select max(cardinality(merge_set_blues)) from blocks where is_chain_block',
  maxParents: 'select max(count) from (select count(*) from block_parents group by block_id) parents',
  nonCoinbaseTxsIn2plusBlocks: `select count(*) from transactions t
    where subnetwork_id <> 1 and (select count(*) from block_transactions where transaction_id = t.id) > 1`,
  coinbaseIdsIn2plusBlocks: `select count(*) from transactions t
    where subnetwork_id = 1 and (select count(*) from block_transactions where transaction_id = t.id) > 1`,
  minedNonCoinbaseNeverAccepted:
    'select count(*) from transactions where accepting_block_id is null and subnetwork_id <> 1',
  acceptedTxsWithPayload: `select count(*) from transactions
    where accepting_block_id is not null and subnetwork_id <> 1 and length(payload) > 0`,
  covenantOutputs: `select count(*) from transaction_outputs o join transactions t on t.id = o.transaction_id
    where t.accepting_block_id is not null and o.covenant_id is not null`,
};

const OUTPUTS_BY_TYPE = `
  select case s.type when 'pubkeyecdsa' then 'ecdsa' when 'scripthash' then 'p2sh' else s.type::text end as name, count(*)
  from transaction_outputs o join scripts s on s.id = o.script_id join transactions t on t.id = o.transaction_id
  where t.accepting_block_id is not null and t.subnetwork_id <> 1 group by s.type`;

const VERSIONS = `
  select 'v' || version as name, count(*) from transactions
  where accepting_block_id is not null and subnetwork_id <> 1 group by version`;

async function storedCounts(pool: Pool): Promise<Record<string, unknown>> {
  const counts: Record<string, unknown> = {};
  for (const [name, statement] of Object.entries(COUNTS)) {
    const [row] = await rows<{ count: unknown }>(pool, `select (${statement}) as count`);
    counts[name] = Number(row?.count);
  }
  const noOutputs = { pubkey: 0, ecdsa: 0, p2sh: 0, nonstandard: 0 };
  return {
    ...counts,
    acceptedOutputsByType: { ...noOutputs, ...(await named(pool, OUTPUTS_BY_TYPE)) },
    acceptedTxVersions: { v0: 0, v1: 0, ...(await named(pool, VERSIONS)) },
  };
}

async function named(pool: Pool, statement: string): Promise<Record<string, number>> {
  const counted = await rows<{ name: string; count: unknown }>(pool, statement);
  return Object.fromEntries(counted.map(({ name, count }) => [name, Number(count)]));
}

async function rows<Row extends object>(pool: Pool, statement: string): Promise<Row[]> {
  return (await pool.query<Row>(statement)).rows;
}
