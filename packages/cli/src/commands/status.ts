// `kasgres status`: how far the index is.

import { checkSchema, type Connection, connect } from '@kasgres/database';
import { findUtxoSetLoad } from '../verify/utxo-set-load.ts';
import { statusLines } from './status-lines.ts';

const ANSWER_WITHIN_MS = 3_000;

/** Prints what the API says, or the database where no API answers. Returns 0 when there is something to print. */
export async function printStatus(
  apiUrl: string,
  getDatabaseUrl: () => Promise<string>,
  asJson: boolean,
): Promise<number> {
  const status = (await askApi(apiUrl)) ?? {
    api: `does not answer at ${apiUrl}`,
    ...(await askDatabase(await getDatabaseUrl())),
  };
  process.stdout.write(asJson ? `${JSON.stringify(status, null, 2)}\n` : statusLines(status));
  return 0;
}

async function askApi(apiUrl: string): Promise<Record<string, unknown> | undefined> {
  try {
    const answer = await fetch(`${apiUrl}/v1/status`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return answer.ok ? ((await answer.json()) as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const CHECKPOINT = `
  select meta.network, encode(blocks.hash, 'hex') as sink, blocks.blue_score::text as "sinkBlueScore",
    checkpoint.target_blue_score::text as "nodeSinkBlueScore", checkpoint.first_catch_up as "firstCatchUp",
    checkpoint.seconds_left as "secondsLeft", checkpoint.updated_at as "updatedAt"
  from (select) nothing
  left join meta on true
  left join checkpoint on true
  left join blocks on blocks.id = checkpoint.block_id`;

/** With the names of `/v1/status`. */
const STARTS = `
  select encode(b.hash, 'hex') as hash, b.blue_score::text as "blueScore", b.daa_score::text as "daaScore",
    b.timestamp::float8 as timestamp, s.utxo_count::float8 as "utxoCount"
  from starts s join blocks b on b.id = s.block_id order by s.chain_index`;

const GAPS = `
  select encode(g.after_block_hash, 'hex') as "afterBlock", encode(g.before_block_hash, 'hex') as "beforeBlock", g.reason,
    after.blue_score::text as "afterBlueScore", before.blue_score::text as "beforeBlueScore",
    after.timestamp::float8 as "afterTimestamp", before.timestamp::float8 as "beforeTimestamp",
    floor(extract(epoch from g.recorded_at) * 1000)::float8 as "recordedAt"
  from gaps g
  left join blocks after on after.hash = g.after_block_hash
  left join blocks before on before.hash = g.before_block_hash
  order by g.id`;

async function askDatabase(databaseUrl: string): Promise<Record<string, unknown>> {
  const database = connect({ url: databaseUrl, max: 1, applicationName: 'kasgres status' });
  try {
    await checkSchema(database.pool);
    return await statusOf(database.pool);
  } finally {
    await database.close();
  }
}

/** What a database says by itself; null where it does not know. */
export async function statusOf(db: Pick<Connection['pool'], 'query'>): Promise<Record<string, unknown>> {
  const checkpoint = await db.query<Record<string, unknown>>(CHECKPOINT);
  const starts = await db.query(STARTS);
  const gaps = await db.query(GAPS);
  const load = await findUtxoSetLoad(db);
  return {
    ...checkpoint.rows[0],
    starts: starts.rows,
    gaps: gaps.rows,
    utxoSetLoad: load === undefined ? null : { pruningPoint: load.pruningPoint, utxoCount: Number(load.utxoCount) },
  };
}
