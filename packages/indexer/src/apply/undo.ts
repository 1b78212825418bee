/**
 * Undoes chain blocks exactly: what they accepted is accepted no more, what they merged is merged no more, the coins and
 * balances are as before. Blocks, transactions and address rows stay, since they are facts of the DAG, not of the chain.
 */
import { toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { Batch } from '../prepare/batch.ts';

/** @returns the change of the circulating supply, in sompi */
export async function undoChainBlocks(client: ClientBase, batch: Batch): Promise<{ circulatingChange: bigint }> {
  if (batch.removed.length === 0) return { circulatingChange: 0n };
  const removed = await getRemoved(client, batch);
  const transactions = removed.flatMap((row) => row.accepted_transactions);
  const blocks = removed.map((row) => row.block_id);
  const circulatingChange = batch.from.firstCatchUp ? 0n : await undoCoins(client, transactions);
  await client.query(
    'update transactions set accepting_block_id = null, accepted_body = null where id = any($1::bigint[])',
    [transactions],
  );
  await client.query(
    `update blocks set merging_block_id = null, is_blue = null
      where id in (select unnest(merge_set_blues || merge_set_reds) from blocks where id = any($1::bigint[]))`,
    [blocks],
  );
  await client.query('update blocks set is_chain_block = false where id = any($1::bigint[])', [blocks]);
  await client.query('delete from chain_blocks where block_id = any($1::bigint[])', [blocks]);
  return { circulatingChange };
}

interface RemovedRow {
  block_id: bigint;
  hash: Buffer;
  accepted_transactions: bigint[];
}

/** The node's removed blocks must be the top of our chain, one by one. */
async function getRemoved(client: ClientBase, { removed }: Batch): Promise<RemovedRow[]> {
  const { rows } = await client.query<RemovedRow>(
    `select c.block_id, b.hash, c.accepted_transactions
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

async function undoCoins(client: ClientBase, transactions: bigint[]): Promise<bigint> {
  await client.query('delete from utxos where transaction_id = any($1::bigint[])', [transactions]);
  await client.query(
    `insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
     select i.previous_transaction_id, i.previous_index, i.script_id, i.amount, c.daa_score, p.subnetwork_id = 1
       from unnest($1::bigint[]) undone (id)
       join transaction_inputs i on i.transaction_id = undone.id
       join transactions p on p.id = i.previous_transaction_id
       join chain_blocks c on c.block_id = p.accepting_block_id
      where i.previous_transaction_id <> all($1::bigint[])`,
    [transactions],
  );
  const { rows } = await client.query<{ change: string }>(
    `with undone as (select unnest($1::bigint[]) as id),
          changes as (
            select script_id, sum(amount) as amount
              from (select o.script_id, -o.amount as amount
                      from undone join transaction_outputs o on o.transaction_id = undone.id
                    union all
                    select i.script_id, i.amount
                      from undone join transaction_inputs i on i.transaction_id = undone.id) moved
             group by script_id),
          changed as (
            insert into balances (script_id, balance) select script_id, amount from changes
            on conflict (script_id) do update set balance = balances.balance + excluded.balance)
     select coalesce(sum(amount), 0)::text as change from changes`,
    [transactions],
  );
  return BigInt(rows[0]?.change ?? 0);
}
