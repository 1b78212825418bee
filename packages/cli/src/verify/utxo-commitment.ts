/** Invariant 8, of the UTXO set from which the index counts: its MuHash is the commitment in the header of the start's block. */
import { MuHash, toHex } from '@kasgres/kaspa';
import type { Queryable } from './queryable.ts';
import { findStart, storedStartUtxos } from './stored-start.ts';

const REPORT_EVERY_MS = 10_000;

/**
 * One core hashes some tens of thousands of coins a second.
 * @param report is told now and then how many of how many coins are hashed
 * @returns what is wrong, one sentence each; empty when the invariant holds
 */
export async function checkUtxoCommitment(
  db: Queryable,
  report: (hashed: number, utxoCount: bigint) => void = () => undefined,
): Promise<string[]> {
  const start = await findStart(db);
  if (start === undefined) return ['there is no start'];
  const muhash = new MuHash();
  let hashed = 0;
  let reportAt = Date.now() + REPORT_EVERY_MS;
  for await (const utxo of storedStartUtxos(db)) {
    muhash.add(utxo);
    hashed += 1;
    if (hashed % 1_000 === 0 && Date.now() >= reportAt) {
      report(hashed, start.utxoCount);
      reportAt = Date.now() + REPORT_EVERY_MS;
    }
  }
  if (Buffer.compare(muhash.commitment(), start.utxoCommitment) === 0) return [];
  return [`the UTXO set of the start is not the one that its block ${toHex(start.hash)} commits to`];
}
