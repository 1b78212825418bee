/**
 * Downloads the UTXO set of a node's pruning point over p2p. The caller must verify it: the header
 * of the pruning point commits to it (MuHash).
 */
import type { Hash, NetworkId, Utxo } from '@kasgres/kaspa';
import { decodeUtxoChunk } from './decode-utxo-chunk.ts';
import { NodeProtocolError, NodeUnavailableError, PruningPointMovedError } from '../errors.ts';
import { Peer } from './peer.ts';

/** After this number of chunks the node waits for a request. */
const CHUNKS_PER_REQUEST = 99;
/** The node's own limit for its peers. */
const SILENCE_MS = 120_000;
/** As many as a chunk of a node has; half a second's worth on slow cores. */
const UTXOS_OF_PROGRESS = 1_000;
/**
 * On the public networks a pruning point moves after twelve hours, and its UTXO set is no longer
 * served.
 */
const DEADLINE_MS = 12 * 3_600_000;
/** Ten times what a large set of today has. */
const MAX_UTXOS = 500_000_000;
/** Most UTXOs take about a hundred bytes. */
const MAX_BYTES_PER_UTXO = 300;
/** For sets so small that a few UTXOs may have long scripts. */
const SPARE_BYTES = 256 * 1024 * 1024;

export interface UtxoSetOptions {
  /** `grpc://host:port` of the node's p2p, not its RPC. */
  url: string;
  network: NetworkId;
  pruningPointHash: Hash;
  /**
   * How long the node may take for a thousand UTXOs, and to say that the set is complete, before
   * the download fails.
   */
  silenceMs?: number;
  /** How long the whole download may take. */
  deadlineMs?: number;
  /** The number of UTXOs that are taken for a whole set. */
  maxUtxos?: number;
  signal?: AbortSignal | undefined;
}

export interface UtxoChunk {
  /** The encoded chunk, for `decodeUtxoChunk` on another thread. */
  bytes: Uint8Array;
  /** Views of `bytes`. */
  utxos: Utxo[];
}

/**
 * Only UTXOs are progress, and their number, their bytes and the whole time are bounded. Yields the
 * whole set, or throws NodeUnavailableError, NodeProtocolError, NodeUnsuitableError (for another
 * network), PruningPointMovedError, PeerRejectedError, or the signal's reason. A slow consumer
 * slows the node, which disconnects one that takes more than two minutes for 99 chunks.
 */
export async function* readUtxoSet(options: UtxoSetOptions): AsyncGenerator<UtxoChunk, void, undefined> {
  const { url, network, pruningPointHash, silenceMs = SILENCE_MS, deadlineMs = DEADLINE_MS, signal } = options;
  const peer = new Peer({ url, silenceMs, signal });
  const timer = setTimeout(
    () => peer.close(new NodeUnavailableError(`the node at ${url} did not send its UTXO set within ${deadlineMs} ms`)),
    deadlineMs,
  );
  const counter = new SetCounter(options);
  try {
    await peer.greet(network);
    peer.send({ case: 'requestPruningPointUtxoSet', value: { pruningPointHash: { bytes: pruningPointHash } } });
    for (let chunks = 0; ; ) {
      const payload = await peer.next();
      if (payload.case === 'donePruningPointUtxoSetChunks') return;
      if (payload.case === 'unexpectedPruningPoint') {
        throw new PruningPointMovedError(`the node at ${url} has another pruning point now`);
      }
      if (payload.case !== 'pruningPointUtxoSetChunk') continue;
      const bytes = payload.chunk;
      const utxos = decodeUtxoChunk(bytes);
      if (counter.count(utxos.length, bytes.length)) peer.progressed();
      if (utxos.length > 0) yield { bytes, utxos };
      chunks += 1;
      if (chunks % CHUNKS_PER_REQUEST === 0) peer.send({ case: 'requestNextPruningPointUtxoSetChunk', value: {} });
    }
  } finally {
    clearTimeout(timer);
    peer.close();
  }
}

class SetCounter {
  readonly #url: string;
  readonly #maxUtxos: number;
  #utxos = 0;
  #bytes = 0;
  #utxosAtProgress = 0;
  #hasEnded = false;

  constructor({ url, maxUtxos = MAX_UTXOS }: Pick<UtxoSetOptions, 'url' | 'maxUtxos'>) {
    this.#url = url;
    this.#maxUtxos = maxUtxos;
  }

  /** Returns whether there was progress since this last returned true. Throws NodeProtocolError. */
  count(utxos: number, bytes: number): boolean {
    if (this.#hasEnded) throw new NodeProtocolError(`the node at ${this.#url} sent a chunk after an empty one`);
    // If the UTXOs fill the chunks exactly, the last chunk is empty.
    this.#hasEnded = utxos === 0;
    this.#utxos += utxos;
    this.#bytes += bytes;
    if (this.#utxos > this.#maxUtxos) {
      throw new NodeProtocolError(`the UTXO set of the node at ${this.#url} has more than ${this.#maxUtxos} UTXOs`);
    }
    if (this.#bytes > SPARE_BYTES + this.#utxos * MAX_BYTES_PER_UTXO) {
      throw new NodeProtocolError(
        `the UTXO set of the node at ${this.#url} has ${this.#bytes} bytes for ${this.#utxos} UTXOs`,
      );
    }
    if (this.#utxos - this.#utxosAtProgress < UTXOS_OF_PROGRESS) return false;
    this.#utxosAtProgress = this.#utxos;
    return true;
  }
}
