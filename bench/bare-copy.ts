/** The lower bound for writing: a COPY of the rows of an index into tables without indexes. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '@kasgres/database';
import copyStreams from 'pg-copy-streams';

const COPIED = [
  'blocks',
  'block_parents',
  'chain_blocks',
  'transactions',
  'block_transactions',
  'scripts',
  'transaction_inputs',
  'transaction_outputs',
  'utxos',
  'bootstrap_utxos',
  'pre_bootstrap_transactions',
  'balances',
  'previous_balance_changes',
];

export interface BareCopy {
  seconds: number;
  rows: number;
}

/** Writes all rows in one transaction, and deletes the copies. */
export async function copyBare({ pool }: Connection): Promise<BareCopy> {
  const directory = await mkdtemp(join(tmpdir(), 'kasgres-bare-'));
  const client = await pool.connect();
  try {
    let rows = 0;
    await client.query('create schema bare');
    for (const table of COPIED) {
      await client.query(`create table bare.${table} (like public.${table})`);
      const source = client.query(copyStreams.to(`copy (table ${table}) to stdout (format binary)`));
      await pipeline(source, createWriteStream(join(directory, table)));
      rows += source.rowCount;
    }
    const startedAt = performance.now();
    await client.query('begin');
    for (const table of COPIED) {
      const target = client.query(copyStreams.from(`copy bare.${table} from stdin (format binary)`));
      await pipeline(createReadStream(join(directory, table), { highWaterMark: 1024 * 1024 }), target);
    }
    await client.query('commit');
    const seconds = (performance.now() - startedAt) / 1_000;
    await client.query('drop schema bare cascade');
    return { seconds, rows };
  } finally {
    client.release();
    await rm(directory, { recursive: true });
  }
}
