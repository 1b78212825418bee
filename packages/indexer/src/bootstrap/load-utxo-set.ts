/**
 * Loads a UTXO set into `loaded_utxos` and checks its commitment. Nodes serve a set in one order,
 * so an interrupted load resumes.
 */
import { availableParallelism } from 'node:os';
import { copyRows, inTransaction, LOADED_UTXOS } from '@kasgres/database';
import {
  classifyScript,
  type Hash,
  MAX_SOMPI,
  MuHash,
  type Network,
  scriptToAddress,
  toHex,
  type Utxo,
} from '@kasgres/kaspa';
import {
  NodeProtocolError,
  NodeUnavailableError,
  NodeUnsuitableError,
  readUtxoSet,
  type RpcBlock,
} from '@kasgres/node';
import { type Logger, sleep } from '@kasgres/runtime';
import { WorkerPool } from '@kasgres/runtime/worker-pool';
import type { ClientBase } from 'pg';
import { IncompleteUpdateError } from '../errors.ts';
import type { BootstrapDependencies } from '../dependencies.ts';
import type { HashJob } from './utxo-set-hash.worker.ts';

/** Bounds on the content of one transaction; two of these are in memory at a time. */
const SEGMENT_UTXOS = 50_000;
const SEGMENT_BYTES = 32 * 1024 * 1024;
const PRODUCT_HEX_DIGITS = 768;
/** The largest value of a bigint column. */
const MAX_DAA_SCORE = 2n ** 63n - 1n;
const LINE_MS = 5_000;

type HasherPool = WorkerPool<HashJob, bigint>;

interface Load {
  utxos: number;
  sompi: bigint;
  muhash: MuHash;
}

interface Sum {
  sompi: bigint;
}

interface Segment {
  rows: ReturnType<typeof LOADED_UTXOS.createBuffer>;
  bytes: number;
  sompi: bigint;
  products: Promise<bigint>[];
}

/**
 * Reads a wrong set again, since a node that has just moved its pruning point serves a set in
 * transition.
 * @throws NodeUnsuitableError if it stays wrong
 */
export async function loadUtxoSet(dependencies: BootstrapDependencies, block: RpcBlock): Promise<void> {
  const { client, p2pUrl, timing, log, metrics, signal } = dependencies;
  for (const pauseMs of [...timing.rereadPausesMs, undefined]) {
    const utxos = await loadOnce(dependencies, block);
    if (utxos === undefined) return;
    await forgetUtxoSet(client);
    metrics.bootstrapUtxos.set(0);
    const wrong = `The UTXO set of ${p2pUrl} (${utxos} UTXOs) is not the one that the header of ${toHex(block.hash)} commits to.`;
    if (pauseMs === undefined) {
      throw new NodeUnsuitableError(
        'wrong-utxo-set',
        `${wrong} It was read ${timing.rereadPausesMs.length + 1} times while the pruning point stayed the same. Nothing of it was kept. Point NODE_P2P_URL at another node of the network, and start again.`,
      );
    }
    log.warn({ delayMs: pauseMs }, `${wrong} It is read again.`);
    await sleep(pauseMs, signal);
  }
}

async function loadOnce(dependencies: BootstrapDependencies, block: RpcBlock): Promise<number | undefined> {
  const { client, p2pUrl, log } = dependencies;
  const load = await resume(client, block.hash);
  const fields = { block: toHex(block.hash), daaScore: block.header.daaScore, from: p2pUrl };
  log.info({ ...fields, utxos: load.utxos }, load.utxos > 0 ? 'continues loading a UTXO set' : 'loads a UTXO set');
  const threads = Math.max(1, availableParallelism() - 1);
  const hasher: HasherPool = new WorkerPool(new URL('./utxo-set-hash.worker.ts', import.meta.url), threads);
  try {
    await readAll(dependencies, block, load, hasher);
  } catch (error) {
    // UTXOs that this node sent before are probably wrong, too, and would cost the next node a
    // second download.
    if (error instanceof NodeProtocolError) await forgetUtxoSet(client);
    if (!(error instanceof NodeUnavailableError)) throw error;
    throw new NodeUnavailableError(
      `the UTXO set of the pruning point comes over p2p, and ${error.message}. NODE_P2P_URL says which node to ask.`,
      { cause: error },
    );
  } finally {
    await hasher.close();
  }
  if (Buffer.compare(load.muhash.commitment(), block.header.utxoCommitment) !== 0) return load.utxos;
  log.info({ ...fields, utxos: load.utxos, sompi: load.sompi }, 'the UTXO set is the one that the header commits to');
  return undefined;
}

export async function forgetUtxoSet(client: ClientBase): Promise<void> {
  await client.query('truncate loaded_utxos, utxo_set_load');
}

async function resume(client: ClientBase, block: Hash): Promise<Load> {
  const { rows } = await client.query<{ block_hash: Buffer; utxos: bigint; sompi: string; product: Buffer }>(
    'select block_hash, utxos, sompi, product from utxo_set_load',
  );
  const row = rows[0];
  if (row !== undefined && Buffer.compare(row.block_hash, block) === 0) {
    const muhash = new MuHash(BigInt(`0x${row.product.toString('hex')}`));
    return { utxos: Number(row.utxos), sompi: BigInt(row.sompi), muhash };
  }
  await forgetUtxoSet(client);
  return { utxos: 0, sompi: 0n, muhash: new MuHash() };
}

/** Reads and hashes the next segment while one is being committed. */
async function readAll(
  { client, p2pUrl, network, log, metrics, signal }: BootstrapDependencies,
  block: RpcBlock,
  load: Load,
  hasher: HasherPool,
): Promise<void> {
  const progress = createLoadProgress(log, load.utxos);
  const set = { url: p2pUrl, network: network.id, pruningPointHash: block.hash, signal };
  const sum: Sum = { sompi: load.sompi };
  let toSkip = load.utxos;
  let segment = newSegment();
  let committing = Promise.resolve();
  const commit = async (): Promise<void> => {
    const full = segment;
    segment = newSegment();
    await committing;
    committing = commitSegment(client, block, load, full);
    // The rejection is handled where `committing` is awaited.
    committing.catch(() => undefined);
  };
  try {
    for await (const { bytes, utxos } of readUtxoSet(set)) {
      const skip = Math.min(toSkip, utxos.length);
      toSkip -= skip;
      if (skip < utxos.length) {
        // Transferring a view would transfer the whole buffer behind it.
        const copy = Uint8Array.from(bytes);
        const product = hasher.run({ bytes: copy, skip }, [copy.buffer]);
        product.catch(() => undefined);
        segment.products.push(product);
        for (const utxo of utxos.slice(skip)) writeUtxo(segment, utxo, network, sum);
        segment.bytes += bytes.length;
      }
      progress(load.utxos + segment.rows.rows, (utxos.at(-1) as Utxo).outpoint.transactionId);
      metrics.bootstrapUtxos.set(load.utxos);
      if (segment.rows.rows >= SEGMENT_UTXOS || segment.bytes >= SEGMENT_BYTES) await commit();
    }
    await commit();
  } finally {
    await committing;
  }
  metrics.bootstrapUtxos.set(load.utxos);
  if (toSkip > 0) {
    await forgetUtxoSet(client);
    throw new IncompleteUpdateError(`the UTXO set is ${toSkip} UTXOs shorter than its part that was loaded before`);
  }
}

function newSegment(): Segment {
  return { rows: LOADED_UTXOS.createBuffer(), bytes: 0, sompi: 0n, products: [] };
}

/**
 * Throws NodeProtocolError, so that a set that cannot be right does not fill the disk before its
 * commitment shows it.
 */
function writeUtxo(segment: Segment, utxo: Utxo, network: Network, sum: Sum): void {
  const { outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId } = utxo;
  sum.sompi += amount;
  if (sum.sompi > MAX_SOMPI || blockDaaScore > MAX_DAA_SCORE) {
    const name = `UTXO ${outpoint.index} of ${toHex(outpoint.transactionId)}`;
    throw new NodeProtocolError(
      `the UTXO set is impossible: up to ${name}, with DAA score ${blockDaaScore}, it has ${sum.sompi} sompi, and at most ${MAX_SOMPI} exist`,
    );
  }
  segment.rows.write({
    transaction_id: outpoint.transactionId,
    index: outpoint.index,
    amount,
    script_version: scriptPublicKey.version,
    script: scriptPublicKey.script,
    script_type: classifyScript(scriptPublicKey),
    address: scriptToAddress(scriptPublicKey, network.addressPrefix),
    block_daa_score: blockDaaScore,
    is_coinbase: isCoinbase,
    covenant_id: covenantId,
  });
  segment.sompi += amount;
}

async function commitSegment(client: ClientBase, block: RpcBlock, load: Load, segment: Segment): Promise<void> {
  const utxos = load.utxos + segment.rows.rows;
  const sompi = load.sompi + segment.sompi;
  await inTransaction(client, async () => {
    await copyRows(client, segment.rows);
    for (const product of await Promise.all(segment.products)) load.muhash.combine(new MuHash(product));
    await client.query(
      `insert into utxo_set_load (block_hash, utxos, sompi, product) values ($1, $2, $3, $4)
       on conflict (one_row) do update
         set utxos = excluded.utxos, sompi = excluded.sompi, product = excluded.product`,
      [Buffer.from(block.hash), utxos, sompi, bytesOf(load.muhash)],
    );
  });
  load.utxos = utxos;
  load.sompi = sompi;
}

/** A product may slightly exceed 3072 bits until it is finalized. */
function bytesOf({ product }: MuHash): Buffer {
  const digits = product.toString(16);
  return Buffer.from(digits.padStart(Math.max(PRODUCT_HEX_DIGITS, digits.length + (digits.length % 2)), '0'), 'hex');
}

export function createLoadProgress(log: Logger, utxosBefore: number, startedAt = performance.now()) {
  let lastLine = startedAt;
  let firstFraction: number | undefined;
  /**
   * @param transactionId of the last UTXO: ids are uniformly distributed and nodes serve UTXOs in
   * their order
   */
  return (utxos: number, transactionId: Hash, now = performance.now()): void => {
    const fraction = Buffer.from(transactionId.buffer, transactionId.byteOffset, 4).readUInt32BE() / 2 ** 32;
    firstFraction ??= fraction;
    if (now - lastLine < LINE_MS) return;
    lastLine = now;
    const seconds = (now - startedAt) / 1_000;
    const done = fraction - firstFraction;
    const percent = Math.floor(fraction * 100);
    const utxosPerSecond = Math.round((utxos - utxosBefore) / seconds);
    const secondsLeft = done > 0 ? Math.ceil((seconds * (1 - fraction)) / done) : null;
    log.info({ percent, utxos, utxosPerSecond, secondsLeft }, 'loads a UTXO set');
  };
}
