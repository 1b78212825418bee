/**
 * The UTXO set of a node's pruning point, as any node hands it out to a peer, piece by piece. It is as good as the node's word:
 * the header of the pruning point commits to it (MuHash).
 */
import type { Hash, NetworkId, Utxo } from '@kasgres/kaspa';
import { decodeUtxoChunk } from './decode-utxo-chunk.ts';
import { PruningPointMovedError } from '../errors.ts';
import { Peer } from './peer.ts';

/** After so many chunks the node waits to be asked for more. */
const CHUNKS_AT_ONCE = 99;
/** What the node grants its own peers. */
const SILENCE_MS = 120_000;

export interface UtxoSetOptions {
  /** The node's p2p, not its RPC: `grpc://host:port`. */
  url: string;
  network: NetworkId;
  pruningPointHash: Hash;
  /** How long the node may send nothing at all before it is given up. */
  silenceMs?: number;
  signal?: AbortSignal | undefined;
}

export interface UtxoChunk {
  /** The chunk as it came, for `decodeUtxoChunk` on another thread. */
  bytes: Uint8Array;
  /** Views of `bytes`. */
  utxos: Utxo[];
}

/**
 * The whole set, or an error: NodeUnavailableError, NodeProtocolError, NodeUnsuitableError (of another network),
 * PruningPointMovedError, PeerRejectedError, or the signal's reason. Who takes the chunks slowly slows the node; one that takes
 * more than two minutes for 99 of them is given up by it.
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
        throw new PruningPointMovedError(`the node at ${url} has another pruning point by now`);
      }
      if (payload.case !== 'pruningPointUtxoSetChunk') continue;
      const bytes = payload.chunk;
      const utxos = decodeUtxoChunk(bytes);
      // The last piece of a set that fills the pieces before it is empty.
      if (utxos.length > 0) yield { bytes, utxos };
      chunks += 1;
      if (chunks % CHUNKS_AT_ONCE === 0) peer.send({ case: 'requestNextPruningPointUtxoSetChunk', value: {} });
    }
  } finally {
    peer.close();
  }
}
