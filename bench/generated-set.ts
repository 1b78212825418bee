/** A generated UTXO set of any size. */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { payToKey } from '@kasgres/devnet';
import { type Hash, MuHash, type Utxo } from '@kasgres/kaspa';

/** Several UTXOs share a transaction or a script. */
const UTXOS_PER_TRANSACTION = 1.25;
const UTXOS_PER_SCRIPT = 2;

if (!isMainThread) hashSegment(workerData as Segment);

/**
 * Yields UTXOs `from` to `to` of a set of `count`, in the order of their evenly spread transaction
 * ids, as a node serves them.
 */
export function* generateUtxos(from: number, to: number, count: number): Generator<Utxo> {
  for (let number = from; number < to; number++) yield generateUtxo(number, count);
}

export function generateUtxo(number: number, count: number): Utxo {
  const transaction = Math.floor(number / UTXOS_PER_TRANSACTION);
  const id = digest('transaction', transaction);
  id.writeUInt32BE(Math.floor((transaction * UTXOS_PER_TRANSACTION * 2 ** 32) / (count + 1)));
  // UTXOs of one owner are far from each other.
  const owner = (number * 7_919) % Math.ceil(count / UTXOS_PER_SCRIPT);
  return {
    outpoint: { transactionId: id, index: number - Math.ceil(transaction * UTXOS_PER_TRANSACTION) },
    amount: BigInt(number) * 1_000n + 1n,
    scriptPublicKey: payToKey(digest('script', owner)),
    blockDaaScore: BigInt(number),
    isCoinbase: number % 4 === 0,
    covenantId: undefined,
  };
}

function digest(name: string, number: number): Buffer {
  return createHash('sha256').update(`${name} ${number}`).digest();
}

interface Segment {
  from: number;
  to: number;
  count: number;
}

/** Hashes a set of `count` UTXOs on all cores. */
export async function commitmentOf(count: number): Promise<Hash> {
  const threads = availableParallelism();
  const borders = Array.from({ length: threads + 1 }, (_, thread) => Math.floor((count * thread) / threads));
  const products = borders.slice(1).map(
    (to, thread) =>
      new Promise<bigint>((resolve, reject) => {
        const segment: Segment = { from: borders[thread] ?? 0, to, count };
        const worker = new Worker(new URL(import.meta.url), { workerData: segment });
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
  );
  const set = new MuHash();
  for (const product of await Promise.all(products)) set.combine(new MuHash(product));
  return set.commitment();
}

function hashSegment({ from, to, count }: Segment): void {
  const set = new MuHash();
  for (const utxo of generateUtxos(from, to, count)) set.add(utxo);
  parentPort?.postMessage(set.product, []);
}
