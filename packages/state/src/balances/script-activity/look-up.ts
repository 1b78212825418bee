/**
 * Loads the activity of scripts below a batch from `balances` and `seen_before` or, where these
 * cannot tell, from the rows of the chain.
 */
import type { ClientBase } from 'pg';
import {
  NEVER_SEEN,
  rewind,
  type ScriptActivity,
  type SeenBefore,
  type StoredActivity,
  type TouchingBlock,
} from './replay.ts';

/** About one minute of mainnet chain blocks. */
const RECENT_CHAIN_BLOCKS = 500;

/**
 * @param fork chain_blocks.index below all that the batch removes and adds
 * @param removed in the order of the chain @param removedTouches by script, how many transactions
 * of `removed` touch it
 */
export async function loadActivityAtFork(
  client: ClientBase,
  fork: number,
  { removed, removedTouches }: { removed: readonly TouchingBlock[]; removedTouches: ReadonlyMap<number, number> },
  stored: ReadonlyMap<number, StoredActivity>,
): Promise<Map<number, ScriptActivity>> {
  const touchesBelow = (script: number): number =>
    Number(stored.get(script)?.accepted ?? 0n) - (removedTouches.get(script) ?? 0);
  const rows = removed.length === 0 ? [] : await readSeenBefore(client, fork);
  const before = rewind(stored, rows);
  if (rows.length < removed.length) {
    const lost = [...new Set(removed.flatMap(({ scripts }) => [...scripts]))];
    for (const [script, activity] of await recompute(client, lost, { fork, stored, touchesBelow })) {
      before.set(script, activity);
    }
  }
  for (const [script, activity] of before) {
    if (touchesBelow(script) === 0) before.set(script, { ...activity, touched: null });
  }
  return before;
}

export async function readStoredActivity(
  client: ClientBase,
  scripts: readonly number[],
): Promise<Map<number, StoredActivity>> {
  if (scripts.length === 0) return new Map();
  const { rows } = await client.query<{
    script: bigint;
    first: bigint | null;
    last: bigint | null;
    accepted: bigint;
    change: bigint;
    hour: number;
  }>({
    name: 'read-script-activity',
    text: `select script_id as script, first_seen as first, last_seen as last, accepted_count::bigint as accepted,
                  last_change as change, last_change_hour as hour
             from balances where script_id = any($1::bigint[])`,
    values: [scripts],
  });
  return new Map(
    rows.map(({ script, first, last, accepted, change, hour }) => [
      Number(script),
      { first, last, touched: last, accepted, lastChange: { hour, change } },
    ]),
  );
}

async function readSeenBefore(client: ClientBase, above: number): Promise<SeenBefore[]> {
  const { rows } = await client.query<{ chain_index: bigint; script_ids: bigint[]; last_seen: (string | null)[] }>({
    name: 'read-seen-before',
    text: 'select chain_index, script_ids, last_seen::text[] from seen_before where chain_index > $1 order by chain_index desc',
    values: [above],
  });
  return rows.map((row) => ({
    chainIndex: Number(row.chain_index),
    scripts: row.script_ids.map(Number),
    lastSeen: row.last_seen.map((time) => (time === null ? null : BigInt(time))),
  }));
}

/**
 * Computes the activity up to the fork from the rows of the chain. The fork is never below a
 * bootstrap block.
 */
async function recompute(
  client: ClientBase,
  scripts: readonly number[],
  {
    fork,
    stored,
    touchesBelow,
  }: { fork: number; stored: ReadonlyMap<number, StoredActivity>; touchesBelow: (script: number) => number },
): Promise<Map<number, ScriptActivity>> {
  const touches = await findLastTouches(client, scripts, fork);
  const holders = await holdersAtBootstrap(
    client,
    scripts.filter((script) => !touches.has(script)),
  );
  return new Map(
    scripts.map((script) => {
      const first = stored.get(script)?.first ?? null;
      const touched = touches.get(script);
      if (touched !== undefined) return [script, { first, last: touched, touched }];
      // Retention removed the touches of a script that has some. When the last of them was is no
      // longer known.
      const isSeen = holders.has(script) || touchesBelow(script) > 0;
      return [script, isSeen ? { first, last: first, touched: first } : NEVER_SEEN];
    }),
  );
}

/**
 * Looks for busy scripts among the latest acceptances first, since reading all of their
 * transactions would take long.
 */
async function findLastTouches(
  client: ClientBase,
  scripts: readonly number[],
  upTo: number,
): Promise<Map<number, bigint>> {
  const recent = await selectLastTouches(client, SELECT_RECENT_TOUCHES, scripts, upTo);
  const others = scripts.filter((script) => !recent.has(script));
  return new Map([...recent, ...(await selectLastTouches(client, SELECT_TOUCHES, others, upTo))]);
}

const SELECT_TOUCHES = `
  select a.script_id, c.index
    from (
      select o.script_id, o.transaction_id from transaction_outputs o
        where o.script_id = any($1::bigint[])
      union
      select i.script_id, i.transaction_id from transaction_inputs i
        where i.script_id = any($1::bigint[])
    ) a
    join transactions t on t.id = a.transaction_id
    join chain_blocks c on c.index = t.accepting_index
   where c.index <= $2`;

/**
 * `offset 0` keeps Postgres from beginning with the scripts, of which it expects few transactions
 * each.
 */
const SELECT_RECENT_TOUCHES = `
  with recent as (
    select index, unnest(accepted_transactions) as id from chain_blocks
      where index <= $2 and index > $2 - ${RECENT_CHAIN_BLOCKS}),
  touches as (
    select touched.script_id, recent.index
      from recent cross join lateral (select script_id from script_deltas
        where transaction_id = recent.id offset 0) touched)
  select script_id, index from touches where script_id = any($1::bigint[])`;

async function selectLastTouches(
  client: ClientBase,
  touches: string,
  scripts: readonly number[],
  upTo: number,
): Promise<Map<number, bigint>> {
  if (scripts.length === 0) return new Map();
  const { rows } = await client.query<{ script_id: bigint; chain_time: bigint }>(
    `select touched.script_id, c.chain_time
       from (select script_id, max(index) as index from (${touches}) touches
         group by script_id) touched
       join chain_blocks c on c.index = touched.index`,
    [scripts, upTo],
  );
  return new Map(rows.map(({ script_id, chain_time }) => [Number(script_id), chain_time]));
}

async function holdersAtBootstrap(client: ClientBase, scripts: readonly number[]): Promise<Set<number>> {
  if (scripts.length === 0) return new Set();
  const { rows } = await client.query<{ script_id: bigint }>(
    `select script_id from bootstrap_utxos where script_id = any($1::bigint[])
     union select script_id from bootstrap_balances
            where chain_index in (select chain_index from bootstrap_blocks)
              and script_id = any($1::bigint[])`,
    [scripts],
  );
  return new Set(rows.map(({ script_id }) => Number(script_id)));
}
