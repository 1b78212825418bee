/**
 * Reverts derived state, acceptance and merging. Blocks, transactions and address rows stay, since
 * they are facts of the DAG. Rows that the batch changes anyway, which are most of them, are left
 * to it: they get their new values at once.
 */
import { inPipeline } from '@kasgres/database';
import { toHex, workFromBits } from '@kasgres/kaspa';
import { revertState } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { IncompleteUpdateError } from '../errors.ts';
import type { Batch } from '../prepare/batch.ts';
import { restoreFromBeforeGap } from './before-gap.ts';

export async function revertChainBlocks(client: ClientBase, batch: Batch): Promise<void> {
  const removed = await getRemoved(client, batch);
  const blocks = removed.map(({ id }) => id);
  const accepted = removed.flatMap((block) => block.accepted);
  const merged = removed.flatMap((block) => block.merged);
  const { state } = batch;
  await inPipeline(client, [
    // Before the derived state is reverted, which deletes covenant events.
    () => keepRemoved(client, batch, removed),
    ...(state === undefined ? [] : [() => revertState(client, removed, state)]),
  ]);
  await inPipeline(client, [
    () =>
      client.query({
        name: 'revert-acceptance',
        text: `update transactions set accepting_index = null, accepted_variant = null
                where id = any($1::bigint[]) and id <> all($2::bigint[])`,
        values: [accepted, batch.acceptedBefore.map(({ transaction }) => transaction)],
      }),
    () =>
      client.query({
        name: 'revert-merging',
        text: `update blocks set merging_block_id = null, is_blue = null
                where id = any($1::bigint[]) and id <> all($2::bigint[])`,
        values: [merged, batch.mergedBefore.map(({ block }) => block)],
      }),
    () =>
      client.query({
        name: 'revert-chain-blocks',
        text: 'update blocks set is_chain_block = false where id = any($1::bigint[]) and id <> all($2::bigint[])',
        values: [blocks, batch.chainBefore],
      }),
    () =>
      client.query({
        name: 'delete-chain-blocks',
        text: 'delete from chain_blocks where block_id = any($1::bigint[])',
        values: [blocks],
      }),
    () => restoreFromBeforeGap(client, { merged, accepted }),
  ]);
}

/**
 * Keeps what the removed blocks had accepted, and what that did to covenants, for those who follow
 * the chain, and drops what is too old to be asked for. A block that is removed again has the same
 * covenant events, but the template of one may have become known since.
 */
export async function keepRemoved(
  client: ClientBase,
  { oldestRemoved }: Pick<Batch, 'oldestRemoved'>,
  removed: readonly { id: bigint }[],
): Promise<void> {
  await inPipeline(client, [
    () =>
      client.query({
        name: 'keep-removed',
        text: `insert into removed_chain_blocks
               select c.block_id, c.accepted_transactions, (
                 select jsonb_agg(jsonb_build_array(e.transaction_id,
                   encode(covenant.covenant_id, 'hex'), e.kind, encode(t.template, 'hex'))
                                  order by e.position, covenant.covenant_id)
                   from covenant_events e
                   join covenants covenant on covenant.id = e.covenant_id
                   left join program_templates t
                     on t.id = coalesce(e.template_id, e.previous_template_id)
                  where e.chain_index = c.index)
                 from chain_blocks c where c.block_id = any($1::bigint[])
               on conflict (block_id) do update set covenant_events = excluded.covenant_events
                where removed_chain_blocks.covenant_events
                  is distinct from excluded.covenant_events`,
        values: [removed.map(({ id }) => id)],
      }),
    () =>
      client.query({
        name: 'drop-removed',
        text: 'delete from removed_chain_blocks where block_id < (select block_id from chain_blocks where index = $1)',
        values: [oldestRemoved],
      }),
  ]);
}

interface RemovedRow {
  id: bigint;
  hash: Buffer;
  index: bigint;
  chainTime: bigint;
  accepted: bigint[];
  merged: bigint[];
  redBlocks: number;
  bits: bigint[];
}

/**
 * Returns blocks in the order of the chain.
 * @throws IncompleteUpdateError if the blocks that the node removes are not the top of the indexed
 * chain
 */
async function getRemoved(client: ClientBase, { removed }: Batch) {
  const { rows } = await client.query<RemovedRow>({
    name: 'removed-chain-blocks',
    text: `select c.block_id as id, b.hash, c.index, c.chain_time as "chainTime", c.accepted_transactions as accepted,
                  b.merge_set_blues || b.merge_set_reds as merged,
                  cardinality(b.merge_set_reds) as "redBlocks",
                  array(select merged.bits from blocks merged
                    where merged.id = any (b.merge_set_blues || b.merge_set_reds)) as bits
             from chain_blocks c join blocks b on b.id = c.block_id order by c.index desc limit $1`,
    values: [removed.length],
  });
  removed.forEach((hash, i) => {
    const found = rows[i]?.hash;
    if (found === undefined || Buffer.compare(found, hash) !== 0) {
      throw new IncompleteUpdateError(
        `the node removes chain block ${toHex(hash)}, where this database has ${found === undefined ? 'none' : toHex(found)}`,
      );
    }
  });
  return rows.reverse().map(({ id, index, chainTime, accepted, merged, redBlocks, bits }) => {
    const work = bits.reduce((sum, each) => sum + workFromBits(Number(each)), 0n);
    return {
      id,
      accepted,
      merged,
      chainBlock: { index: Number(index), chainTime, blocks: bits.length, redBlocks, work },
    };
  });
}
