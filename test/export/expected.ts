/**
 * The rows that an export must have, selected in another way than by the export: through the owner
 * of each row, the chain block that merges or accepts it, with its day.
 */
import type { Pool } from 'pg';
import { canonical, type Columns, postgresList, type TextRow } from './readers/readers.ts';

const CHAIN = `
  chain as (
    select c.index, b.id, encode(b.hash, 'hex') as hash, c.accepted_transactions, c.chain_time,
      to_char(to_timestamp(c.chain_time / 1000.0) at time zone 'UTC', 'YYYY-MM-DD') as day
    from public.chain_blocks c join public.blocks b on b.id = c.block_id
  ),
  merged as (
    select m.id, encode(m.hash, 'hex') as hash, chain.index, chain.day from public.blocks m
      join chain on chain.id = m.merging_block_id
  ),
  accepted as (
    select t.id, encode(t.transaction_id, 'hex') as transaction_id, chain.index, chain.day
    from public.transactions t join chain on chain.index = t.accepting_index
  )`;

/** The last chain block of the interval. */
const interval = (length: string, start: string): string =>
  `join lateral (select max(index) as index, min(day) as day from chain
     where chain_time >= ${start} and chain_time < ${start} + ${length}) owner on true`;

const START = `(extract(epoch from r.start) * 1000)::bigint`;

/** Joins the rows `r` with their `owner`: `index` and `day`. */
export const OWNERS: Readonly<Record<'kaspa' | 'public', Readonly<Record<string, string>>>> = {
  kaspa: {
    blocks: 'join chain owner on owner.hash = r.merging_block_hash',
    chain_blocks: 'join chain owner on owner.hash = r.hash',
    block_parents: 'join merged owner on owner.hash = r.block_hash',
    block_transactions: 'join merged owner on owner.hash = r.block_hash',
    mergesets: 'join chain owner on owner.hash = r.chain_block_hash',
    transactions: 'join chain owner on owner.hash = r.accepting_block_hash',
    accepted_transactions: 'join chain owner on owner.hash = r.accepting_block_hash',
    inputs: 'join accepted owner on owner.transaction_id = r.transaction_id',
    outputs: 'join accepted owner on owner.transaction_id = r.transaction_id',
    address_transactions: 'join accepted owner on owner.transaction_id = r.transaction_id',
    covenant_events: 'join accepted owner on owner.transaction_id = r.transaction_id',
    network_minutes: interval('60000', START),
    network_hours: interval('3600000', START),
    network_days: interval('86400000', START),
  },
  public: {
    blocks: 'join chain owner on owner.id = r.merging_block_id',
    block_parents: 'join merged owner on owner.id = r.block_id',
    block_transactions: 'join merged owner on owner.id = r.block_id',
    chain_blocks: 'join chain owner on owner.id = r.block_id',
    transactions: 'join chain owner on owner.index = r.accepting_index',
    transaction_variants: 'join accepted owner on owner.id = r.transaction_id',
    transaction_variant_inputs: 'join accepted owner on owner.id = r.transaction_id',
    transaction_inputs: 'join accepted owner on owner.id = r.transaction_id',
    transaction_outputs: 'join accepted owner on owner.id = r.transaction_id',
    covenant_events: 'join accepted owner on owner.id = r.transaction_id',
    network_intervals: interval('86400000', 'r.start / 86400000 * 86400000'),
  },
};

/** Rows of a fact up to a chain block, each with its day. */
export async function expectedFacts(
  pool: Pool,
  { schema, name, columns, until }: { schema: 'kaspa' | 'public'; name: string; columns: Columns; until: number },
): Promise<TextRow[]> {
  const owner = OWNERS[schema][name];
  if (owner === undefined) throw new Error(`no owner of the rows of ${schema}.${name} is known`);
  const { rows } = await pool.query<TextRow>({
    text: `with ${CHAIN} select ${postgresList(columns)}, owner.day
      from ${schema}.${name} r ${owner} where owner.index <= $1`,
    values: [until],
    rowMode: 'array',
  });
  return canonical(rows, columns);
}

/** Rows of a state, each with the blue score of the sink. */
export async function expectedState(
  pool: Pool,
  { schema, name, columns }: { schema: 'kaspa' | 'public'; name: string; columns: Columns },
): Promise<TextRow[]> {
  const { rows } = await pool.query<TextRow>({
    text: `select ${postgresList(columns)}, (select max(blue_score) from public.chain_blocks)::text
      from ${schema}.${name} r`,
    rowMode: 'array',
  });
  return canonical(rows, columns);
}
