/**
 * Invariant 8 of UTXO sets: their MuHash equals the commitment in a header, of the latest bootstrap block and of the checkpoint's block. A chain
 * block commits to the set after its own acceptance, so the current set proves everything that was accepted since.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import type { ClientBase, Pool, PoolClient } from 'pg';
import type { Queryable } from '@kasgres/state';
import { copyUtxos, estimateSeconds, hashUtxos, type UtxoCopy, type UtxoSet } from './utxo-copy.ts';

/** A copy of a set with its expected hash. `copy` must be closed. */
export interface CommittedSet {
  set: UtxoSet;
  block: Hash;
  /** The expected MuHash, from the header. */
  commitment: Hash;
  copy: UtxoCopy;
}

interface CommitmentRow {
  hash: Buffer;
  utxo_commitment: Buffer;
}

const SELECT_COMMITMENT: Readonly<Record<UtxoSet, string>> = {
  utxos: 'select hash, utxo_commitment from checkpoint join blocks on blocks.id = checkpoint.block_id',
  start_utxos: `
    select hash, utxo_commitment from starts join blocks on blocks.id = starts.block_id order by starts.chain_index desc limit 1`,
};

const NAMES: Readonly<Record<UtxoSet, string>> = {
  utxos: 'the current UTXO set',
  start_utxos: 'the UTXO set of the bootstrap block',
};

/** Copies a set, inside a transaction that reads one state of the database. @returns undefined before the first bootstrap */
export async function copyCommittedSet(client: ClientBase, set: UtxoSet): Promise<CommittedSet | undefined> {
  const { rows } = await client.query<CommitmentRow>(SELECT_COMMITMENT[set]);
  const [row] = rows;
  if (row === undefined) return undefined;
  return { set, block: row.hash, commitment: row.utxo_commitment, copy: await copyUtxos(client, set) };
}

/**
 * Hashes a copied set, and closes the copy.
 * @param report is called periodically with the number of hashed UTXOs
 * @returns the faults, one sentence each
 */
export async function checkCommittedSet(
  { set, block, commitment, copy }: CommittedSet,
  report: (hashed: number) => void = () => undefined,
): Promise<string[]> {
  try {
    const hashed = await hashUtxos(copy, report);
    if (Buffer.compare(hashed.commitment, commitment) === 0) return [];
    return [`${NAMES[set]}, ${hashed.utxos} UTXOs, is not the one that block ${toHex(block)} commits to`];
  } finally {
    await copy.file.close();
  }
}

/** Copies and hashes a set; with a client, inside its open transaction. @returns the faults, one sentence each */
export async function checkUtxoCommitment(db: Pool | PoolClient, set: UtxoSet = 'start_utxos'): Promise<string[]> {
  const client = 'release' in db ? db : await db.connect();
  try {
    const committed = await copyCommittedSet(client, set);
    return committed === undefined ? [`no block commits to ${NAMES[set]}`] : await checkCommittedSet(committed);
  } finally {
    if (client !== db) client.release();
  }
}

export interface Estimate {
  utxos: number;
  seconds: number;
}

/** Estimates from the planner's statistics, since counting the rows would take as long as some checks. */
export async function estimateHashing(db: Queryable, set: UtxoSet): Promise<Estimate> {
  const { rows } = await db.query<{ utxos: number }>(
    `select case when reltuples > 0 then reltuples::float8 else (select count(*) from ${set})::float8 end as utxos
     from pg_class where oid = 'public.${set}'::regclass`,
  );
  const utxos = rows[0]?.utxos ?? 0;
  return { utxos, seconds: estimateSeconds(utxos) };
}
