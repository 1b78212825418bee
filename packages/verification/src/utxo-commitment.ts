/**
 * Invariant 8 of UTXO sets: their MuHash equals the commitment in a header, of the latest bootstrap
 * block and of the checkpoint's block. A chain block commits to the set after its own acceptance,
 * so the current set proves everything that was accepted since.
 *
 * A set is copied into a file and hashed from there on all cores. Hashing takes about twenty times
 * as long as copying; a snapshot that was open during it would hold vacuum up.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyChunks, cutRows } from '@kasgres/database/copy-out';
import { type Hash, MuHash, toHex } from '@kasgres/kaspa';
import { WorkerPool } from '@kasgres/runtime/worker-pool';
import type { Queryable } from '@kasgres/state';
import type { Pool, PoolClient } from 'pg';

const CHUNK_BYTES = 1024 * 1024;
const CHUNKS_AHEAD = 2;
const REPORT_EVERY_MS = 10_000;
/** Speed of a core of common machines. */
const UTXOS_PER_SECOND = 30_000;

/** `utxos` at the checkpoint, or `bootstrap_utxos` at the latest bootstrap block. */
export type UtxoSet = 'utxos' | 'bootstrap_utxos';

const NAMES: Readonly<Record<UtxoSet, string>> = {
  utxos: 'the current UTXO set',
  bootstrap_utxos: 'the UTXO set of the bootstrap block',
};

const SELECT_COMMITMENT: Readonly<Record<UtxoSet, string>> = {
  utxos: 'select hash, utxo_commitment from checkpoint join blocks on blocks.id = checkpoint.block_id',
  bootstrap_utxos: `
    select hash, utxo_commitment from bootstrap_blocks
      join blocks on blocks.id = bootstrap_blocks.block_id
        order by bootstrap_blocks.chain_index desc limit 1`,
};

/** Missing transactions and scripts give empty values, which change the hash. */
const selectUtxos = (set: UtxoSet, covenantId: string): string => `
  select coalesce(t.transaction_id, earlier.transaction_id, ''), u.index, u.amount,
    coalesce(s.version, 0), coalesce(s.script, ''), u.block_daa_score, u.is_coinbase, ${covenantId}
  from ${set} u
  left join transactions t on t.id = u.transaction_id
  left join pre_bootstrap_transactions earlier on earlier.id = u.transaction_id
  left join scripts s on s.id = u.script_id`;

const SELECT_UTXOS: Readonly<Record<UtxoSet, string>> = {
  utxos: `
    ${selectUtxos('utxos', 'coalesce(o.covenant_id, start.covenant_id)')}
    left join transaction_outputs o on o.transaction_id = u.transaction_id and o.index = u.index and o.index >> 4 = u.index >> 4
    left join bootstrap_utxos start on start.transaction_id = u.transaction_id and start.index = u.index`,
  bootstrap_utxos: selectUtxos('bootstrap_utxos', 'u.covenant_id'),
};

/**
 * Returns estimates from the planner's statistics, since counting the rows would take as long as
 * some checks.
 */
export async function estimateHashing(db: Queryable, set: UtxoSet): Promise<{ utxos: number; seconds: number }> {
  const { rows } = await db.query<{ utxos: number }>(
    `select case when reltuples > 0 then reltuples::float8 else (select count(*) from ${set})::float8 end as utxos
     from pg_class where oid = 'public.${set}'::regclass`,
  );
  const utxos = rows[0]?.utxos ?? 0;
  return { utxos, seconds: utxos / UTXOS_PER_SECOND / availableParallelism() };
}

/** A copy of a set with its expected hash. */
export interface CommittedSet {
  set: UtxoSet;
  block: Hash;
  /** The expected MuHash, from the header. */
  commitment: Hash;
  /** Must be closed. It is unlinked, so the end of the process frees it. */
  file: FileHandle;
}

/**
 * Copies a set, inside a transaction that reads one state of the database.
 * @returns undefined before the first bootstrap
 */
export async function copyCommittedSet(client: PoolClient, set: UtxoSet): Promise<CommittedSet | undefined> {
  const { rows } = await client.query<{ hash: Buffer; utxo_commitment: Buffer }>(SELECT_COMMITMENT[set]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const path = join(tmpdir(), `kasgres-utxos-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    for await (const bytes of copyChunks(client, SELECT_UTXOS[set])) await file.appendFile(bytes);
    return { set, block: row.hash, commitment: row.utxo_commitment, file };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Hashes a copied set, and closes the copy.
 * @param report is called every ten seconds with the number of hashed UTXOs
 * @returns the faults, one sentence each
 */
export async function checkCommittedSet(
  { set, block, commitment, file }: CommittedSet,
  report: (hashed: number) => void = () => undefined,
): Promise<string[]> {
  try {
    const hashed = await hashUtxos(file, report);
    if (Buffer.compare(hashed.commitment, commitment) === 0) return [];
    return [`${NAMES[set]}, ${hashed.utxos} UTXOs, is not the one that block ${toHex(block)} commits to`];
  } finally {
    await file.close();
  }
}

/**
 * Copies and hashes a set; with a client, inside its open transaction.
 * @returns the faults, one sentence each
 */
export async function checkUtxoCommitment(db: Pool | PoolClient, set: UtxoSet = 'bootstrap_utxos'): Promise<string[]> {
  const client = 'release' in db ? db : await db.connect();
  try {
    const committed = await copyCommittedSet(client, set);
    return committed === undefined ? [`no block commits to ${NAMES[set]}`] : await checkCommittedSet(committed);
  } finally {
    if (client !== db) client.release();
  }
}

/** The input of a thread: whole rows of `COPY … (FORMAT binary)`. */
export interface HashJob {
  rows: Uint8Array;
}

export interface HashedRows {
  product: bigint;
  utxos: number;
}

async function hashUtxos(
  file: FileHandle,
  report: (hashed: number) => void,
): Promise<{ commitment: Hash; utxos: number }> {
  const threads = availableParallelism();
  const pool = new WorkerPool<HashJob, HashedRows>(new URL('./hash-utxos.worker.ts', import.meta.url), threads);
  const muhash = new MuHash();
  const inFlight = new Set<Promise<void>>();
  let utxos = 0;
  let reportAt = performance.now() + REPORT_EVERY_MS;
  const hash = async (rows: Uint8Array<ArrayBuffer>): Promise<void> => {
    const hashed = await pool.run({ rows }, [rows.buffer]);
    muhash.combine(new MuHash(hashed.product));
    utxos += hashed.utxos;
    if (performance.now() < reportAt) return;
    report(utxos);
    reportAt = performance.now() + REPORT_EVERY_MS;
  };
  try {
    const chunks = file.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES, autoClose: false });
    for await (const rows of cutRows(chunks as AsyncIterable<Buffer>)) {
      // Transferring a view would transfer its whole buffer.
      const job = hash(Uint8Array.from(rows)).finally(() => inFlight.delete(job));
      // The rejection is handled where the jobs are awaited.
      job.catch(() => undefined);
      inFlight.add(job);
      if (inFlight.size >= threads * CHUNKS_AHEAD) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
  } finally {
    await pool.close();
  }
  return { commitment: muhash.commitment(), utxos };
}
