/** On a worker thread: the MuHash product of a piece of the UTXO set. */
import { MuHash } from '@kasgres/kaspa';
import { decodeUtxoChunk } from '@kasgres/node';

export interface HashJob {
  /** As it came from the node. */
  bytes: Uint8Array;
  /** Coins at its beginning to leave out. */
  skip: number;
}

export default function hashUtxos({ bytes, skip }: HashJob): bigint {
  const muhash = new MuHash();
  for (const utxo of decodeUtxoChunk(bytes).slice(skip)) muhash.add(utxo);
  return muhash.product;
}
