/**
 * The second half of invariant 4: what is summed up beyond balances is that of the rows. For every script, how many transactions the chain
 * accepts that touch it, what they move, and when the first and last of them came; for every minute, hour and day, what the chain blocks of
 * that time merge and accept; for every cluster, the balance of its members. Counted by chain_time, the running maximum of the times of
 * chain blocks.
 */
import { workFromBits } from '@kasgres/kaspa';
import type { Queryable } from './queryable.ts';

/** Every script that a chain block touches, by each transaction that it accepts. */
const TOUCHES = `
  touches as (
    select c.index, c.chain_time, a.script_id, a.transaction_id, a.amount_sent as sent, a.amount_received as received,
      t.subnetwork_id = 1 as is_coinbase
    from chain_blocks c
    cross join unnest(c.accepted_transactions) as accepted (id)
    join transactions t on t.id = accepted.id
    join address_transactions a on a.transaction_id = t.id
  )`;

/** The first start at which each script held UTXOs: it is seen there, unless the chain touched it before. */
const AT_START = `
  at_start as (
    select held.script_id, c.index, c.chain_time
    from (
      select script_id, min(chain_index) as index from (
        select script_id, (select max(chain_index) from starts) as chain_index from start_utxos
        union all
        select script_id, chain_index from start_balances
      ) holders group by script_id
    ) held join chain_blocks c using (index)
  )`;

const SELECT_WRONG_TIMES = `
  select index from (
    select index, chain_time, max(timestamp) over (order by index) as latest from chain_blocks
  ) timed where chain_time <> latest limit 20`;

const SELECT_WRONG_SCRIPTS = `
  with ${TOUCHES}, ${AT_START},
  summed as (
    select script_id, count(*) as accepted_count, sum((received > 0)::integer) as receiving_count, sum((sent > 0)::integer) as sending_count,
      sum((is_coinbase and received > 0)::integer) as coinbase_count, sum(received) as received, sum(sent) as sent
    from touches group by script_id
  ),
  sightings as (
    select script_id, least(touched.first, s.chain_time) as first_seen, coalesce(touched.last, s.chain_time) as last_seen
    from (select script_id, min(chain_time) as first, max(chain_time) as last from touches group by script_id) touched
    full join at_start s using (script_id)
  ),
  expected as (
    select script_id, coalesce(accepted_count, 0) as accepted_count, coalesce(receiving_count, 0) as receiving_count,
      coalesce(sending_count, 0) as sending_count, coalesce(coinbase_count, 0) as coinbase_count,
      coalesce(received, 0) as received, coalesce(sent, 0) as sent, first_seen, last_seen
    from sightings full join summed using (script_id)
  ),
  stored as (
    select script_id, accepted_count, receiving_count, sending_count, coinbase_count, received, sent, first_seen, last_seen from balances
  )
  select script_id, to_json(s)::text as stored, to_json(e)::text as expected
  from stored s full join expected e using (script_id)
  where (s.accepted_count, s.receiving_count, s.sending_count, s.coinbase_count, s.received, s.sent, s.first_seen, s.last_seen)
    is distinct from (coalesce(e.accepted_count, 0), coalesce(e.receiving_count, 0), coalesce(e.sending_count, 0),
      coalesce(e.coinbase_count, 0), coalesce(e.received, 0), coalesce(e.sent, 0), e.first_seen, e.last_seen)
  limit 20`;

const SELECT_BITS = 'select distinct bits from blocks';

/** $1, $2: bits, and the work of a block with them. */
const SELECT_WRONG_INTERVALS = `
  with ${TOUCHES}, ${AT_START},
  intervals as (
    select c.index, c.block_id, l.length, c.chain_time - c.chain_time % l.milliseconds as start
    from chain_blocks c
    cross join (values ('minute', 60 * 1000), ('hour', 60 * 60 * 1000), ('day', 24 * 60 * 60 * 1000)) l (length, milliseconds)
  ),
  bare_starts as (
    select s.block_id from starts s join blocks b on b.id = s.block_id
    where s.chain_index = (select min(index) from chain_blocks) or b.hash in (select before_block_hash from gaps)
  ),
  of_chain as (select length, start, count(*) as chain_blocks, max(index) as last_index from intervals group by length, start),
  of_merges as (
    select i.length, i.start, count(*) as blocks, count(*) filter (where merged.id = any (b.merge_set_reds)) as red_blocks,
      sum(works.work) as work
    from intervals i
    join blocks b on b.id = i.block_id
    cross join unnest(b.merge_set_blues || b.merge_set_reds) as merged (id)
    join blocks m on m.id = merged.id
    join unnest($1::bigint[], $2::numeric[]) as works (bits, work) on works.bits = m.bits
    where i.block_id not in (select block_id from bare_starts)
    group by i.length, i.start
  ),
  moved as (
    select index, transaction_id, is_coinbase, sum(sent) as sent, sum(received) as received
    from touches group by index, transaction_id, is_coinbase
  ),
  of_transactions as (
    select i.length, i.start, count(*) filter (where not is_coinbase) as transactions,
      sum(sent - received) filter (where not is_coinbase) as fees, sum(received) filter (where not is_coinbase) as volume,
      sum(received - sent) as minted
    from intervals i join moved on moved.index = i.index group by i.length, i.start
  ),
  of_scripts as (
    select i.length, i.start, count(distinct t.script_id) as active_scripts
    from intervals i join touches t on t.index = i.index group by i.length, i.start
  ),
  first_touches as (
    select t.script_id, min(t.index) as index from touches t left join at_start s on s.script_id = t.script_id
    group by t.script_id, s.index having s.index is null or s.index >= min(t.index)
  ),
  of_new as (
    select i.length, i.start, count(*) as new_scripts
    from intervals i join first_touches f on f.index = i.index group by i.length, i.start
  ),
  stretches as (select chain_index, utxo_sompi, lead(chain_index) over (order by chain_index) as next_index from starts),
  minted as (select index, sum(received - sent) as minted from moved group by index),
  supplies as (
    select c.index, s.utxo_sompi + coalesce(
        sum(m.minted) filter (where c.index > s.chain_index) over (partition by s.chain_index order by c.index), 0) as supply
    from chain_blocks c
    join stretches s on c.index >= s.chain_index and c.index < coalesce(s.next_index, 9223372036854775807)
    left join minted m on m.index = c.index
  ),
  ends as (select length, start, supply from of_chain join supplies on supplies.index = last_index),
  expected as (
    select length, start, chain_blocks, coalesce(blocks, 0) as blocks, coalesce(red_blocks, 0) as red_blocks,
      coalesce(transactions, 0) as transactions, coalesce(fees, 0)::bigint as fees, coalesce(volume, 0) as volume,
      coalesce(minted, 0)::bigint as minted, supply::bigint as supply, coalesce(active_scripts, 0) as active_scripts, coalesce(new_scripts, 0) as new_scripts, coalesce(work, 0) as work
    from of_chain
    left join of_merges using (length, start)
    left join of_transactions using (length, start)
    left join of_scripts using (length, start)
    left join of_new using (length, start)
    left join ends using (length, start)
  ),
  stored as (
    select length::text, start, chain_blocks, blocks, red_blocks, transactions, fees, volume, minted, supply, active_scripts, new_scripts, work
    from network_intervals
  )
  select length, start, to_json(s)::text as stored, to_json(e)::text as expected
  from stored s full join expected e using (length, start)
  where s is distinct from e
  limit 20`;

const SELECT_WRONG_SEEN_BEFORE = `
  with ${TOUCHES}, ${AT_START},
  ordered as (
    select t.script_id, t.index,
      coalesce(lag(t.chain_time) over (partition by t.script_id order by t.index), s.chain_time) as last_seen
    from (select distinct script_id, index, chain_time from touches) t
    left join at_start s on s.script_id = t.script_id and s.index < t.index
  ),
  stored as (
    select chain_index, s.script_id, s.last_seen
    from seen_before cross join unnest(script_ids, last_seen) as s (script_id, last_seen)
  ),
  expected as (
    select index as chain_index, script_id, last_seen from ordered where index in (select chain_index from seen_before)
  )
  select distinct chain_index as index from (
    select chain_index from ((table stored except all table expected) union all (table expected except all table stored)) differing
    union all
    select chain_index from seen_before where chain_index not in (select index from chain_blocks)
  ) wrong
  limit 20`;

const SELECT_WRONG_CLUSTERS = `
  with recursive members as (
    select script_id, script_id as cluster_id from cluster_members where parent_id is null
    union all
    select m.script_id, members.cluster_id from members join cluster_members m on m.parent_id = members.script_id
  ),
  expected as (
    select cluster_id as id, sum(coalesce(b.balance, 0)) as balance from members left join balances b using (script_id) group by cluster_id
  )
  select id, c.balance, coalesce(e.balance, 0)::text as expected
  from clusters c left join expected e using (id) where c.balance <> coalesce(e.balance, 0)
  limit 20`;

interface Differing {
  stored: string | null;
  expected: string | null;
}

/** What is wrong, one sentence each (the first 20 of a kind). */
export async function checkRollups(db: Queryable): Promise<string[]> {
  const times = await db.query<{ index: bigint }>(SELECT_WRONG_TIMES);
  const scripts = await db.query<{ script_id: bigint } & Differing>(SELECT_WRONG_SCRIPTS);
  const { rows: used } = await db.query<{ bits: bigint }>(SELECT_BITS);
  const intervals = await db.query<{ length: string; start: bigint } & Differing>(SELECT_WRONG_INTERVALS, [
    used.map(({ bits }) => bits),
    used.map(({ bits }) => workFromBits(Number(bits))),
  ]);
  const seenBefore = await db.query<{ index: bigint }>(SELECT_WRONG_SEEN_BEFORE);
  const clusters = await db.query<{ id: bigint; balance: bigint; expected: string }>(SELECT_WRONG_CLUSTERS);
  return [
    ...times.rows.map(
      ({ index }) => `chain block ${index}: its chain_time is not the latest time of the chain up to it`,
    ),
    ...scripts.rows.map((row) => `script ${row.script_id}: ${differences(row)}`),
    ...intervals.rows.map(
      (row) => `the ${row.length} from ${new Date(Number(row.start)).toISOString()}: ${differences(row)}`,
    ),
    ...seenBefore.rows.map(
      ({ index }) => `seen_before of chain block ${index} is not when its scripts were seen before`,
    ),
    ...clusters.rows.map((row) => `cluster ${row.id}: balance ${row.balance}, its members have ${row.expected}`),
  ];
}

/** Of two rows as JSON. */
function differences({ stored, expected }: Differing): string {
  if (expected === null) return 'has a row, but nothing in the chain is of it';
  if (stored === null) return 'has no row';
  const [found, right] = [fieldsOf(stored), fieldsOf(expected)];
  return [...right]
    .filter(([name, value]) => found.get(name) !== value)
    .map(([name, value]) => `${name} ${found.get(name)}, from its rows ${value}`)
    .join('; ');
}

/** Numbers as they are written: some are beyond what a double holds. */
function fieldsOf(json: string): Map<string | undefined, string | undefined> {
  return new Map([...json.matchAll(/"(\w+)":("[^"]*"|[^,}]+)/g)].map(([, name, value]) => [name, value]));
}
