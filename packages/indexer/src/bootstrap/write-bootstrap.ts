/**
 * Writes the rows of a bootstrap from `loaded_utxos`. Known scripts and transactions keep their
 * keys.
 */
import { transactionIdIs } from '@kasgres/database';
import type { Hash } from '@kasgres/kaspa';
import { countTouched, findContested, replaceUtxoSet } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { resolveLateInputs } from '../apply/late-inputs.ts';
import type { Checkpoint } from '../prepare/batch.ts';

type NextKeys = Pick<Checkpoint, 'nextTransactionId' | 'nextScriptId'>;

const WORK_MEMORY = '256MB';

/**
 * Finds scripts by their addresses, and the others by a digest, as their indexes do. Anybody can
 * pay to any number of scripts to which Postgres gives the same hash, and grouping or joining these
 * by their bytes would take the square of their number.
 */
export async function writeUtxoSet(client: ClientBase, from: NextKeys): Promise<NextKeys> {
  await client.query(`set local work_mem = '${WORK_MEMORY}'`);
  await client.query('analyze loaded_utxos');
  const scripts = await client.query(
    `insert into scripts (id, version, script, type, address)
     select $1::bigint - 1 + row_number() over (), script_version, script, script_type, address
       from (select distinct script_version, script, script_type, address,
               case when address is null then sha256(script) end as digest from loaded_utxos) l
      where not exists (select from scripts s where s.address = l.address)
        and not exists (select from scripts s
          where s.address is null and sha256(s.script) = l.digest
            and s.version = l.script_version)`,
    [from.nextScriptId],
  );
  // An accepted transaction needs no row in pre_bootstrap_transactions; another one with a row
  // keeps its key.
  const transactions = await client.query<{ made: bigint }>(
    `with wanted as (
       select l.transaction_id, t.id
         from (select distinct transaction_id from loaded_utxos) l
         left join transactions t on ${transactionIdIs('t', 'l.transaction_id')}
        where t.accepting_index is null
          and not exists (select from pre_bootstrap_transactions e
            where e.transaction_id = l.transaction_id)),
     written as (
       insert into pre_bootstrap_transactions (id, transaction_id)
       select coalesce(id, $1::bigint - 1 + row_number() over (partition by id is null
         order by transaction_id)), transaction_id
         from wanted)
     select count(*) as made from wanted where id is null`,
    [from.nextTransactionId],
  );
  await client.query('analyze scripts, pre_bootstrap_transactions');
  await keepBootstrapBalances(client);
  // A truncation would hide the old set from a reader that sees the old checkpoint.
  await client.query('delete from bootstrap_utxos');
  // In the order of the primary key, so that its index grows at one end.
  const utxos = await client.query(
    `insert into bootstrap_utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase, covenant_id)
     select coalesce(e.id, t.id), l.index, l.script_id, l.amount, l.block_daa_score,
       l.is_coinbase, l.covenant_id
       from (
         select l.*, s.id as script_id from loaded_utxos l join scripts s on s.address = l.address
         union all
         select l.*, s.id from loaded_utxos l
           join scripts s on sha256(s.script) = sha256(l.script) and s.version = l.script_version
          where l.address is null and s.address is null) l
       left join pre_bootstrap_transactions e on e.transaction_id = l.transaction_id
       left join transactions t on ${transactionIdIs('t', 'l.transaction_id')}
      order by 1, 2`,
  );
  const { rows } = await client.query<{ utxos: bigint }>('select utxos from utxo_set_load');
  if (utxos.rowCount !== Number(rows[0]?.utxos)) {
    throw new Error(`${rows[0]?.utxos} UTXOs were loaded but ${utxos.rowCount} were written`);
  }
  return {
    nextScriptId: from.nextScriptId + (scripts.rowCount ?? 0),
    nextTransactionId: from.nextTransactionId + Number(transactions.rows[0]?.made),
  };
}

async function keepBootstrapBalances(client: ClientBase): Promise<void> {
  await client.query(
    `insert into bootstrap_balances (chain_index, script_id, balance)
     select latest.chain_index, u.script_id, sum(u.amount)
       from bootstrap_utxos u, (select max(chain_index) as chain_index from bootstrap_blocks
         having count(*) > 0) latest
      group by latest.chain_index, u.script_id
      order by u.script_id`,
  );
}

export async function writeBootstrap(client: ClientBase): Promise<void> {
  await client.query(
    `insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi)
     select chain_index, block_id, (select count(*) from bootstrap_utxos),
       (select coalesce(sum(amount), 0) from bootstrap_utxos)
       from checkpoint
     on conflict (chain_index) do update set
       block_id = excluded.block_id, utxo_count = excluded.utxo_count,
         utxo_sompi = excluded.utxo_sompi, started_at = now()`,
  );
}

export async function writeGap(client: ClientBase, after: Hash, before: Hash, reason: string): Promise<void> {
  await client.query('insert into gaps (after_block_hash, before_block_hash, reason) values ($1, $2, $3)', [
    Buffer.from(after),
    Buffer.from(before),
    reason,
  ]);
}

interface Replacement {
  /** The timestamp of the bootstrap block, Unix milliseconds. */
  chainTime: bigint;
  fromTransactionId: number;
  isGap: boolean;
}

/** Must run after `bootstrap_utxos` has its set and the checkpoint is at the block. */
export async function replaceState(
  client: ClientBase,
  { chainTime, fromTransactionId, isGap }: Replacement,
): Promise<void> {
  await replaceUtxoSet(client, chainTime, isGap);
  const late = { from: fromTransactionId, preBootstrap: [], accepted: [], written: 0 };
  const { scripts, outputs } = await resolveLateInputs(client, late);
  await countTouched(client, scripts);
  await findContested(client, { spending: [], outputs });
}
