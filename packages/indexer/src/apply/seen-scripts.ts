/**
 * When the scripts that a batch touches were seen before it: as `balances` says or, where chain blocks are removed, as `seen_before` kept
 * it. Where that has no row, and for the interval of a start, the rows of the chain are asked.
 */
import type { ClientBase } from 'pg';
import type { Batch } from '../prepare/batch.ts';
import type { ChainBlockTotals } from '../rollups/chain-block-totals.ts';
import { startOfInterval } from '../rollups/intervals.ts';
import { type SeenBefore, type Sighting, UNSEEN, unsee } from '../rollups/sightings.ts';

interface Touch {
  chain_index: bigint;
  chain_time: bigint;
}

/** The place of a start. */
type Start = Touch;

export interface KnownSightings {
  now: Map<number, Sighting>;
  /** The latest start, if it has coins: scripts that hold them are seen there. */
  start: Start | undefined;
}

/** A minute of mainnet or less. */
const RECENT_CHAIN_BLOCKS = 500;

/** @param removed from the top downwards @returns sightings below all that the batch removes and adds */
export async function sightingsAtFork(
  client: ClientBase,
  batch: Batch,
  removed: readonly ChainBlockTotals[],
  { now, start }: KnownSightings,
): Promise<Map<number, Sighting>> {
  const fork = batch.from.chainIndex - removed.length;
  const rows = removed.length === 0 ? [] : await readSeenBefore(client, fork);
  const before = unsee(now, rows);
  const lost = new Set(rows.length === removed.length ? [] : removed.flatMap(({ scripts }) => [...scripts]));
  for (const [script, sighting] of await recompute(client, [...lost], { fork, start, now })) {
    before.set(script, sighting);
  }
  const unsure = start !== undefined && isInDayOf(start, [...removed, ...batch.chainTotals]);
  const atStart = unsure
    ? [...before].filter(([script, { last }]) => last === start.chain_time && !lost.has(script))
    : [];
  const touches = await findLastTouches(
    client,
    atStart.map(([script]) => script),
    fork,
  );
  for (const [script, sighting] of atStart) {
    before.set(script, { ...sighting, touched: touches.get(script)?.chain_time ?? null });
  }
  return before;
}

/** As the database has them, in one statement. */
export async function readSightings(client: ClientBase, scripts: readonly number[]): Promise<KnownSightings> {
  if (scripts.length === 0) return { now: new Map(), start: undefined };
  const { rows } = await client.query<SightingRow>({
    name: 'read-sightings',
    text: `select b.script_id, b.first_seen, b.last_seen, start.chain_index, start.chain_time
             from balances b
             left join (select * from (select s.chain_index, c.chain_time, s.utxo_count
                                         from starts s join chain_blocks c on c.index = s.chain_index
                                        order by s.chain_index desc limit 1) latest where utxo_count > 0) start on true
            where b.script_id = any($1::bigint[])`,
    values: [scripts],
  });
  const { chain_index = null, chain_time = null } = rows[0] ?? {};
  return {
    now: new Map(
      rows.map(({ script_id, first_seen: first, last_seen: last }) => [
        Number(script_id),
        { first, last, touched: last },
      ]),
    ),
    start: chain_index === null || chain_time === null ? undefined : { chain_index, chain_time },
  };
}

interface SightingRow {
  script_id: bigint;
  first_seen: bigint | null;
  last_seen: bigint | null;
  /** The start's. */
  chain_index: bigint | null;
  chain_time: bigint | null;
}

function isInDayOf(start: Start, blocks: readonly ChainBlockTotals[]): boolean {
  const day = startOfInterval('day', start.chain_time);
  return blocks.some(({ chainTime }) => startOfInterval('day', chainTime) === day);
}

/** From the top downwards. */
async function readSeenBefore(client: ClientBase, above: number): Promise<SeenBefore[]> {
  const { rows } = await client.query<{ chain_index: bigint; script_ids: bigint[]; last_seen: (string | null)[] }>(
    'select chain_index, script_ids, last_seen::text[] from seen_before where chain_index > $1 order by chain_index desc',
    [above],
  );
  return rows.map((row) => ({
    chainIndex: Number(row.chain_index),
    scripts: row.script_ids.map(Number),
    lastSeen: row.last_seen.map((time) => (time === null ? null : BigInt(time))),
  }));
}

/** Sightings up to the fork, from the rows of the chain. */
async function recompute(
  client: ClientBase,
  scripts: readonly number[],
  { fork, start, now }: { fork: number; start: Start | undefined; now: ReadonlyMap<number, Sighting> },
): Promise<Map<number, Sighting>> {
  const touches = await findLastTouches(client, scripts, fork);
  const maybeAtStart = scripts.filter((script) => {
    const touch = touches.get(script);
    return start !== undefined && (touch === undefined || touch.chain_index <= start.chain_index);
  });
  const atStart = await holdersAtStart(client, maybeAtStart);
  return new Map(
    scripts.map((script) => {
      const touched = touches.get(script)?.chain_time ?? null;
      const last = start !== undefined && atStart.has(script) ? start.chain_time : touched;
      return [script, last === null ? UNSEEN : { first: now.get(script)?.first ?? null, last, touched }];
    }),
  );
}

/**
 * The last chain block, up to an index, that accepts a transaction that touches a script. Busy scripts are found among what the chain accepted
 * last, since looking through all of their transactions would take long.
 */
async function findLastTouches(
  client: ClientBase,
  scripts: readonly number[],
  upTo: number,
): Promise<Map<number, Touch>> {
  if (scripts.length === 0) return new Map();
  const recent = await selectLastTouches(client, SELECT_RECENT_TOUCHES, scripts, upTo);
  const others = scripts.filter((script) => !recent.has(script));
  if (others.length === 0) return recent;
  return new Map([...recent, ...(await selectLastTouches(client, SELECT_TOUCHES, others, upTo))]);
}

const SELECT_TOUCHES = `
  select a.script_id, c.index
    from unnest($1::bigint[]) wanted (script_id)
    join address_transactions a on a.script_id = wanted.script_id
    join transactions t on t.id = a.transaction_id
    join chain_blocks c on c.block_id = t.accepting_block_id
   where c.index <= $2`;

const SELECT_RECENT_TOUCHES = `
  with recent as (
    select index, unnest(accepted_transactions) as id from chain_blocks where index <= $2 and index > $2 - ${RECENT_CHAIN_BLOCKS}),
  moves as (
    select o.script_id, recent.index from recent join transaction_outputs o on o.transaction_id = recent.id
    union all
    select i.script_id, recent.index from recent join transaction_inputs i on i.transaction_id = recent.id)
  select script_id, index from moves where script_id = any($1::bigint[])`;

async function selectLastTouches(
  client: ClientBase,
  touches: string,
  scripts: readonly number[],
  upTo: number,
): Promise<Map<number, Touch>> {
  const { rows } = await client.query<Touch & { script_id: bigint }>(
    `select touched.script_id, c.index as chain_index, c.chain_time
       from (select script_id, max(index) as index from (${touches}) touches group by script_id) touched
       join chain_blocks c on c.index = touched.index`,
    [scripts, upTo],
  );
  return new Map(rows.map((row) => [Number(row.script_id), row]));
}

async function holdersAtStart(client: ClientBase, scripts: readonly number[]): Promise<Set<number>> {
  if (scripts.length === 0) return new Set();
  const { rows } = await client.query<{ script_id: bigint }>(
    'select distinct script_id from start_utxos where script_id = any($1::bigint[])',
    [scripts],
  );
  return new Set(rows.map(({ script_id }) => Number(script_id)));
}
