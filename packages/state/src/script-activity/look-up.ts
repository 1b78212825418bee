/** Loads the activity of scripts below a batch from `balances` and `seen_before` or, where these cannot tell, from the rows of the chain. */
import { inPipeline } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { startOfInterval } from '../network-intervals/interval-deltas.ts';
import { NEVER_SEEN, rewind, type ScriptActivity, type SeenBefore, type TouchingBlock } from './replay.ts';

export interface StoredActivity {
  now: Map<number, ScriptActivity>;
  bootstrapTimes: ReadonlySet<bigint>;
}

/** About one minute of mainnet chain blocks. */
const RECENT_CHAIN_BLOCKS = 500;

/** @param removed in the order of the chain @param fork chain_blocks.index below all that the batch removes and adds */
export async function loadActivityAtFork(
  client: ClientBase,
  fork: number,
  { removed, added }: { removed: readonly TouchingBlock[]; added: readonly TouchingBlock[] },
  { now, bootstrapTimes }: StoredActivity,
): Promise<Map<number, ScriptActivity>> {
  const rows = removed.length === 0 ? [] : await readSeenBefore(client, fork);
  const before = rewind(now, rows);
  const lost = new Set(rows.length === removed.length ? [] : removed.flatMap(({ scripts }) => [...scripts]));
  for (const [script, activity] of await recompute(client, [...lost], { fork, bootstrapTimes, now })) {
    before.set(script, activity);
  }
  // These scripts may have been seen at the bootstrap block or in a chain block of the same chain_time.
  const days = new Set([...removed, ...added].map(({ chainTime }) => startOfInterval('day', chainTime)));
  const unsure = [...before].filter(
    ([script, { first, last }]) =>
      last !== null &&
      first === last &&
      bootstrapTimes.has(last) &&
      days.has(startOfInterval('day', last)) &&
      !lost.has(script),
  );
  const scripts = unsure.map(([script]) => script);
  const touches = await selectLastTouches(client, SELECT_TOUCHES, scripts, fork);
  for (const [script, activity] of unsure) before.set(script, { ...activity, touched: touches.get(script) ?? null });
  return before;
}

export async function readStoredActivity(client: ClientBase, scripts: readonly number[]): Promise<StoredActivity> {
  if (scripts.length === 0) return { now: new Map(), bootstrapTimes: new Set() };
  const [{ rows }, bootstraps] = await inPipeline(client, [
    () =>
      client.query<{ script: bigint; first: bigint | null; last: bigint | null }>({
        name: 'read-script-activity',
        text: 'select script_id as script, first_seen as first, last_seen as last from balances where script_id = any($1::bigint[])',
        values: [scripts],
      }),
    () =>
      client.query<{ chain_time: bigint }>({
        name: 'read-bootstrap-times',
        text: 'select c.chain_time from starts s join chain_blocks c on c.index = s.chain_index where s.utxo_count > 0',
      }),
  ]);
  return {
    now: new Map(rows.map(({ script, first, last }) => [Number(script), { first, last, touched: last }])),
    bootstrapTimes: new Set(bootstraps.rows.map(({ chain_time }) => chain_time)),
  };
}

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

/** Computes the activity up to the fork from the rows of the chain. The fork is never below a bootstrap block. */
async function recompute(
  client: ClientBase,
  scripts: readonly number[],
  { fork, bootstrapTimes, now }: { fork: number } & StoredActivity,
): Promise<Map<number, ScriptActivity>> {
  const touches = await findLastTouches(client, scripts, fork);
  const firstOf = (script: number): bigint | null => now.get(script)?.first ?? null;
  const holders = await holdersAtBootstrap(
    client,
    scripts.filter((script) => !touches.has(script) && bootstrapTimes.has(firstOf(script) ?? -1n)),
  );
  return new Map(
    scripts.map((script) => {
      const first = firstOf(script);
      const touched = touches.get(script);
      if (touched !== undefined) return [script, { first, last: touched, touched }];
      return [script, holders.has(script) ? { first, last: first, touched: null } : NEVER_SEEN];
    }),
  );
}

/** Looks for busy scripts among the latest acceptances first, since reading all of their transactions would take long. */
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
      select o.script_id, o.transaction_id from transaction_outputs o where o.script_id = any($1::bigint[])
      union
      select i.script_id, i.transaction_id from transaction_inputs i where i.script_id = any($1::bigint[])
    ) a
    join transactions t on t.id = a.transaction_id
    join chain_blocks c on c.index = t.accepting_index
   where c.index <= $2`;

const SELECT_RECENT_TOUCHES = `
  with recent as (
    select index, unnest(accepted_transactions) as id from chain_blocks where index <= $2 and index > $2 - ${RECENT_CHAIN_BLOCKS}),
  touches as (
    select o.script_id, recent.index from recent join transaction_outputs o on o.transaction_id = recent.id
    union all
    select i.script_id, recent.index from recent join transaction_inputs i on i.transaction_id = recent.id)
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
       from (select script_id, max(index) as index from (${touches}) touches group by script_id) touched
       join chain_blocks c on c.index = touched.index`,
    [scripts, upTo],
  );
  return new Map(rows.map(({ script_id, chain_time }) => [Number(script_id), chain_time]));
}

async function holdersAtBootstrap(client: ClientBase, scripts: readonly number[]): Promise<Set<number>> {
  if (scripts.length === 0) return new Set();
  const { rows } = await client.query<{ script_id: bigint }>(
    `select script_id from start_utxos where script_id = any($1::bigint[])
     union select script_id from start_balances
            where chain_index in (select chain_index from starts) and script_id = any($1::bigint[])`,
    [scripts],
  );
  return new Set(rows.map(({ script_id }) => Number(script_id)));
}
