/**
 * Asks the node what its virtual chain has beyond a position, and finds out what is the matter when it does not know the position,
 * or is below it: it may be behind, have lost or never got our last blocks, or have another chain.
 */
import { fromHex, type Hash, type Header, type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, NodeUnsuitableError, type VirtualChainResponse } from '@kasgres/node';
import type { Position } from '../chain-update.ts';
import { IncompleteUpdateError, NodeBehindError } from '../errors.ts';
import type { OwnChain } from './own-chain.ts';

const WHAT_TO_DO =
  "Point NODE_URL at a node that has it, set ON_GAP=record to go on at the node's pruning point with a gap on record, or start with an empty database.";

export interface ChainResponse {
  removed: Hash[];
  added: Hash[];
  /** For each of `added`, the ids that it accepts, one after the other: as arrays of their own they would take four times the memory. */
  accepted: Uint8Array[];
  targetBlueScore: bigint;
}

export interface ChainStep extends ChainResponse {
  /** Where `removed` leads to; the position itself when it is empty. */
  fork: Position;
}

export class ChainRequests {
  readonly #client: NodeClient;
  readonly #network: Network;
  readonly #ownChain: OwnChain;

  constructor(client: NodeClient, network: Network, ownChain: OwnChain) {
    this.#client = client;
    this.#network = network;
    this.#ownChain = ownChain;
  }

  /** @throws NodeRpcError when the node does not know the block, among others */
  async ask(start: Hash, signal: AbortSignal): Promise<ChainResponse> {
    const request = { startHash: start, includeAcceptedTransactionIds: true };
    const [answer, { blueScore }] = await Promise.all([
      this.#client.getVirtualChainFromBlock(request, { signal, stream: 0 }),
      this.#client.call('getSinkBlueScore', {}, { signal, stream: 0 }),
    ]);
    return { ...chainOf(answer), targetBlueScore: blueScore };
  }

  /**
   * What to undo and to add from a position on.
   * @param isCheckpoint nothing was handed on yet, so the database shows what is below the position
   * @throws NodeBehindError; NodeUnsuitableError when it has not our chain any more, or one that leaves ours below finality
   */
  async askStep(position: Position, isCheckpoint: boolean, signal: AbortSignal): Promise<ChainStep> {
    const step = await this.#askFrom(position, signal).catch((error: unknown) => {
      if (!isUnknownBlock(error)) throw error;
      if (isCheckpoint) return this.#askFromBelow(position, error, signal);
      throw new IncompleteUpdateError(
        `the node does not know block ${toHex(position.hash)} any more, of which it has just told (${error.message})`,
      );
    });
    const depth = position.blueScore - step.fork.blueScore;
    if (depth > this.#network.finalityDepth) {
      throw new NodeUnsuitableError(
        'other-chain',
        `The node asks for a reorg ${depth} blue blocks deep, below finality (${this.#network.finalityDepth}). ` +
          `It follows another chain than this database. ${WHAT_TO_DO}`,
      );
    }
    return step;
  }

  /** From a block that the node knows. */
  async #askFrom(position: Position, signal: AbortSignal): Promise<ChainStep> {
    const chain = await this.ask(position.hash, signal);
    if (chain.removed.length === 0) return { ...chain, fork: position };
    if (chain.targetBlueScore < position.blueScore) await this.#checkNotBehind(position, signal);
    const lowest = await this.#getHeader(chain.removed.at(-1) as Hash, signal);
    return { ...chain, fork: { hash: lowest.selectedParentHash, blueScore: lowest.header.blueScore } };
  }

  /**
   * Where the node does not know the checkpoint: from the highest of our blocks that it knows. The ones above never reached it: it
   * was wiped and synced again, lost its last blocks in a crash, or is another one than they came from.
   */
  async #askFromBelow(checkpoint: Position, error: NodeRpcError, signal: AbortSignal): Promise<ChainStep> {
    const [sink, { blueWork }] = [await this.#getSink(signal), await this.#ownChain.find(0)];
    if (sink.blueWork < blueWork) {
      throw new NodeBehindError(
        `The node is behind this database: it is at blue score ${sink.blueScore}, and does not know block ${toHex(checkpoint.hash)} ` +
          `at ${checkpoint.blueScore} yet (${error.message}).`,
      );
    }
    // What it has pruned is below its chain's beginning, and so is everything below.
    const depth = error.kind === 'pruned' ? undefined : await this.#findKnown(checkpoint, signal);
    if (depth === undefined) throw unsuitable(checkpoint, error);
    try {
      const step = await this.#askFrom(await this.#ownChain.find(depth), signal);
      return { ...step, removed: [...(await this.#ownChain.top(depth)), ...step.removed] };
    } catch (failure) {
      throw isUnknownBlock(failure) ? unsuitable(checkpoint, failure) : failure;
    }
  }

  /** How far below the checkpoint the highest block is that the node knows; undefined: it knows none down to finality. */
  async #findKnown(checkpoint: Position, signal: AbortSignal): Promise<number | undefined> {
    const final = checkpoint.blueScore - this.#network.finalityDepth;
    const depth = await findLeast(await this.#ownChain.depth(), async (candidate) => {
      const { hash, blueScore } = await this.#ownChain.find(candidate);
      return blueScore < final || (await this.#knows(hash, signal));
    });
    if (depth === undefined) return undefined;
    return (await this.#ownChain.find(depth)).blueScore < final ? undefined : depth;
  }

  async #knows(hash: Hash, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#getHeader(hash, signal);
      return true;
    } catch (error) {
      if (error instanceof NodeRpcError && error.kind === 'unknown-block') return false;
      throw error;
    }
  }

  /**
   * A node that syncs has the headers first: it knows the position, and names everything down to its sink as removed. Whoever has
   * the position's body too has a sink with no less work.
   */
  async #checkNotBehind(position: Position, signal: AbortSignal): Promise<void> {
    const sink = await this.#getSink(signal);
    const { header } = await this.#getHeader(position.hash, signal);
    if (sink.blueWork >= header.blueWork) return;
    throw new NodeBehindError(
      `The node is behind this database: it is at blue score ${sink.blueScore}, and has no more than the header of block ` +
        `${toHex(position.hash)} at ${position.blueScore} yet.`,
    );
  }

  async #getSink(signal: AbortSignal): Promise<Header> {
    const { sink } = await this.#client.call('getSink', {}, { signal, stream: 0 });
    return (await this.#getHeader(fromHex(sink), signal)).header;
  }

  #getHeader(hash: Hash, signal: AbortSignal): Promise<{ header: Header; selectedParentHash: Hash }> {
    return this.#client.getBlock({ hash, includeTransactions: false }, { signal, stream: 0 });
  }
}

function isUnknownBlock(error: unknown): error is NodeRpcError {
  return error instanceof NodeRpcError && (error.kind === 'unknown-block' || error.kind === 'pruned');
}

function unsuitable(checkpoint: Position, error: NodeRpcError): NodeUnsuitableError {
  return new NodeUnsuitableError(
    error.kind === 'pruned' ? 'pruned' : 'other-chain',
    `The node does not know block ${toHex(checkpoint.hash)} any more, up to which this database is indexed (${error.message}). ` +
      `It has pruned it, was reset, or is on another branch. ${WHAT_TO_DO}`,
  );
}

function chainOf(answer: VirtualChainResponse): Omit<ChainResponse, 'targetBlueScore'> {
  const added = answer.addedChainBlockHashes;
  const accepted = answer.acceptedTransactionIds.map((entry, place) => {
    if (Buffer.compare(entry.acceptingBlockHash, added[place] ?? Buffer.alloc(0)) !== 0) {
      throw new IncompleteUpdateError(`accepted ids of ${toHex(entry.acceptingBlockHash)} are out of place`);
    }
    return Buffer.concat(entry.acceptedTransactionIds);
  });
  if (accepted.length !== added.length) {
    throw new IncompleteUpdateError(
      `${added.length} chain blocks were added but ${accepted.length} lists of accepted ids came`,
    );
  }
  return { removed: answer.removedChainBlockHashes, added, accepted };
}

/**
 * @param holds once it holds, it does for all that is greater
 * @returns the least of 1 to `max` for which it holds; undefined: none
 */
export async function findLeast(
  max: number,
  holds: (candidate: number) => Promise<boolean>,
): Promise<number | undefined> {
  if (max < 1) return undefined;
  let below = 0;
  let found = 1;
  while (!(await holds(found))) {
    if (found === max) return undefined;
    below = found;
    found = Math.min(2 * found, max);
  }
  while (found - below > 1) {
    const middle = Math.floor((below + found) / 2);
    if (await holds(middle)) found = middle;
    else below = middle;
  }
  return found;
}
