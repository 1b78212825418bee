/**
 * Undoes chain blocks exactly: what they accepted is accepted no more, what they merged is merged no more, the UTXOs and
 * balances are as before. Blocks, transactions and address rows stay, since they are facts of the DAG, not of the chain.
 */
import { toHex, workFromBits } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import { BalanceChanges, hourOf } from '../prepare/balance-changes.ts';
import type { Batch } from '../prepare/batch.ts';
import { addAccepted, type ChainBlockTotals, type Move, totalsOf } from '../rollups/chain-block-totals.ts';
import { restoreMarks } from './before-gap.ts';

/**
 * @param balanceChanges gets what happens to the balances; they are yet to be written
 * @returns what the blocks counted for, from the top downwards; nothing during the first catch-up
 */
export async function undoChainBlocks(
  client: ClientBase,
  batch: Batch,
  balanceChanges: BalanceChanges,
): Promise<ChainBlockTotals[]> {
  if (batch.removed.length === 0) return [];
  const removed = await getRemoved(client, batch);
  let totals: ChainBlockTotals[] = [];
  if (!batch.from.firstCatchUp) {
    await undoUtxos(
      client,
      removed.flatMap((row) => row.accepted_transactions),
    );
    totals = removed.map(startTotals);
    await undoBalances(client, removed, balanceChanges, totals);
  }
  await undoChain(client, removed);
  return totals;
}

/** What the chain made of blocks and transactions; not the state. */
async function undoChain(
  client: ClientBase,
  removed: readonly Pick<RemovedRow, 'block_id' | 'accepted_transactions'>[],
): Promise<void> {
  const blocks = removed.map((row) => row.block_id);
  const accepted = removed.flatMap((row) => row.accepted_transactions);
  await client.query(
    'update transactions set accepting_block_id = null, accepted_body = null where id = any($1::bigint[])',
    [accepted],
  );
  const merged = await client.query<{ id: bigint }>(
    `update blocks set merging_block_id = null, is_blue = null
      where id in (select unnest(merge_set_blues || merge_set_reds) from blocks where id = any($1::bigint[])) returning id`,
    [blocks],
  );
  await client.query('update blocks set is_chain_block = false where id = any($1::bigint[])', [blocks]);
  await client.query('delete from chain_blocks where block_id = any($1::bigint[])', [blocks]);
  await restoreMarks(client, { merged: merged.rows.map(({ id }) => id), accepted });
}

interface RemovedRow {
  block_id: bigint;
  hash: Buffer;
  index: bigint;
  chain_time: bigint;
  accepted_transactions: bigint[];
  red_blocks: number;
  /** Of the blocks that it merges. */
  bits: bigint[];
}

/** The node's removed blocks must be the top of our chain, one by one. */
async function getRemoved(client: ClientBase, { removed }: Batch): Promise<RemovedRow[]> {
  const { rows } = await client.query<RemovedRow>(
    `select c.block_id, b.hash, c.index, c.chain_time, c.accepted_transactions,
            cardinality(b.merge_set_reds) as red_blocks,
            array(select merged.bits from blocks merged where merged.id = any (b.merge_set_blues || b.merge_set_reds)) as bits
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

async function undoUtxos(client: ClientBase, transactions: bigint[]): Promise<void> {
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

function startTotals({ index, chain_time, red_blocks, bits }: RemovedRow): ChainBlockTotals {
  return totalsOf({
    index: Number(index),
    chainTime: chain_time,
    blocks: bits.length,
    redBlocks: red_blocks,
    work: bits.reduce((sum, each) => sum + workFromBits(Number(each)), 0n),
  });
}

interface MoveRow {
  /** Which of the removed blocks accepts the transaction. */
  place: number;
  transaction_id: bigint;
  is_coinbase: boolean;
  script_id: bigint;
  sent: string;
  received: string;
  utxo_count: number;
}

/**
 * Each transaction changed the balances in the hour of the block that accepted it.
 * @param totals one for each of the removed blocks: get what it accepted
 */
async function undoBalances(
  client: ClientBase,
  removed: readonly RemovedRow[],
  balanceChanges: BalanceChanges,
  totals: readonly ChainBlockTotals[],
): Promise<void> {
  const { rows } = await client.query<MoveRow>(
    `with undone as (select * from unnest($1::bigint[], $2::integer[]) undone (id, place))
     select place, moved.id as transaction_id, t.subnetwork_id = 1 as is_coinbase, script_id, sum(sent)::text as sent,
            sum(received)::text as received, sum(count)::integer as utxo_count
       from (select undone.place, undone.id, o.script_id, 0 as sent, o.amount as received, -1 as count
               from undone join transaction_outputs o on o.transaction_id = undone.id
             union all
             select undone.place, undone.id, i.script_id, i.amount, 0, 1
               from undone join transaction_inputs i on i.transaction_id = undone.id) moved
       join transactions t on t.id = moved.id
      group by place, moved.id, t.subnetwork_id, script_id
      order by place, moved.id`,
    [
      removed.flatMap((row) => row.accepted_transactions),
      removed.flatMap((row, place) => row.accepted_transactions.map(() => place)),
    ],
  );
  for (const moved of Map.groupBy(rows, ({ transaction_id }) => transaction_id).values()) {
    const [{ place, is_coinbase: isCoinbase }] = moved as [MoveRow];
    const hour = hourOf((removed[place] as RemovedRow).chain_time);
    const moves = new Map<number, Move>();
    for (const row of moved) {
      const move = { sent: BigInt(row.sent), received: BigInt(row.received) };
      moves.set(Number(row.script_id), move);
      balanceChanges.addUtxos(Number(row.script_id), hour, move.sent - move.received, row.utxo_count);
    }
    balanceChanges.addAccepted({ isCoinbase, moves }, -1);
    addAccepted(totals[place] as ChainBlockTotals, { isCoinbase, moves });
  }
}
