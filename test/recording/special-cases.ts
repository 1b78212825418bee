/** The special cases that a scenario created on purpose (`special` in expected.json), in the database. */
import type { Pool } from 'pg';

interface Special {
  redBlocks?: string[];
  /** Transactions in several blocks. */
  dupTxs?: string[];
  /** Pairs that spend the same UTXO. */
  conflicts?: [string, string][];
  /** Two blocks, and the coinbase id that both carry. */
  sameCoinbase?: [string, string, string][];
  covenants?: { covenantId: string; txs: string[] };
  nonstandard?: { scripts: string[]; txs: string[]; spends: string[] };
}

export async function compareSpecialCases(pool: Pool, special: Special): Promise<string[]> {
  const ask = async (sql: string, values: unknown[]): Promise<string[]> => {
    const { rows } = await pool.query<{ name: string }>(sql, values);
    return rows.map(({ name }) => name);
  };
  const conflicts = special.conflicts ?? [];
  const sameCoinbase = special.sameCoinbase ?? [];
  const { covenants, nonstandard } = special;
  const faults = await Promise.all([
    ask(NOT_RED, [special.redBlocks ?? []]),
    ask(NOT_IN_SEVERAL, [special.dupTxs ?? []]),
    ask(NO_CONFLICT, [conflicts.map(([first]) => first), conflicts.map(([, second]) => second)]),
    ask(COINBASE_NOT_IN, [sameCoinbase.map(([first]) => first), sameCoinbase.map(([, , id]) => id)]),
    ask(COINBASE_NOT_IN, [sameCoinbase.map(([, second]) => second), sameCoinbase.map(([, , id]) => id)]),
    ask(NO_COVENANT, [covenants?.txs ?? [], covenants?.covenantId ?? '']),
    ask(NOT_ACCEPTED, [[...(nonstandard?.txs ?? []), ...(nonstandard?.spends ?? [])]]),
    ask(NOT_NON_STANDARD, [nonstandard?.scripts ?? []]),
  ]);
  return faults.flat();
}

const NOT_RED = `
  select 'block ' || hash || ' is not red' as name from unnest($1::text[]) as asked (hash)
  where not exists (select from blocks b where b.hash = decode(asked.hash, 'hex') and not b.is_blue)`;

const NOT_IN_SEVERAL = `
  select 'transaction ' || id || ' is not in several blocks' as name from unnest($1::text[]) as asked (id)
  where (select count(*) from block_transactions bt join transactions t on t.id = bt.transaction_id
    where t.transaction_id = decode(asked.id, 'hex')) < 2`;

/** Both must be there with the UTXO that they share, and at most one be accepted. */
const NO_CONFLICT = `
  select 'no conflict between ' || a || ' and ' || b as name from unnest($1::text[], $2::text[]) as asked (a, b)
  where not exists (
    select from transactions ta join transaction_inputs ia on ia.transaction_id = ta.id
    join transaction_inputs ib on ib.previous_transaction_id = ia.previous_transaction_id and ib.previous_index = ia.previous_index
    join transactions tb on tb.id = ib.transaction_id
    where ta.transaction_id = decode(asked.a, 'hex') and tb.transaction_id = decode(asked.b, 'hex')
      and (ta.accepting_block_id is null or tb.accepting_block_id is null)
  )`;

const COINBASE_NOT_IN = `
  select 'coinbase ' || id || ' is not in block ' || block as name from unnest($1::text[], $2::text[]) as asked (block, id)
  where not exists (
    select from block_transactions bt join blocks b on b.id = bt.block_id join transactions t on t.id = bt.transaction_id
    where b.hash = decode(asked.block, 'hex') and t.transaction_id = decode(asked.id, 'hex') and bt.index = 0
  )`;

const NO_COVENANT = `
  select 'transaction ' || id || ' has no output of the covenant' as name from unnest($1::text[]) as asked (id)
  where not exists (
    select from transactions t join transaction_outputs o on o.transaction_id = t.id
    where t.transaction_id = decode(asked.id, 'hex') and o.covenant_id = decode($2, 'hex')
  )`;

const NOT_ACCEPTED = `
  select 'transaction ' || id || ' is not accepted' as name from unnest($1::text[]) as asked (id)
  where not exists (
    select from transactions t where t.transaction_id = decode(asked.id, 'hex') and t.accepting_block_id is not null
  )`;

const NOT_NON_STANDARD = `
  select 'script ' || script || ' is not stored as non-standard' as name from unnest($1::text[]) as asked (script)
  where not exists (
    select from scripts s where s.script = decode(asked.script, 'hex') and s.type = 'nonstandard' and s.address is null
  )`;
