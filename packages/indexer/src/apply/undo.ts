/**
 * Undoes chain blocks exactly: what they accepted is accepted no more, what they merged is merged no more, the coins and
 * balances are as before. Blocks, transactions and address rows stay, since they are facts of the DAG, not of the chain.
 */
import { toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import { BalanceChanges, hourOf } from '../prepare/balance-changes.ts';
import type { Batch } from '../prepare/batch.ts';
import { changeBalances } from './balances.ts';

const CHAIN_BLOCKS_AT_ONCE = 1_000;

/** @param balanceChanges gets what happens to the balances; they are yet to be written */
export async function undoChainBlocks(client: ClientBase, batch: Batch, balanceChanges: BalanceChanges): Promise<void> {
  if (batch.removed.length === 0) return;
  const removed = await getRemoved(client, batch);
  if (!batch.from.firstCatchUp) {
    await undoCoins(
      client,
      removed.flatMap((row) => row.accepted_transactions),
    );
    await undoBalances(client, removed, balanceChanges);
  }
  await undoChain(client, removed);
}

/** What the chain made of blocks and transactions; not the state. */
async function undoChain(
  client: ClientBase,
  removed: readonly Pick<RemovedRow, 'block_id' | 'accepted_transactions'>[],
): Promise<void> {
  const blocks = removed.map((row) => row.block_id);
  await client.query(
    'update transactions set accepting_block_id = null, accepted_body = null where id = any($1::bigint[])',
    [removed.flatMap((row) => row.accepted_transactions)],
  );
  await client.query(
    `update blocks set merging_block_id = null, is_blue = null
      where id in (select unnest(merge_set_blues || merge_set_reds) from blocks where id = any($1::bigint[]))`,
    [blocks],
  );
  await client.query('update blocks set is_chain_block = false where id = any($1::bigint[])', [blocks]);
  await client.query('delete from chain_blocks where block_id = any($1::bigint[])', [blocks]);
}

/**
 * Undoes all chain blocks above an index for a new start, which replaces coins and balances; what the balances changed by stays as it was
 * before these blocks.
 * @returns how many these were
 */
export async function undoChainAbove(client: ClientBase, index: number, firstCatchUp: boolean): Promise<number> {
  for (let undone = 0; ; ) {
    const { rows } = await client.query<Omit<RemovedRow, 'hash'>>(
      'select block_id, timestamp, accepted_transactions from chain_blocks where index > $1 order by index desc limit $2',
      [index, CHAIN_BLOCKS_AT_ONCE],
    );
    if (rows.length === 0) return undone;
    if (!firstCatchUp) {
      const balanceChanges = new BalanceChanges();
      await undoBalances(client, rows, balanceChanges);
      await changeBalances(client, balanceChanges, Number.MAX_SAFE_INTEGER);
    }
    await undoChain(client, rows);
    undone += rows.length;
  }
}

interface RemovedRow {
  block_id: bigint;
  hash: Buffer;
  timestamp: bigint;
  accepted_transactions: bigint[];
}

/** The node's removed blocks must be the top of our chain, one by one. */
async function getRemoved(client: ClientBase, { removed }: Batch): Promise<RemovedRow[]> {
  const { rows } = await client.query<RemovedRow>(
    `select c.block_id, b.hash, c.timestamp, c.accepted_transactions
       from chain_blocks c join blocks b on b.id = c.block_id order by c.index desc limit $1`,
    [removed.length],
  );
  removed.forEach((hash, i) => {
    const found = rows[i]?.hash;
    if (found === undefined || Buffer.compare(found, hash) !== 0) {
      throw new Error(
        `the node removes chain block ${toHex(hash)}, where this database has ${found === undefined ? 'none' : toHex(found)}`,
      );
    }
  });
  return rows;
}

async function undoCoins(client: ClientBase, transactions: bigint[]): Promise<void> {
  await client.query('delete from utxos where transaction_id = any($1::bigint[])', [transactions]);
  await client.query(
    `insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
     select i.previous_transaction_id, i.previous_index, i.script_id, i.amount, coalesce(u.block_daa_score, c.daa_score),
            coalesce(u.is_coinbase, p.subnetwork_id = 1)
       from unnest($1::bigint[]) undone (id)
       join transaction_inputs i on i.transaction_id = undone.id
       left join start_utxos u on u.transaction_id = i.previous_transaction_id and u.index = i.previous_index
       left join transactions p on p.id = i.previous_transaction_id
       left join chain_blocks c on c.block_id = p.accepting_block_id
      where i.previous_transaction_id <> all($1::bigint[])`,
    [transactions],
  );
}

/** Each transaction changed the balances in the hour of the block that accepted it. */
async function undoBalances(
  client: ClientBase,
  removed: readonly Omit<RemovedRow, 'hash'>[],
  balanceChanges: BalanceChanges,
): Promise<void> {
  const { rows } = await client.query<{ script_id: bigint; hour: number; amount: string; count: number }>(
    `with undone as (select * from unnest($1::bigint[], $2::integer[]) undone (id, hour))
     select script_id, hour, sum(amount)::text as amount, sum(count)::integer as count
       from (select o.script_id, undone.hour, -o.amount as amount, -1 as count
               from undone join transaction_outputs o on o.transaction_id = undone.id
             union all
             select i.script_id, undone.hour, i.amount, 1
               from undone join transaction_inputs i on i.transaction_id = undone.id) moved
      group by script_id, hour`,
    [
      removed.flatMap((row) => row.accepted_transactions),
      removed.flatMap((row) => row.accepted_transactions.map(() => hourOf(row.timestamp))),
    ],
  );
  for (const { script_id, hour, amount, count } of rows) {
    balanceChanges.addCoins(Number(script_id), hour, BigInt(amount), count);
  }
}
