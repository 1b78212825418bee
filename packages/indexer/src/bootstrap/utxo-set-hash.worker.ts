import { MuHash } from '@kasgres/kaspa';
import { decodeUtxoChunk } from '@kasgres/node/decode-utxo-chunk';
import { serveJobs } from '@kasgres/runtime/worker-pool';

export interface HashJob {
  bytes: Uint8Array;
  /** Number of UTXOs at the beginning of the chunk to leave out. */
  skip: number;
}

serveJobs(({ bytes, skip }: HashJob): bigint => {
  const muhash = new MuHash();
  for (const utxo of decodeUtxoChunk(bytes).slice(skip)) muhash.add(utxo);
  return muhash.product;
});
