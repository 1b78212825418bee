/**
 * Downloads the UTXO set of a node's pruning point over p2p. The caller must verify it: the header of the pruning point commits to it
 * (MuHash).
 */
import type { Hash, NetworkId, Utxo } from '@kasgres/kaspa';
import { decodeUtxoChunk } from './decode-utxo-chunk.ts';
import { PruningPointMovedError } from '../errors.ts';
import { Peer } from './peer.ts';

/** After this number of chunks the node waits for a request. */
const CHUNKS_PER_REQUEST = 99;
/** The node's own limit for its peers. */
const SILENCE_MS = 120_000;

export interface UtxoSetOptions {
  /** `grpc://host:port` of the node's p2p, not its RPC. */
  url: string;
  network: NetworkId;
  pruningPointHash: Hash;
  /** How long the node may send nothing before the download fails. */
  silenceMs?: number;
  signal?: AbortSignal | undefined;
}

export interface UtxoChunk {
  /** The encoded chunk, for `decodeUtxoChunk` on another thread. */
  bytes: Uint8Array;
  /** Views of `bytes`. */
  utxos: Utxo[];
}

/**
 * Yields the whole set, or throws NodeUnavailableError, NodeProtocolError, NodeUnsuitableError (for another network),
 * PruningPointMovedError, PeerRejectedError, or the signal's reason. A slow consumer slows the node, which disconnects one that takes more
 * than two minutes for 99 chunks.
 */
export async function* readUtxoSet(options: UtxoSetOptions): AsyncGenerator<UtxoChunk, void, undefined> {
  const { url, network, pruningPointHash, silenceMs = SILENCE_MS, signal } = options;
  const peer = new Peer({ url, silenceMs, signal });
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
      // If the UTXOs fill the chunks exactly, the last chunk is empty.
      if (utxos.length > 0) yield { bytes, utxos };
      chunks += 1;
      if (chunks % CHUNKS_PER_REQUEST === 0) peer.send({ case: 'requestNextPruningPointUtxoSetChunk', value: {} });
    }
  } finally {
    peer.close();
  }
}
