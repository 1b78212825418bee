/**
 * Invariant 7: every block of every mergeset since the start is present with all its transactions, each the body that this block
 * carries; what is missing is a row in `gaps`. That the bodies are the right ones, and all of them, is what their merkle root says
 * (invariant 8); here every reference must lead to a row, and every list be without holes.
 */
import type { Queryable } from './queryable.ts';

interface Check {
  /** How a row of the answer is a fault; `name` is the hex hash or the number it speaks of. */
  fault: (name: string) => string;
  sql: string;
}

const CHECKS: Check[] = [
  {
    fault: (name) => `the chain has a hole before index ${name}`,
    sql: `
      select c.index::text as name from chain_blocks c
      join blocks b on b.id = c.block_id
      left join chain_blocks previous on previous.index = c.index - 1
      left join blocks parent on parent.id = previous.block_id
      where c.index > (select min(index) from chain_blocks)
        and previous.block_id is distinct from b.selected_parent_id
        and not exists (select from gaps where after_block_hash = parent.hash and before_block_hash = b.hash)`,
  },
  {
    fault: (name) => `chain block ${name} is not marked as one, or a block beside the chain is`,
    sql: `
      select encode(coalesce(b.hash, c.block_id::text::bytea), 'hex') as name
      from (select * from blocks where is_chain_block) b full join chain_blocks c on c.block_id = b.id
      where b.id is null or c.block_id is null`,
  },
  {
    fault: (name) => `mergeset of chain block ${name}: a block is missing, or not marked as merged there in its colour`,
    sql: `
      with merges as (
        select chain.id, merged.id as merged_id, merged.is_blue
        from chain_blocks c join blocks chain on chain.id = c.block_id
        cross join lateral (
          select unnest(chain.merge_set_blues) as id, true as is_blue
          union all select unnest(chain.merge_set_reds), false
        ) merged
        where c.index > (select min(index) from chain_blocks)
      )
      select encode(chain.hash, 'hex') as name
      from merges
      full join (select * from blocks where merging_block_id is not null) b on b.id = merges.merged_id
      join blocks chain on chain.id = coalesce(merges.id, b.merging_block_id)
      where b.merging_block_id is distinct from merges.id or b.is_blue is distinct from merges.is_blue`,
  },
  {
    fault: (name) => `block ${name}: a parent is missing`,
    sql: `
      select encode(b.hash, 'hex') as name from blocks b
      where b.id <> (select block_id from chain_blocks order by index limit 1)
        and (select count(parent.id) from block_parents p left join blocks parent on parent.id = p.parent_id where p.block_id = b.id)
          <> (select greatest(1, max(p.index) + 1) from block_parents p where p.block_id = b.id)`,
  },
  {
    fault: (name) => `block ${name}: a transaction is missing`,
    sql: `
      select encode(b.hash, 'hex') as name from blocks b
      where (
        select count(t.id) from block_transactions bt left join transactions t on t.id = bt.transaction_id where bt.block_id = b.id
      ) <> (select greatest(1, max(bt.index) + 1) from block_transactions bt where bt.block_id = b.id)`,
  },
  {
    fault: (name) => `block ${name} carries a body that is not stored`,
    sql: `
      select encode(b.hash, 'hex') as name from block_transactions bt
      join blocks b on b.id = bt.block_id
      left join transaction_bodies body on body.transaction_id = bt.transaction_id and body.body = bt.body
      where bt.body > 0 and body.transaction_id is null`,
  },
  {
    fault: (name) => `transaction ${name}: an input has lost its coin, or has another amount or script than its coin`,
    sql: `
      select encode(t.transaction_id, 'hex') as name from transaction_inputs i
      join transactions t on t.id = i.transaction_id
      left join transactions previous
        on previous.id = i.previous_transaction_id or previous.transaction_id = i.previous_transaction_hash
      left join transaction_outputs o on o.transaction_id = previous.id and o.index = i.previous_index
      where o.amount is distinct from i.amount or o.script_id is distinct from i.script_id
        or (i.previous_transaction_id is null and (previous.id is not null or t.accepting_block_id is not null))`,
  },
  {
    fault: (name) => `transaction ${name}: wrong fee`,
    sql: `
      select encode(t.transaction_id, 'hex') as name from transactions t
      where t.fee is distinct from case
        when t.subnetwork_id = 1 then 0
        when exists (select from transaction_inputs i where i.transaction_id = t.id and i.amount is null) then null
        else (select sum(i.amount) from transaction_inputs i where i.transaction_id = t.id)
          - (select coalesce(sum(o.amount), 0) from transaction_outputs o where o.transaction_id = t.id)
      end`,
  },
];

/** What is wrong, one sentence each (the first 20 of a kind); empty when the invariant holds. */
export async function checkInvariant7(db: Queryable): Promise<string[]> {
  const wrong: string[] = [];
  for (const { sql, fault } of CHECKS) {
    const { rows } = await db.query<{ name: string }>(`select distinct name from (${sql}) faults limit 20`);
    wrong.push(...rows.map(({ name }) => fault(name)));
  }
  return wrong;
}
