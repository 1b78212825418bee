/**
 * What a start from a pruning point costs before anything is written: reading the UTXO set from a peer, decoding it, hashing it.
 * The peer is simulated and runs on another core; each of the three is on one.
 *
 *   node bench/utxo-set.ts [UTXOs in millions] [UTXOs to hash]
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { UtxoSetServer } from '@kasgres/devnet';
import { MuHash, type Utxo } from '@kasgres/kaspa';
import { decodeUtxoChunk, readUtxoSet, type UtxoChunk } from '@kasgres/node';

const CHUNK = 1_000;
const DIFFERENT_CHUNKS = 10;
const DECODE_ROUNDS = 1_000;
const PRUNING_POINT = Buffer.alloc(32, 7);

if (isMainThread) await measureAll();
else await serve();

async function measureAll(): Promise<void> {
  const [millions = 5, toHash = 100_000] = process.argv.slice(2).map(Number);
  const repeats = (millions * 1e6) / (CHUNK * DIFFERENT_CHUNKS);
  const worker = new Worker(new URL(import.meta.url), { workerData: repeats });
  const [url] = (await once(worker, 'message')) as [string];

  let sample: UtxoChunk | undefined;
  await measure('reading and decoding', async () => {
    let count = 0;
    for await (const chunk of readUtxoSet({ url, network: 'simnet', pruningPointHash: PRUNING_POINT })) {
      sample ??= chunk;
      count += chunk.utxos.length;
    }
    return count;
  });
  await worker.terminate();
  if (sample === undefined) throw new Error('nothing was read');
  const { bytes, utxos } = sample;

  await measure('decoding', () => {
    for (let round = 0; round < DECODE_ROUNDS; round++) decodeUtxoChunk(bytes);
    return DECODE_ROUNDS * utxos.length;
  });
  await measure('hashing', () => {
    const muhash = new MuHash();
    for (let index = 0; index < toHash; index++) muhash.add(utxos[index % utxos.length] as Utxo);
    muhash.commitment();
    return toHash;
  });
}

/** On the worker: hands out a set as large as it is told. */
async function serve(): Promise<void> {
  const utxos = Array.from({ length: CHUNK * DIFFERENT_CHUNKS }, (_, index) => utxo(index));
  const { url } = await UtxoSetServer.start({
    network: 'simnet',
    set: () => ({ pruningPointHash: PRUNING_POINT, utxos }),
    repeats: workerData as number,
  });
  parentPort?.postMessage(url, []);
}

/** As most are: paid to a Schnorr key. */
function utxo(index: number): Utxo {
  return {
    outpoint: { transactionId: randomBytes(32), index: index % 3 },
    amount: BigInt(index) * 1_000_000_007n,
    scriptPublicKey: { version: 0, script: Buffer.concat([Buffer.of(0x20), randomBytes(32), Buffer.of(0xac)]) },
    blockDaaScore: 100_000_000n + BigInt(index),
    isCoinbase: index % 4 === 0,
    covenantId: undefined,
  };
}

/** `run` returns how many UTXOs it went through. */
async function measure(what: string, run: () => number | Promise<number>): Promise<void> {
  const start = performance.now();
  const count = await run();
  const seconds = (performance.now() - start) / 1000;
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6);
  console.log(
    `${what}: ${count} UTXOs in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second; ${megabytes} MB resident`,
  );
}
