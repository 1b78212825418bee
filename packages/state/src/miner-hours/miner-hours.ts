/**
 * The blocks and rewards of each miner by hour, from the rows of the chain blocks that a batch adds
 * or removes.
 */
import type { ClientBase } from 'pg';
import { CUT } from '../common-table-expressions.ts';
import type { DerivedState } from '../derived-state.ts';
import { columnsOf, faultsOf } from '../queryable.ts';

/** Sums what the chain blocks from one index to another give, and deltas that are known. */
const CHANGE = `
  merge into miner_hours m
  using (select hour, script_id, sum(blocks)::bigint as blocks,
    sum(red_blocks)::bigint as red_blocks, sum(rewards) as rewards
           from (select * from count_miner_hours($1, $2)
                 union all
                 select * from unnest($3::integer[], $4::bigint[], $5::bigint[],
                   $6::bigint[], $7::numeric[])
                   removed (hour, script_id, blocks, red_blocks, rewards)) changed
          group by hour, script_id) c
     on m.hour = c.hour and m.script_id = c.script_id
  when matched and (c.blocks, c.red_blocks, c.rewards) <> (0, 0, 0) then update set
    blocks = m.blocks + c.blocks, red_blocks = m.red_blocks + c.red_blocks,
      rewards = m.rewards + c.rewards
  when not matched then insert (hour, script_id, blocks, red_blocks, rewards)
    values (c.hour, c.script_id, c.blocks, c.red_blocks, c.rewards)`;

interface Row {
  hour: number;
  script: bigint;
  blocks: bigint;
  redBlocks: bigint;
  /** A numeric, as Postgres returns it. */
  rewards: string;
}

class MinerHourChanges {
  removed: readonly Row[] = [];
}

async function count(client: ClientBase, first: number, last: number, removed: readonly Row[]): Promise<void> {
  const [hours, scripts, blocks, redBlocks, rewards] = columnsOf(
    removed,
    'hour',
    'script',
    'blocks',
    'redBlocks',
    'rewards',
  );
  const values = [first, last, hours, scripts, blocks, redBlocks, rewards];
  await client.query({ name: 'count-miner-hours', text: CHANGE, values });
}

/** The hours of bootstrap blocks, and those that retention cut, cannot be counted again. */
const SELECT_WRONG_MINER_HOURS = `
  with ${CUT},
  known as (select coalesce((select chain_time / 3600000 from cut), -1) as after),
  starting as (select c.chain_time / 3600000 as hour from bootstrap_blocks s
    join chain_blocks c on c.index = s.chain_index),
  expected as (select * from count_miner_hours()),
  stored as (select * from miner_hours where blocks <> 0 or red_blocks <> 0 or rewards <> 0)
  select format('the miner of script %s in the hour from %s: %s blocks, %s of them red, %s sompi, but the blocks give %s, %s, %s', script_id,
    to_char(to_timestamp(hour * 3600::bigint) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    coalesce(s.blocks, 0), coalesce(s.red_blocks, 0), coalesce(s.rewards, 0), coalesce(e.blocks, 0),
    coalesce(e.red_blocks, 0), coalesce(e.rewards, 0)) as fault
  from stored s full join expected e using (hour, script_id)
  where (coalesce(s.blocks, 0), coalesce(s.red_blocks, 0), coalesce(s.rewards, 0))
      <> (coalesce(e.blocks, 0), coalesce(e.red_blocks, 0), coalesce(e.rewards, 0))
    and hour > (select after from known) and hour not in (select hour from starting)
  limit 20`;

export const minerHours: DerivedState = {
  tables: { emptied: ['miner_hours'] },
  verify: { 4: faultsOf(SELECT_WRONG_MINER_HOURS) },

  async revert(client, { blocks }, changes) {
    const indexes = blocks.map(({ chainBlock }) => chainBlock.index);
    // A spread of more than 100,000 arguments would exceed the stack.
    const [least, greatest] = [indexes.reduce((a, b) => Math.min(a, b)), indexes.reduce((a, b) => Math.max(a, b))];
    const { rows } = await client.query<Row>({
      name: 'removed-miner-hours',
      text: `select hour, script_id as script, -blocks as blocks, -red_blocks as "redBlocks",
        -rewards as rewards from count_miner_hours($1, $2)`,
      values: [least, greatest],
    });
    changes.of(MinerHourChanges).removed = rows;
  },

  async apply(client, changes) {
    const { fork, to } = changes.range;
    const { removed } = changes.of(MinerHourChanges);
    if (to > fork || removed.length > 0) await count(client, fork + 1, to, removed);
  },

  rebuild: {
    fromRows: (client) =>
      client.query(
        `insert into miner_hours (hour, script_id, blocks, red_blocks, rewards)
         select hour, script_id, blocks, red_blocks, rewards from count_miner_hours()`,
      ),
  },
};
