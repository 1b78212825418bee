/** The state of a cut that was prepared, and whether batches have outdated it since. */
import type { ClientBase } from 'pg';
import { firstKeyOf } from '../apply/generations.ts';
import type { CutPoint } from './cut-point.ts';
import { stays } from './find-kept.ts';
import { keptPartition, type TRANSACTION_TABLES } from './partitions.ts';

export interface PreparedCut {
  cut: CutPoint;
  /** Rows from these keys on were written since `recheck` read them. */
  unchecked: NextKeys;
  /** The UTXO set of the new bootstrap block: its size, and the sum of it in sompi. */
  utxos: UtxoSum;
}

export interface NextKeys {
  block: bigint;
  transaction: bigint;
}

export interface UtxoSum {
  count: bigint;
  sompi: bigint;
}

/**
 * Checks rows that batches have written since the last check. @returns `outdated` if some refer to
 * what the cut removes, or change what it has copied
 */
export async function recheck(client: ClientBase, prepared: PreparedCut): Promise<'current' | 'outdated'> {
  const next = await readNextKeys(client);
  if (await refersToRemoved(client, prepared)) return 'outdated';
  if (await changesKept(client, prepared)) return 'outdated';
  prepared.unchecked = next;
  return 'current';
}

async function refersToRemoved(client: ClientBase, { cut, unchecked }: PreparedCut): Promise<boolean> {
  const bound = firstKeyOf(cut.generation);
  const { rows } = await client.query<{ refers: boolean }>(
    `select exists (
         select from block_transactions
           where block_id >= $1 and not ${stays('transactions', 'transaction_id', bound)})
       or exists (
         select from block_parents
          where block_id >= $1 and not ${stays('blocks', 'parent_id', bound)}
            and parent_id not in (select id from pre_bootstrap_blocks))
       or exists (
         select from transaction_inputs i
          where i.transaction_id >= $2
            and not ${stays('transactions', 'i.previous_transaction_id', bound)}
            and not exists (
              select from bootstrap_utxos u
                where u.transaction_id = i.previous_transaction_id
                  and u.index = i.previous_index)) as refers`,
    [unchecked.block, unchecked.transaction],
  );
  return rows[0]?.refers === true;
}

/**
 * A block may carry an old transaction again: then it may be accepted now or have another variant.
 * Its late inputs may have been completed.
 */
async function changesKept(client: ClientBase, { cut }: PreparedCut): Promise<boolean> {
  const kept = (table: keyof typeof TRANSACTION_TABLES): string => keptPartition(table, cut.generation);
  const { rows } = await client.query<{ changes: boolean }>(
    `select exists (
         select from ${kept('transactions')} kept join transactions t using (id)
          where t.accepting_index > $1 and (t.accepting_index, t.accepted_variant)
            is distinct from (kept.accepting_index, kept.accepted_variant))
       or exists (
         select from ${kept('transactions')} kept
           join transaction_variants b on b.transaction_id = kept.id
          where not exists (
            select from ${kept('transaction_variants')} copied
              where copied.transaction_id = b.transaction_id and copied.variant = b.variant))
       or exists (
         select from ${kept('transaction_inputs')} kept
           join transaction_inputs i using (transaction_id, index)
          where kept.amount is null and i.amount is not null
            and not exists (select from cut_lost lost
              where lost.transaction_id = kept.transaction_id
                and lost.index = kept.index)) as changes`,
    [cut.chainIndex],
  );
  return rows[0]?.changes === true;
}

export async function readNextKeys(client: ClientBase): Promise<NextKeys> {
  const { rows } = await client.query<NextKeys>(
    'select next_block_id as block, next_transaction_id as transaction from checkpoint',
  );
  if (rows[0] === undefined) throw new Error('there is no checkpoint');
  return rows[0];
}
