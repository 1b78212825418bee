/**
 * A simulated node whose whole chain is its pruning point, and a peer that serves a generated UTXO set of any size there.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { NodeServer, payToKey, UtxoSetServer } from '@kasgres/devnet';
import { type Hash, type Header, headerHash, MuHash, type Utxo } from '@kasgres/kaspa';
import { network, StaticNode } from './static-node.ts';

/** Several UTXOs share a transaction or a script. */
const UTXOS_PER_TRANSACTION = 1.25;
const UTXOS_PER_SCRIPT = 2;

if (!isMainThread) hashSegment(workerData as Segment);

export interface PruningPoint {
  nodeUrl: string;
  p2pUrl: string;
  close: () => void;
}

/** @param count UTXOs of the set @param place scores and time of the pruning point */
export async function startPruningPoint(
  count: number,
  place: Partial<Pick<Header, 'blueScore' | 'blueWork' | 'daaScore' | 'timestamp'>> = {},
): Promise<PruningPoint> {
  const node = new StaticNode({ blueScore: 1n, ...place, utxoCommitment: await commitmentOf(count) });
  const server = await NodeServer.start({ state: node.state(node.tip.hash) });
  const set = {
    pruningPointHash: headerHash(node.tip.header),
    utxos: { [Symbol.iterator]: () => utxos(0, count, count) },
  };
  const peer = await UtxoSetServer.start({ network: network.id, set: () => set });
  const close = (): void => {
    peer.close();
    server.close();
  };
  return { nodeUrl: server.url, p2pUrl: peer.url, close };
}

/** Yields UTXOs `from` to `to` of a set of `count`, in the order of their evenly spread transaction ids, as a node serves them. */
function* utxos(from: number, to: number, count: number): Generator<Utxo> {
  for (let number = from; number < to; number++) {
    const transaction = Math.floor(number / UTXOS_PER_TRANSACTION);
    const id = digest('transaction', transaction);
    id.writeUInt32BE(Math.floor((transaction * UTXOS_PER_TRANSACTION * 2 ** 32) / (count + 1)));
    // UTXOs of one owner are far from each other.
    const owner = (number * 7_919) % Math.ceil(count / UTXOS_PER_SCRIPT);
    yield {
      outpoint: { transactionId: id, index: number - Math.ceil(transaction * UTXOS_PER_TRANSACTION) },
      amount: BigInt(number) * 1_000n + 1n,
      scriptPublicKey: payToKey(digest('script', owner)),
      blockDaaScore: BigInt(number),
      isCoinbase: number % 4 === 0,
      covenantId: undefined,
    };
  }
}

function digest(name: string, number: number): Buffer {
  return createHash('sha256').update(`${name} ${number}`).digest();
}

interface Segment {
  from: number;
  to: number;
  count: number;
}

/** Hashes the set on all cores. */
async function commitmentOf(count: number): Promise<Hash> {
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
  for (const utxo of utxos(from, to, count)) set.add(utxo);
  parentPort?.postMessage(set.product, []);
}
