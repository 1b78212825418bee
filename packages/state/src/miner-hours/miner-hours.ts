/** What each miner mined and was paid by hour, from the rows of the chain blocks that a batch adds or removes. */
import type { ClientBase } from 'pg';
import { CUT } from '../common-table-expressions.ts';
import type { DerivedState } from '../derived-state.ts';
import { faultsOf } from '../queryable.ts';

const change = (sign: 1 | -1): string => `
  insert into miner_hours as m (hour, script_id, blocks, red_blocks, rewards)
  select hour, script_id, ${sign} * blocks, ${sign} * red_blocks, ${sign} * rewards from count_miner_hours($1, $2)
  on conflict (hour, script_id) do update set
    blocks = m.blocks + excluded.blocks, red_blocks = m.red_blocks + excluded.red_blocks, rewards = m.rewards + excluded.rewards`;

const count = (client: ClientBase, first: number, last: number) =>
  client.query({ name: 'count-miner-hours', text: change(1), values: [first, last] });

/** The hours of bootstrap blocks, and those that retention cut, cannot be counted again. */
const SELECT_WRONG_MINER_HOURS = `
  with ${CUT},
  known as (select coalesce((select chain_time / 3600000 from cut), -1) as after),
  starting as (select c.chain_time / 3600000 as hour from starts s join chain_blocks c on c.index = s.chain_index),
  expected as (select * from count_miner_hours(0, 9223372036854775807)),
  stored as (select * from miner_hours where blocks <> 0 or red_blocks <> 0 or rewards <> 0)
  select format('the miner of script %s in the hour from %s: %s blocks, %s of them red, %s sompi, but the blocks give %s, %s, %s', script_id,
    to_char(to_timestamp(hour * 3600::bigint) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), coalesce(s.blocks, 0),
    coalesce(s.red_blocks, 0), coalesce(s.rewards, 0), coalesce(e.blocks, 0), coalesce(e.red_blocks, 0), coalesce(e.rewards, 0)) as fault
  from stored s full join expected e using (hour, script_id)
  where (coalesce(s.blocks, 0), coalesce(s.red_blocks, 0), coalesce(s.rewards, 0))
      <> (coalesce(e.blocks, 0), coalesce(e.red_blocks, 0), coalesce(e.rewards, 0))
    and hour > (select after from known) and hour not in (select hour from starting)
  limit 20`;

export const minerHours: DerivedState = {
  name: 'miner hours',
  emptied: ['miner_hours'],
  verify: { 4: faultsOf(SELECT_WRONG_MINER_HOURS) },

  async revert(client, removed) {
    const indexes = removed.map(({ chainBlock }) => chainBlock.index);
    if (indexes.length > 0) await client.query(change(-1), [Math.min(...indexes), Math.max(...indexes)]);
  },

  async apply(client, { range: { fork, to } }) {
    if (to > fork) await count(client, fork + 1, to);
  },

  async rebuild(client) {
    await count(client, 0, Number.MAX_SAFE_INTEGER);
  },
};
