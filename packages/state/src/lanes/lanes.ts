/**
 * Sums of the accepted transactions of each user lane, by hour and in total. A batch without such
 * transactions does nothing.
 */
import { inPipeline } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { CUT } from '../common-table-expressions.ts';
import type { DerivedState } from '../derived-state.ts';
import { columnsOf, DIFFERENCE, faultsOf } from '../queryable.ts';
import { LaneChanges, type LaneHour } from './lane-changes.ts';

const CHANGED = `
  changed as (
    select * from unnest($1::integer[], $2::integer[], $3::bigint[], $4::numeric[], $5::numeric[],
      $6::bigint[], $7::bigint[])
      changed (subnetwork_id, hour, transactions, fees, gas, first_seen, last_seen)),
  of_lanes as (
    select subnetwork_id, sum(transactions) as transactions, sum(fees) as fees, sum(gas) as gas,
      min(first_seen) as first_seen, max(last_seen) as last_seen
      from changed group by subnetwork_id),
  of_hours as (select hour, sum(transactions) as transactions, sum(fees) as fees, sum(gas) as gas
    from changed group by hour)`;

const SUBTRACT = `
  with ${CHANGED},
  hours as (
    update lane_hours h set transactions = h.transactions - c.transactions, fees = h.fees - c.fees,
      gas = h.gas - c.gas
      from changed c where h.subnetwork_id = c.subnetwork_id and h.hour = c.hour),
  totals as (
    update lane_totals h set transactions = h.transactions - c.transactions, fees = h.fees - c.fees,
      gas = h.gas - c.gas
      from of_hours c where h.hour = c.hour)
  update lanes l set transaction_count = l.transaction_count - c.transactions,
    fees = l.fees - c.fees, gas = l.gas - c.gas
    from of_lanes c where l.subnetwork_id = c.subnetwork_id`;

/**
 * A lane that begins in a removed part of the chain goes, so that what is added makes it again,
 * with another first time.
 */
const DELETE_EMPTY = `
  with hours as (delete from lane_hours
    where subnetwork_id = any($1::integer[]) and transactions = 0),
  totals as (delete from lane_totals where hour = any($2::integer[]) and transactions = 0)
  delete from lanes where subnetwork_id = any($1::integer[]) and transaction_count = 0`;

const ADD = `
  with ${CHANGED},
  hours as (
    insert into lane_hours (subnetwork_id, hour, transactions, fees, gas, last_seen)
    select subnetwork_id, hour, transactions, fees, gas, last_seen from changed
      order by subnetwork_id, hour
    on conflict (subnetwork_id, hour) do update
      set transactions = lane_hours.transactions + excluded.transactions,
      fees = lane_hours.fees + excluded.fees, gas = lane_hours.gas + excluded.gas,
      last_seen = excluded.last_seen),
  totals as (
    insert into lane_totals (hour, transactions, fees, gas)
    select hour, transactions, fees, gas from of_hours order by hour
    on conflict (hour) do update
      set transactions = lane_totals.transactions + excluded.transactions,
      fees = lane_totals.fees + excluded.fees, gas = lane_totals.gas + excluded.gas)
  insert into lanes (subnetwork_id, transaction_count, fees, gas, first_seen, last_seen)
  select subnetwork_id, transactions, fees, gas, first_seen, last_seen from of_lanes
    order by subnetwork_id
  on conflict (subnetwork_id) do update
    set transaction_count = lanes.transaction_count + excluded.transaction_count,
    fees = lanes.fees + excluded.fees, gas = lanes.gas + excluded.gas,
    last_seen = excluded.last_seen`;

/**
 * The hour of the fork has lost its last transactions and got no others. The blocks of the lane
 * that remain are those up to the fork.
 */
const FIND_LAST = `
  update lane_hours h set last_seen = c.chain_time
    from unnest($1::integer[], $2::integer[]) lost (subnetwork_id, hour)
   cross join lateral (
     select b.chain_index from lane_blocks b
      where b.subnetwork_id = lost.subnetwork_id and b.chain_index <= $3
      order by b.chain_index desc limit 1) last
    join chain_blocks c on c.index = last.chain_index
   where h.subnetwork_id = lost.subnetwork_id and h.hour = lost.hour
     and c.chain_time / 3600000 = h.hour`;

const COPY_LAST = `
  update lanes l set last_seen = (select h.last_seen from lane_hours h
    where h.subnetwork_id = l.subnetwork_id order by h.hour desc limit 1)
   where l.subnetwork_id = any($1::integer[])`;

const ADD_BLOCKS = `
  insert into lane_blocks (subnetwork_id, chain_index)
  select * from unnest($1::integer[], $2::bigint[])`;

/** count_lane_blocks() by hour. */
const COUNTED_HOURS = `
  select subnetwork_id, (chain_time / 3600000)::integer as hour,
    sum(transactions)::bigint as transactions, sum(fees) as fees, sum(gas) as gas,
    min(chain_time) as first_seen, max(chain_time) as last_seen
    from blocks group by 1, 2`;

const valuesOf = (hours: readonly LaneHour[]): unknown[] =>
  columnsOf(hours, 'subnetwork', 'hour', 'transactions', 'fees', 'gas', 'firstSeen', 'lastSeen');

/**
 * Retention keeps the sums, but their rows are gone: then the first times, and the hours up to that
 * of the first chain block, cannot be checked.
 */
const SELECT_WRONG_LANES = `
  with ${CUT},
  known as (select coalesce((select chain_time / 3600000 from cut), -1) as after),
  blocks as materialized (select * from count_lane_blocks()),
  counted as materialized (${COUNTED_HOURS}),
  expected as (select subnetwork_id, hour, transactions, fees, gas, last_seen from counted),
  stored as (select subnetwork_id, hour, transactions, fees, gas, last_seen from lane_hours),
  sums as (
    select subnetwork_id, sum(transactions) as transactions, sum(fees) as fees, sum(gas) as gas,
      max(last_seen) as last_seen, min(hour) as first_hour
      from lane_hours group by subnetwork_id),
  first as (select subnetwork_id, min(first_seen) as first_seen from counted group by subnetwork_id)
  select format('lane %s in the hour %s: %s', subnetwork_id, hour, ${DIFFERENCE}) as fault
    from stored s full join expected e using (subnetwork_id, hour)
   where s is distinct from e and hour > (select after from known)
  union all
  select format('lane %s: %s transactions with %s sompi and gas %s from %s to %s, but its hours give %s, %s, %s, %s, %s', subnetwork_id,
    l.transaction_count, l.fees, l.gas, l.first_seen, l.last_seen, s.transactions, s.fees, s.gas,
    f.first_seen, s.last_seen)
    from lanes l full join sums s using (subnetwork_id) left join first f using (subnetwork_id)
   where (l.transaction_count, l.fees, l.gas, l.last_seen)
     is distinct from (s.transactions::bigint, s.fees, s.gas, s.last_seen)
      or s.first_hour > (select after from known) and l.first_seen is distinct from f.first_seen
      or l.first_seen / 3600000 <> s.first_hour
  union all
  select format('lanes in the hour %s: %s transactions with %s sompi and gas %s, but those of each lane give %s, %s, %s', hour,
    t.transactions, t.fees, t.gas, h.transactions, h.fees, h.gas)
    from lane_totals t full join (
      select hour, sum(transactions) as transactions, sum(fees) as fees, sum(gas) as gas
        from lane_hours group by hour) h using (hour)
   where (t.transactions, t.fees, t.gas) is distinct from (h.transactions::bigint, h.fees, h.gas)
  union all
  select format('lane %s in the chain block %s: stored %s, accepted %s', subnetwork_id, chain_index,
    s is not null, e is not null)
    from lane_blocks s full join blocks e using (subnetwork_id, chain_index)
   where s is null or e is null
   limit 20`;

export const lanes: DerivedState = {
  tables: { emptied: ['lanes', 'lane_hours', 'lane_totals', 'lane_blocks'] },
  verify: { 4: faultsOf(SELECT_WRONG_LANES) },

  collect(item, changes) {
    if (item.kind === 'accepted' && item.transaction.lane !== undefined)
      changes.of(LaneChanges).added.add(item.transaction);
  },

  async revert(_client, removed, changes) {
    for (const transaction of await removed.readTransactions())
      if (transaction.lane !== undefined) changes.of(LaneChanges).removed.add(transaction);
  },

  async apply(client, changes) {
    const { added, removed } = changes.of(LaneChanges);
    const removedHours = removed.rows();
    const addedHours = added.rows();
    const addedBlocks = columnsOf(added.blocks(), 'subnetwork', 'index');
    const lanesWithout = [...new Set(removedHours.map(({ subnetwork }) => subnetwork))];
    const hoursWithout = [...new Set(removedHours.map(({ hour }) => hour))];
    const lost = removedHours.filter(({ subnetwork, hour }) => !added.has(subnetwork, hour));
    const { checkpoint, fork } = changes.range;
    await inPipeline(client, [
      ...(fork === checkpoint ? [] : [() => client.query('delete from lane_blocks where chain_index > $1', [fork])]),
      ...(removedHours.length === 0
        ? []
        : [
            () => client.query({ name: 'subtract-lanes', text: SUBTRACT, values: valuesOf(removedHours) }),
            () => client.query({ name: 'delete-lanes', text: DELETE_EMPTY, values: [lanesWithout, hoursWithout] }),
          ]),
      ...(addedHours.length === 0
        ? []
        : [
            () => client.query({ name: 'add-lanes', text: ADD, values: valuesOf(addedHours) }),
            () => client.query({ name: 'add-lane-blocks', text: ADD_BLOCKS, values: addedBlocks }),
          ]),
      ...(lost.length === 0
        ? []
        : [
            () => findLast(client, lost, fork),
            () => client.query({ name: 'copy-last-of-lanes', text: COPY_LAST, values: [lanesWithout] }),
          ]),
    ]);
  },

  rebuild: {
    fromRows: (client) =>
      client.query(
        `with blocks as materialized (select * from count_lane_blocks()),
         counted as materialized (${COUNTED_HOURS}),
         added as (
           insert into lane_blocks (subnetwork_id, chain_index)
           select subnetwork_id, chain_index from blocks order by 1, 2),
         hours as (
           insert into lane_hours (subnetwork_id, hour, transactions, fees, gas, last_seen)
           select subnetwork_id, hour, transactions, fees, gas, last_seen from counted
             order by subnetwork_id, hour),
         totals as (
           insert into lane_totals (hour, transactions, fees, gas)
           select hour, sum(transactions), sum(fees), sum(gas) from counted group by hour
             order by hour)
         insert into lanes (subnetwork_id, transaction_count, fees, gas, first_seen, last_seen)
         select subnetwork_id, sum(transactions), sum(fees), sum(gas), min(first_seen),
           max(last_seen) from counted group by subnetwork_id order by 1`,
      ),
  },
};

async function findLast(client: ClientBase, lost: readonly LaneHour[], fork: number): Promise<void> {
  const [subnetworks, hours] = columnsOf(lost, 'subnetwork', 'hour');
  await client.query({ name: 'find-last-of-lanes', text: FIND_LAST, values: [subnetworks, hours, fork] });
}
