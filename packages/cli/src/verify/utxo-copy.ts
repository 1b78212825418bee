/**
 * Copies a UTXO set into a file and hashes it from there on all cores. Hashing takes about twenty times as long as copying; a snapshot that was
 * open during it would hold vacuum up.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hash, MuHash, type Utxo } from '@kasgres/kaspa';
import { WorkerPool } from '@kasgres/runtime/worker-pool';
import type { ClientBase } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { cutRows } from '../copy-rows.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Queued chunks per thread. */
const CHUNKS_AHEAD = 2;
const REPORT_EVERY_MS = 10_000;
/** Hashing these takes less than a tenth of a second. */
const SAMPLE_UTXOS = 1_000;

/** `utxos` at the checkpoint, or `start_utxos` at the latest bootstrap block. */
export type UtxoSet = 'utxos' | 'start_utxos';

/** Missing transactions and scripts give empty values, which change the hash. */
const SELECT: Readonly<Record<UtxoSet, string>> = {
  utxos: `
    select coalesce(t.transaction_id, earlier.transaction_id, ''), u.index, u.amount, coalesce(s.version, 0), coalesce(s.script, ''),
      u.block_daa_score, u.is_coinbase, coalesce(o.covenant_id, start.covenant_id)
    from utxos u
    left join transactions t on t.id = u.transaction_id
    left join earlier_transactions earlier on earlier.id = u.transaction_id
    left join scripts s on s.id = u.script_id
    left join transaction_outputs o on o.transaction_id = u.transaction_id and o.index = u.index
    left join start_utxos start on start.transaction_id = u.transaction_id and start.index = u.index`,
  start_utxos: `
    select coalesce(t.transaction_id, earlier.transaction_id, ''), u.index, u.amount, coalesce(s.version, 0), coalesce(s.script, ''),
      u.block_daa_score, u.is_coinbase, u.covenant_id
    from start_utxos u
    left join transactions t on t.id = u.transaction_id
    left join earlier_transactions earlier on earlier.id = u.transaction_id
    left join scripts s on s.id = u.script_id`,
};

/** Must be closed. The file is unlinked, so the end of the process frees it. */
export interface UtxoCopy {
  file: FileHandle;
}

/** Inside a transaction that reads one state of the database. */
export async function copyUtxos(client: ClientBase, set: UtxoSet): Promise<UtxoCopy> {
  const path = join(tmpdir(), `kasgres-utxos-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    const rows = client.query(copyTo(`copy (${SELECT[set]}) to stdout (format binary)`));
    for await (const bytes of rows as AsyncIterable<Buffer>) await file.appendFile(bytes);
    return { file };
  } catch (error) {
    await file.close();
    throw error;
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

/** @param report is called every ten seconds with the number of hashed UTXOs */
export async function hashUtxos(
  { file }: UtxoCopy,
  report: (hashed: number) => void,
): Promise<{ commitment: Hash; utxos: number }> {
  const threads = availableParallelism();
  const pool = new WorkerPool<HashJob, HashedRows>(new URL('./hash-utxos.worker.ts', import.meta.url), threads);
  const muhash = new MuHash();
  const inFlight = new Set<Promise<void>>();
  let utxos = 0;
  let reportAt = Date.now() + REPORT_EVERY_MS;
  const hash = async (rows: Uint8Array<ArrayBuffer>): Promise<void> => {
    const hashed = await pool.run({ rows }, [rows.buffer]);
    muhash.combine(new MuHash(hashed.product));
    utxos += hashed.utxos;
    if (Date.now() < reportAt) return;
    report(utxos);
    reportAt = Date.now() + REPORT_EVERY_MS;
  };
  try {
    for await (const rows of cutRows(chunksOf(file))) {
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

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Returns the seconds that all cores need, from a measurement on this core. */
export function estimateSeconds(utxos: number): number {
  const sample: Utxo = {
    outpoint: { transactionId: new Uint8Array(32), index: 0 },
    amount: 1n,
    scriptPublicKey: { version: 0, script: new Uint8Array(34) },
    blockDaaScore: 0n,
    isCoinbase: false,
    covenantId: undefined,
  };
  const muhash = new MuHash();
  for (let n = 0; n < SAMPLE_UTXOS; n += 1) muhash.add(sample);
  const startedAt = performance.now();
  for (let n = 0; n < SAMPLE_UTXOS; n += 1) muhash.add(sample);
  const secondsEach = (performance.now() - startedAt) / 1_000 / SAMPLE_UTXOS;
  return (utxos * secondsEach) / availableParallelism();
}
