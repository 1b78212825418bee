/** A worker thread that computes the MuHash product of rows from utxo-commitment.ts. */
import { readRows } from '@kasgres/database/copy-out';
import { MuHash } from '@kasgres/kaspa';
import { serveJobs } from '@kasgres/runtime/worker-pool';
import type { HashedRows, HashJob } from './utxo-commitment.ts';

const EMPTY = Buffer.alloc(0);

serveJobs(({ rows }: HashJob): HashedRows => {
  const muhash = new MuHash();
  const fields: (Buffer | undefined)[] = [];
  const setField = (column: number, bytes: Buffer | undefined): void => {
    fields[column] = bytes;
  };
  const addUtxo = (): void => {
    const [transactionId, index, amount, version, script, daaScore, isCoinbase, covenantId] = fields;
    muhash.add({
      outpoint: { transactionId: transactionId ?? EMPTY, index: index?.readInt32BE() ?? 0 },
      amount: amount?.readBigInt64BE() ?? 0n,
      scriptPublicKey: { version: version?.readInt32BE() ?? 0, script: script ?? EMPTY },
      blockDaaScore: daaScore?.readBigInt64BE() ?? 0n,
      isCoinbase: isCoinbase?.[0] === 1,
      covenantId,
    });
  };
  const utxos = readRows(Buffer.from(rows.buffer, rows.byteOffset, rows.length), setField, addUtxo);
  return { product: muhash.product, utxos };
});
