/**
 * Invariant 8 of UTXO sets: the MuHash of the UTXOs at the latest bootstrap block is the commitment in its header, and the MuHash of the
 * current ones is that in the header of the checkpoint's block. A chain block commits to the set after its own acceptance, which is the
 * state that the index has at it: so the current set proves that nothing accepted since was lost, added or changed.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import type { ClientBase, Pool, PoolClient } from 'pg';
import type { Queryable } from '@kasgres/state';
import { copyUtxos, estimateSeconds, hashUtxos, type UtxoCopy, type UtxoSet } from './utxo-copy.ts';

/** A set, copied out with what it must hash to. `copy` must be closed. */
export interface CommittedSet {
  set: UtxoSet;
  block: Hash;
  /** MuHash of the set, as the header says. */
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
  start_utxos: 'the UTXO set of the start',
};

/** Copies a set out, inside a transaction that reads one state of the database. @returns undefined when no block commits to it */
export async function copyCommittedSet(client: ClientBase, set: UtxoSet): Promise<CommittedSet | undefined> {
  const { rows } = await client.query<CommitmentRow>(SELECT_COMMITMENT[set]);
  const [row] = rows;
  if (row === undefined) return undefined;
  return { set, block: row.hash, commitment: row.utxo_commitment, copy: await copyUtxos(client, set) };
}

/**
 * Hashes a copied set, and closes the copy.
 * @param report is told now and then how many UTXOs are hashed
 * @returns what is wrong, one sentence each; empty when the invariant holds
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

/** Copies and hashes: of a client, within the transaction that it has open. @returns what is wrong, one sentence each */
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

/** Estimates the work from the statistics of the planner: counting the rows would take as long as some of the checks. */
export async function estimateHashing(db: Queryable, set: UtxoSet): Promise<Estimate> {
  const { rows } = await db.query<{ utxos: number }>(
    `select case when reltuples > 0 then reltuples::float8 else (select count(*) from ${set})::float8 end as utxos
     from pg_class where oid = 'public.${set}'::regclass`,
  );
  const utxos = rows[0]?.utxos ?? 0;
  return { utxos, seconds: estimateSeconds(utxos) };
}
