/**
 * Removes a stretch of the chain from an index, as if the indexer had bootstrapped at the block
 * after it with the UTXO set there. So an index with a bootstrap or a gap can be compared with the
 * whole one. The indexer must be stopped and cannot resume.
 */
import type { Pool } from 'pg';
import { countUnmerged } from '../support/count-unmerged.ts';
import { rebuildUses } from '../support/rebuild-uses.ts';
import { replaceBalanceChanges } from '../support/replace-balance-changes.ts';

export interface Stretch {
  /**
   * chain_blocks.index of the last block before the gap; undefined: the index begins after the
   * stretch.
   */
  after?: number;
  /** chain_blocks.index of the first block after the gap. */
  before: number;
}

/**
 * $1 is the position of the last block before the stretch, or -1, $2 that of the first block after
 * it.
 */
const STATEMENTS: readonly string[] = [
  // Blocks that no block after the stretch merges: everything merged up to the bootstrap block,
  // except for the block before the gap.
  `create temp table accepting on commit drop as select index, block_id, daa_score, timestamp
    from chain_blocks where index > $1 and index <= $2`,
  `create temp table gone_blocks on commit drop as
   select b.id, b.hash from blocks b
   where b.id not in (select block_id from chain_blocks where index in ($1, $2))
     and (b.merging_block_id in (select block_id from accepting)
       or b.merging_block_id is null and not b.is_chain_block
         and b.blue_score < (select s.blue_score from blocks s
           join chain_blocks c on c.block_id = s.id where c.index = $2)
         and b.blue_score > coalesce((select s.blue_score from blocks s
           join chain_blocks c on c.block_id = s.id where c.index = $1), -1))`,
  `create temp table gone_transactions on commit drop as
   select t.id, t.transaction_id from transactions t
   where not exists (select from block_transactions c
     where c.transaction_id = t.id and c.block_id not in (select id from gone_blocks))`,
  // UTXOs at the bootstrap block, with those of a previous one.
  `create temp table spent on commit drop as
   select i.previous_transaction_id as transaction_id, i.previous_index as index
   from transaction_inputs i join transactions t on t.id = i.transaction_id
     join chain_blocks c on c.index = t.accepting_index
   where c.index <= $2`,
  `create temp table utxos on commit drop as
   select o.transaction_id, o.script_id, o.amount, c.daa_score as block_daa_score, o.index,
     t.subnetwork_id = 1 as is_coinbase, o.covenant_id
   from transaction_outputs o join transactions t on t.id = o.transaction_id
     join chain_blocks c on c.index = t.accepting_index
   where c.index <= $2 and not exists (select from spent s
     where s.transaction_id = o.transaction_id and s.index = o.index)
   union all
   select * from bootstrap_utxos u
   where not exists (select from spent s
     where s.transaction_id = u.transaction_id and s.index = u.index)`,
  `insert into pre_bootstrap_transactions (id, transaction_id)
   select t.id, t.transaction_id from transactions t
   where t.accepting_index in (select index from accepting)
     and t.id in (select transaction_id from utxos)`,
  `insert into bootstrap_balances
   select (select max(chain_index) from bootstrap_blocks), script_id, sum(amount)
     from bootstrap_utxos group by script_id`,
  `delete from bootstrap_utxos`,
  `insert into bootstrap_utxos select * from utxos`,
  `insert into pre_bootstrap_blocks (id, hash)
   select id, hash from gone_blocks g
   where exists (select from block_parents p
     where p.parent_id = g.id and p.block_id not in (select id from gone_blocks))
     or exists (select from blocks b
       where b.id not in (select id from gone_blocks)
         and g.id = any(b.merge_set_blues || b.merge_set_reds))`,
  `delete from blocks where id in (select id from gone_blocks)`,
  `delete from block_parents where block_id in (select id from gone_blocks)`,
  `delete from block_transactions where block_id in (select id from gone_blocks)`,
  `update blocks set merging_block_id = null, is_blue = null
    where id = (select block_id from chain_blocks where index = $1)`,
  `update transactions set accepting_index = null, accepted_variant = null
    where accepting_index in (select index from accepting)`,
  `delete from transactions where id in (select id from gone_transactions)`,
  ...['transaction_inputs', 'transaction_outputs', 'transaction_variants', 'transaction_variant_inputs'].map(
    (table) => `delete from ${table} where transaction_id in (select id from gone_transactions)`,
  ),
  `update transaction_inputs i
   set previous_transaction_id = null, previous_transaction_hash = g.transaction_id, amount = null,
     script_id = null
   from gone_transactions g
   where g.id = i.previous_transaction_id
     and g.id not in (select id from pre_bootstrap_transactions)`,
  // Positions continue over a gap.
  `delete from chain_blocks where index > $1 and index < $2`,
  `update chain_blocks set accepted_transactions = '{}' where index = $2`,
  `update checkpoint set chain_index = chain_index - ($2 - $1 - 1), version = version + 1`,
  `delete from bootstrap_blocks where $1 = -1`,
  `delete from bootstrap_balances where $1 = -1`,
  `insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi)
   select $1 + 1, (select block_id from chain_blocks where index = $2), count(*), sum(amount)
     from bootstrap_utxos`,
  `insert into gaps (after_block_hash, before_block_hash, reason)
   select a.hash, b.hash, 'The node had pruned it'
   from chain_blocks lower join blocks a on a.id = lower.block_id, chain_blocks upper
     join blocks b on b.id = upper.block_id
   where lower.index = $1 and upper.index = $2`,
  `update chain_blocks set index = -index where index >= $2`,
  `update chain_blocks set index = -index - ($2 - $1 - 1) where index < 0`,
  `update transactions set accepting_index = accepting_index - ($2 - $1 - 1) where accepting_index >= $2`,
  'delete from miner_hours',
  'insert into miner_hours select * from count_miner_hours()',
  `update balances b set transaction_count = (select count(*) from address_transactions a
    where a.script_id = b.script_id)`,
  `delete from balances b
   where transaction_count = 0
     and not exists (select from bootstrap_utxos u where u.script_id = b.script_id)
     and not exists (select from bootstrap_balances s where s.script_id = b.script_id)`,
];

export async function cutOut(pool: Pool, { after = -1, before }: Stretch): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await countUnmerged(client);
    for (const statement of STATEMENTS) {
      // Postgres refuses parameters that the statement does not use.
      await client.query(statement.replaceAll('$1', `(${after}::bigint)`).replaceAll('$2', `(${before}::bigint)`));
    }
    await rebuildUses(client);
    // Balance deltas of the stretch count in the hour of the bootstrap block.
    await client.query('select fill_accepted_deltas()');
    await replaceBalanceChanges(client);
    await client.query('commit');
  } finally {
    client.release(true);
  }
}
