/**
 * Applies a batch: everything in ONE transaction, from the lock on the checkpoint row to the checkpoint's move (invariant 1).
 * A batch that was computed from another checkpoint is refused (invariant 2).
 */
import { copyRows, inTransaction } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { CheckpointMovedError } from '../errors.ts';
import { BalanceChanges } from '../prepare/balance-changes.ts';
import type { Batch, Checkpoint } from '../prepare/batch.ts';
import { changeBalances, changeBalancesByHour } from './balances.ts';
import { resolveLateInputs } from './late-inputs.ts';
import { followRollups, type RollupChanges, writeRollups } from './rollups.ts';
import { undoChainBlocks } from './undo.ts';
import { writeCheckpoint } from './checkpoint.ts';

export function apply(client: ClientBase, batch: Batch): Promise<void> {
  return inTransaction(client, async () => {
    await lockCheckpoint(client, batch.from);
    await writeBatch(client, batch);
  });
}

/** Inside a transaction that has locked the checkpoint. */
export async function writeBatch(client: ClientBase, batch: Batch): Promise<void> {
  const balanceChanges = new BalanceChanges();
  const removed = await undoChainBlocks(client, batch, balanceChanges);
  for (const rows of Object.values(batch.rows)) await copyRows(client, rows);
  await completeBlocks(client, batch);
  let rollups: RollupChanges | undefined;
  if (!batch.from.firstCatchUp) {
    if (batch.rows.transactions.rows > 0) {
      const written = { from: batch.from.nextTransactionId, earlier: batch.writtenEarlier };
      const touched = await resolveLateInputs(client, written);
      for (const script of touched) balanceChanges.addTransaction(script);
    }
    await spendUtxos(client, batch);
    balanceChanges.addAll(batch.balanceChanges);
    const changed = balanceChanges.scripts();
    rollups = await followRollups(client, batch, removed, changed);
    await changeBalances(client, changed, rollups);
    await changeBalancesByHour(client, balanceChanges);
  }
  // The rollups look up what the chain below the batch accepts, which may be the same transactions: before a gap.
  await acceptTransactions(client, batch);
  await writeCheckpoint(client, batch, balanceChanges.supply);
  if (rollups !== undefined) await writeRollups(client, batch, rollups);
}

/** @throws CheckpointMovedError when it is another than what follows was computed from */
export async function lockCheckpoint(client: ClientBase, from: Checkpoint): Promise<void> {
  const { rows } = await client.query<{ block_id: bigint; chain_index: bigint }>(
    'select block_id, chain_index from checkpoint for update',
  );
  const found = { blockId: Number(rows[0]?.block_id ?? 0), chainIndex: Number(rows[0]?.chain_index ?? -1) };
  if (found.blockId !== from.blockId || found.chainIndex !== from.chainIndex) {
    throw new CheckpointMovedError(
      'The checkpoint was moved by somebody else: another indexer works on this database.',
    );
  }
}

/** Completes blocks that were written before they were merged or came on the chain, or known by their hashes only. */
async function completeBlocks(client: ClientBase, { mergedEarlier, chainEarlier, foundEarlier }: Batch): Promise<void> {
  if (foundEarlier.length > 0) {
    await client.query('delete from earlier_blocks where id = any($1::bigint[])', [foundEarlier]);
  }
  if (mergedEarlier.length > 0) {
    await client.query({
      name: 'merge-blocks',
      text: `update blocks b set merging_block_id = merged.merging_block_id, is_blue = merged.is_blue
               from unnest($1::bigint[], $2::bigint[], $3::boolean[]) merged (id, merging_block_id, is_blue)
              where b.id = merged.id`,
      values: [
        mergedEarlier.map(({ block }) => block),
        mergedEarlier.map(({ mergingBlock }) => mergingBlock),
        mergedEarlier.map(({ isBlue }) => isBlue),
      ],
    });
  }
  if (chainEarlier.length > 0) {
    await client.query({
      name: 'chain-blocks',
      text: 'update blocks set is_chain_block = true where id = any($1::bigint[])',
      values: [chainEarlier],
    });
  }
}

async function acceptTransactions(client: ClientBase, { acceptedEarlier, settledBodies }: Batch): Promise<void> {
  if (settledBodies.length > 0) {
    await client.query(
      `update transactions t set accepted_body = settled.body
         from unnest($1::bigint[], $2::integer[]) settled (id, body)
        where t.id = settled.id`,
      [settledBodies.map(({ transaction }) => transaction), settledBodies.map(({ body }) => body)],
    );
  }
  if (acceptedEarlier.length === 0) return;
  await client.query({
    name: 'accept-transactions',
    text: `update transactions t set accepting_block_id = accepted.block_id, accepted_body = accepted.body
             from unnest($1::bigint[], $2::bigint[], $3::integer[]) accepted (id, block_id, body)
            where t.id = accepted.id`,
    values: [
      acceptedEarlier.map(({ transaction }) => transaction),
      acceptedEarlier.map(({ acceptingBlock }) => acceptingBlock),
      acceptedEarlier.map(({ body }) => body),
    ],
  });
}

async function spendUtxos(client: ClientBase, { spent }: Batch): Promise<void> {
  if (spent.length === 0) return;
  const { rowCount } = await client.query({
    name: 'spend-utxos',
    text: `delete from utxos u using unnest($1::bigint[], $2::bigint[]) spent (transaction_id, index)
            where u.transaction_id = spent.transaction_id and u.index = spent.index`,
    values: [spent.map(({ transaction }) => transaction), spent.map(({ index }) => index)],
  });
  if (rowCount !== spent.length) {
    throw new Error(`${spent.length} UTXOs are spent but only ${rowCount} of them were unspent (invariant 4)`);
  }
}
