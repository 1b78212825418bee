/** `kasgres status` prints how far the index is. */
import type { Connection } from '@kasgres/database';
import { FatalError } from '@kasgres/runtime';
import type { StatusAddresses } from '../addresses.ts';
import { findApiStatus } from '../api-status.ts';
import { nameOfDatabase } from '../error-message.ts';
import { print } from '../command-line.ts';
import type { Queryable } from '@kasgres/state';
import { findUtxoSetLoad } from '../utxo-set-load.ts';
import { withDatabase } from '../with-database.ts';
import { statusLines } from './status-lines.ts';

type Status = Record<string, unknown>;

/** Prints the status, preceded by the API or database that it comes from. */
export async function printStatus(addresses: StatusAddresses, asJson: boolean): Promise<void> {
  const status = await getStatus(addresses);
  print(asJson ? JSON.stringify(status, null, 2) : statusLines(status));
}

async function getStatus({ apiUrl, database, isApiFirst }: StatusAddresses): Promise<Status> {
  const fromApi = apiUrl === undefined ? undefined : await findApiStatus(apiUrl);
  if (isApiFirst && apiUrl !== undefined && fromApi !== undefined) return { api: apiUrl, ...fromApi };
  if (database === undefined) {
    throw new FatalError(
      `No Kasgres API responds at ${apiUrl}. Start one (kasgres start), set HOST and PORT to another, DATA_DIR to where one was started, or ` +
        'DATABASE_URL to read the status from the database.',
    );
  }
  const read = async ({ pool }: Connection): Promise<Status> => ({
    ...(apiUrl !== undefined && { api: `${apiUrl} ${await describeApi(pool, fromApi)}` }),
    database: nameOfDatabase(database.url),
    ...(await statusOf(pool)),
  });
  return await withDatabase('status', read, { address: database });
}

/**
 * Describes an API that was named beside the database: only their blocks show whether it serves the
 * same database.
 */
async function describeApi(db: Queryable, status: Status | undefined): Promise<string> {
  if (status === undefined) return 'does not respond';
  if (typeof status['sink'] !== 'string') return 'responds, and has no block yet';
  const { rows } = await db.query(`select from blocks where hash = decode($1, 'hex')`, [status['sink']]);
  return rows.length > 0 ? 'responds' : 'responds, but from another database: its sink is not in this one';
}

const CHECKPOINT = `
  select meta.network, encode(blocks.hash, 'hex') as sink,
    blocks.blue_score::text as "sinkBlueScore",
    checkpoint.target_blue_score::text as "nodeSinkBlueScore",
    checkpoint.first_catch_up as "firstCatchUp", checkpoint.seconds_left as "secondsLeft",
    checkpoint.updated_at as "updatedAt"
  from (select) nothing
  left join meta on true
  left join checkpoint on true
  left join blocks on blocks.id = checkpoint.block_id`;

/** With the field names of `/v1/status`. */
const SELECT_BOOTSTRAPS = `
  select encode(b.hash, 'hex') as hash, b.blue_score::text as "blueScore",
    b.daa_score::text as "daaScore", b.timestamp::float8 as timestamp,
    s.utxo_count::float8 as "utxoCount"
  from bootstrap_blocks s join blocks b on b.id = s.block_id order by s.chain_index`;

const GAPS = `
  select encode(g.after_block_hash, 'hex') as "afterBlock",
    encode(g.before_block_hash, 'hex') as "beforeBlock", g.reason,
    after.blue_score::text as "afterBlueScore", before.blue_score::text as "beforeBlueScore",
    after.timestamp::float8 as "afterTimestamp", before.timestamp::float8 as "beforeTimestamp",
    floor(extract(epoch from g.recorded_at) * 1000)::float8 as "recordedAt"
  from gaps g
  left join blocks after on after.hash = g.after_block_hash
  left join blocks before on before.hash = g.before_block_hash
  order by g.id`;

/** Returns the status as far as the database knows it, with null for unknown values. */
export async function statusOf(db: Queryable): Promise<Record<string, unknown>> {
  const checkpoint = await db.query<Record<string, unknown>>(CHECKPOINT);
  const starts = await db.query(SELECT_BOOTSTRAPS);
  const gaps = await db.query(GAPS);
  const utxoSetLoad = (await findUtxoSetLoad(db)) ?? null;
  return { ...checkpoint.rows[0], starts: starts.rows, gaps: gaps.rows, utxoSetLoad };
}
