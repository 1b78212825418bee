import { MuHash, type Utxo } from '@kasgres/kaspa';
import { serveJobs } from '@kasgres/runtime/worker-pool';

export interface UtxoChanges {
  added: Utxo[];
  removed: Utxo[];
}

serveJobs(({ added, removed }: UtxoChanges): bigint => {
  const muhash = new MuHash();
  for (const utxo of added) muhash.add(utxo);
  for (const utxo of removed) muhash.remove(utxo);
  return muhash.product;
});
