/**
 * The oracle of bootstraps: rewrites the rows of an index so that one of its chain blocks becomes a
 * bootstrap block, as if the indexer had been bootstrapped there, had continued there after a gap,
 * or had been bootstrapped there again without one. Before that block it then knows only what the
 * UTXO set and the first blocks refer to. The index must be at rest after the first catch-up;
 * headers, with their commitments, do not change.
 */
import { covenants, inscriptions, lanes, programs, rebuildPreviousChanges } from '@kasgres/state/testing';
import type { PoolClient } from 'pg';
import { countUnmerged } from '../support/count-unmerged.ts';

interface ChainBlock {
  index: bigint;
  id: bigint;
}

/** Makes this chain block the first one, with index 0. */
export async function startAt(client: PoolClient, chainIndex: number): Promise<void> {
  const { rowCount } = await client.query('select from bootstrap_blocks where utxo_count > 0');
  if (rowCount !== 0) throw new Error('the index was not bootstrapped at genesis');
  await moveStart(client, chainIndex, undefined);
}

/** Makes a gap between these two chain blocks. */
export function startAfterGap(client: PoolClient, afterIndex: number, chainIndex: number): Promise<void> {
  return moveStart(client, chainIndex, afterIndex);
}

/** Keeps the chain, but counts the state from this chain block. */
export async function startAgainAt(client: PoolClient, chainIndex: number): Promise<void> {
  await createStateAt(client, chainIndex);
  const start = await getChainBlock(client, chainIndex);
  await keepBootstrapBalances(client);
  await replaceState(client);
  await writeBootstrapBlock(client, start);
  await rebuildDerivedState(client);
}

async function moveStart(client: PoolClient, chainIndex: number, afterIndex: number | undefined): Promise<void> {
  const start = await getChainBlock(client, chainIndex);
  const after = afterIndex === undefined ? undefined : await getChainBlock(client, afterIndex);
  const last = after?.index ?? -1n;
  await createStateAt(client, chainIndex);
  await keepBootstrapBalances(client);
  await createKeptBlocks(client, start, after);
  await cutChain(client, last, start.index);
  await replaceState(client);
  await removeBlocks(client);
  await removeTransactions(client);
  if (after !== undefined) {
    await client.query(
      `insert into gaps (after_block_hash, before_block_hash, reason)
       select a.hash, b.hash, 'The node had pruned it' from blocks a, blocks b
         where a.id = $1 and b.id = $2`,
      [after.id, start.id],
    );
  }
  await writeBootstrapBlock(client, { index: last + 1n, id: start.id });
  await rebuildDerivedState(client);
  await client.query('drop table kept_blocks');
}

async function getChainBlock(client: PoolClient, index: number): Promise<ChainBlock> {
  const { rows } = await client.query<ChainBlock>('select index, block_id as id from chain_blocks where index = $1', [
    index,
  ]);
  const [found] = rows;
  if (found === undefined) throw new Error(`there is no chain block ${index}`);
  return found;
}

/** Transactions accepted above the first of two chain indexes, up to the second. */
const ACCEPTED_BETWEEN = `
  select t.id, t.subnetwork_id, c.daa_score
  from chain_blocks c join transactions t on t.accepting_index = c.index
    where c.index > $1 and c.index <= $2`;

/**
 * Creates table `state`: the UTXO set at a chain block, computed from the rows since the latest
 * bootstrap block below it.
 */
async function createStateAt(client: PoolClient, chainIndex: number): Promise<void> {
  const { rows } = await client.query<{ latest: bigint }>(
    'select coalesce(max(chain_index), -1) as latest from bootstrap_blocks',
  );
  const latest = rows[0]?.latest ?? -1n;
  if (latest > chainIndex)
    throw new Error(`chain block ${chainIndex} is below the latest bootstrap block at ${latest}`);
  await client.query('create temporary table state (like bootstrap_utxos)');
  await client.query(
    `with accepted as (${ACCEPTED_BETWEEN}),
     made as (
       select * from bootstrap_utxos
       union all
       select o.transaction_id, o.script_id, o.amount, a.daa_score, o.index,
         a.subnetwork_id = 1, o.covenant_id
       from accepted a join transaction_outputs o on o.transaction_id = a.id
     )
     insert into state select * from made where not exists (
       select from transaction_inputs i join accepted spending on spending.id = i.transaction_id
       where i.previous_transaction_id = made.transaction_id and i.previous_index = made.index
     )`,
    [latest, chainIndex],
  );
}

/** Keeps the balances at the latest bootstrap block, whose UTXO set will be replaced. */
async function keepBootstrapBalances(client: PoolClient): Promise<void> {
  await client.query(
    `insert into bootstrap_balances
     select (select max(chain_index) from bootstrap_blocks), script_id, sum(amount)
       from bootstrap_utxos group by script_id`,
  );
}

/**
 * Creates table `kept_blocks`: the bootstrap block and the blocks merged, or written unmerged,
 * after it. Before a gap, it has the blocks merged by then or by the next chain block, and those
 * written by then that were never merged.
 */
async function createKeptBlocks(client: PoolClient, start: ChainBlock, after: ChainBlock | undefined): Promise<void> {
  await client.query('create temporary table kept_blocks (id bigint primary key, is_before boolean not null)');
  await client.query(
    `insert into kept_blocks
     select b.id, false from blocks b left join chain_blocks c on c.block_id = b.merging_block_id
     where b.id = $1 or c.index > $2 or (c.index is null and b.id > $1)`,
    [start.id, start.index],
  );
  if (after === undefined) return;
  await client.query(
    `insert into kept_blocks
     select b.id, true from blocks b left join chain_blocks c on c.block_id = b.merging_block_id
     where c.index <= $2 + 1 or (c.index is null and b.id < $1)
     on conflict (id) do nothing`,
    [after.id, after.index],
  );
}

/**
 * Removes the chain between the two, clears its merge and acceptance columns, and shifts the
 * indexes above it.
 */
async function cutChain(client: PoolClient, last: bigint, start: bigint): Promise<void> {
  const between = 'select block_id from chain_blocks where index > $1 and index <= $2';
  await client.query(
    `update blocks set merging_block_id = null, is_blue = null where merging_block_id in (${between})`,
    [last, start],
  );
  await client.query(
    `update transactions set accepting_index = null, accepted_variant = null
      where accepting_index > $1 and accepting_index <= $2`,
    [last, start],
  );
  await client.query(
    'update blocks set is_chain_block = false where id in (select block_id from chain_blocks where index > $1 and index < $2)',
    [last, start],
  );
  await client.query('delete from chain_blocks where index > $1 and index < $2', [last, start]);
  await client.query(`update chain_blocks set accepted_transactions = '{}' where index = $1`, [start]);
  const shift = start - last - 1n;
  // Each row must have a unique index at any moment, so they move through negative ones.
  await client.query('update chain_blocks set index = -1 - (index - $2) where index >= $1', [start, shift]);
  await client.query('update chain_blocks set index = -1 - index where index < 0');
  await client.query('update transactions set accepting_index = accepting_index - $2 where accepting_index >= $1', [
    start,
    shift,
  ]);
  await client.query('update checkpoint set chain_index = chain_index - $1, version = version + 1', [shift]);
  await client.query('delete from bootstrap_blocks where chain_index > $1', [last]);
  await client.query('delete from bootstrap_balances where chain_index > $1', [last]);
  await client.query(
    `delete from gaps where before_block_hash not in (select hash from bootstrap_blocks
      join blocks on blocks.id = bootstrap_blocks.block_id)`,
  );
}

async function replaceState(client: PoolClient): Promise<void> {
  await client.query('truncate bootstrap_utxos');
  await client.query('insert into bootstrap_utxos table state');
  await client.query('drop table state');
}

/** Blocks that others still refer to become pre-bootstrap blocks. */
async function removeBlocks(client: PoolClient): Promise<void> {
  for (const table of ['block_parents', 'block_transactions']) {
    await client.query(`delete from ${table} where block_id not in (select id from kept_blocks)`);
  }
  await client.query(
    `insert into pre_bootstrap_blocks select id, hash from blocks where id not in (select id from kept_blocks)`,
  );
  await client.query('delete from blocks where id not in (select id from kept_blocks)');
  await client.query(
    `delete from pre_bootstrap_blocks where id not in (
       select parent_id from block_parents
       union all
       select named.id from blocks,
         unnest(selected_parent_id || merge_set_blues || merge_set_reds) named (id)
           where named.id is not null
     )`,
  );
}

/**
 * Removes transactions without a block. Unaccepted transactions of UTXOs of the bootstrap block
 * become pre-bootstrap ones.
 */
async function removeTransactions(client: PoolClient): Promise<void> {
  await client.query('create temporary table known_earlier as select id from pre_bootstrap_transactions');
  await client.query(
    `insert into pre_bootstrap_transactions
     select id, transaction_id from transactions
     where accepting_index is null and id in (select transaction_id from bootstrap_utxos)
     on conflict (id) do nothing`,
  );
  await client.query('create temporary table removed as select id, transaction_id from transactions');
  await client.query('delete from removed where id in (select transaction_id from block_transactions)');
  await client.query('delete from transactions where id in (select id from removed)');
  for (const table of [
    'transaction_inputs',
    'transaction_outputs',
    'transaction_variants',
    'transaction_variant_inputs',
  ]) {
    await client.query(`delete from ${table} where transaction_id in (select id from removed)`);
  }
  await clearRemovedUtxos(client);
  await client.query('drop table removed');
  await client.query('drop table known_earlier');
}

/**
 * UTXOs of removed transactions stay known if the bootstrap block has them, or for inputs before a
 * gap that knew them.
 */
async function clearRemovedUtxos(client: PoolClient): Promise<void> {
  await client.query(
    `update transaction_inputs i
      set previous_transaction_id = null, previous_transaction_hash = r.transaction_id,
        amount = null, script_id = null
     from removed r where r.id = i.previous_transaction_id
       and r.id not in (select id from pre_bootstrap_transactions)`,
  );
  await client.query(
    `update transaction_inputs i set amount = null, script_id = null
     where i.previous_transaction_id not in (select id from transactions)
       and not exists (
         select from bootstrap_utxos u
           where u.transaction_id = i.previous_transaction_id and u.index = i.previous_index
       )
       and not (
         i.previous_transaction_id in (select id from known_earlier)
         and exists (select from block_transactions bt join kept_blocks k on k.id = bt.block_id
                     where bt.transaction_id = i.transaction_id and k.is_before)
       )`,
  );
  await client.query(
    `update transactions t set fee = null
     where subnetwork_id <> 1 and exists (select from transaction_inputs i
       where i.transaction_id = t.id and i.amount is null)`,
  );
}

async function writeBootstrapBlock(client: PoolClient, start: ChainBlock): Promise<void> {
  await client.query(
    `insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi)
     select $1, $2, count(*), coalesce(sum(amount), 0) from bootstrap_utxos`,
    [start.index, start.id],
  );
}

/**
 * Recounts the derived state, and removes scripts without rows. UTXOs and balances do not change.
 */
async function rebuildDerivedState(client: PoolClient): Promise<void> {
  await client.query(
    `update chain_blocks c set chain_time = timed.latest
     from (select index, max(timestamp) over (order by index) as latest from chain_blocks) timed
       where timed.index = c.index`,
  );
  await client.query('select fill_accepted_deltas()');
  await replaceBalanceChanges(client);
  await client.query('delete from miner_hours');
  await client.query('insert into miner_hours select * from count_miner_hours()');
  await rebuildUses(client);
  await countUnmerged(client);
  await client.query(
    `delete from balances where script_id not in (
       select script_id from address_transactions union select script_id from bootstrap_utxos
         union select script_id from bootstrap_balances
     )`,
  );
  await client.query(
    `update balances b set transaction_count = (select count(*) from address_transactions a
      where a.script_id = b.script_id)`,
  );
  await client.query(
    `delete from scripts where id not in (
       select script_id from balances union select script_id from transaction_outputs
       union select script_id from transaction_inputs where script_id is not null
       union select script_id from previous_balance_changes
       union select miner_script_id from blocks where miner_script_id is not null
       union select owner_script_id from inscriptions
     )`,
  );
  await replaceRollups(client);
}

/** Computes balance changes from `accepted_deltas`, as the end of a first catch-up does. */
async function replaceBalanceChanges(client: PoolClient): Promise<void> {
  await client.query('delete from previous_balance_changes');
  await rebuildPreviousChanges(client);
  await client.query(
    `update balances b set last_change = coalesce(r.last_change, 0), last_change_hour = coalesce(r.last_change_hour, 0)
       from scripts s left join script_rollups() r on r.script_id = s.id where s.id = b.script_id`,
  );
}

/** Computes from rows what the chain is used for, as the end of a first catch-up does. */
async function rebuildUses(client: PoolClient): Promise<void> {
  for (const { tables } of [lanes, programs, covenants, inscriptions]) {
    for (const table of tables?.emptied ?? []) await client.query(`delete from ${table}`);
  }
  for (const { rebuild } of [lanes, covenants, inscriptions]) await rebuild?.fromRows?.(client);
}

/**
 * Rebuilds the rollups as the end of a first catch-up does; `kasgres verify` compares them with the
 * rows.
 */
async function replaceRollups(client: PoolClient): Promise<void> {
  await client.query(
    `update balances b set accepted_count = coalesce(r.accepted_count, 0),
       receiving_count = coalesce(r.receiving_count, 0),
       sending_count = coalesce(r.sending_count, 0), coinbase_count = coalesce(r.coinbase_count, 0),
       received = coalesce(r.received, 0), sent = coalesce(r.sent, 0), first_seen = r.first_seen,
       last_seen = r.last_seen
     from balances other left join script_rollups() r using (script_id)
       where other.script_id = b.script_id`,
  );
  await client.query('select make_network_intervals()');
  await client.query('truncate seen_before');
}
