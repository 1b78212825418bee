/** Requests the chain beyond a position, and finds the reason if the node does not know the position or is below it. */
import { fromHex, type Hash, type Header, type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, NodeUnsuitableError, type VirtualChainResponse } from '@kasgres/node';
import type { Position } from '../chain-update.ts';
import { IncompleteUpdateError, NodeBehindError } from '../errors.ts';
import type { OwnChain } from '../indexed-chain.ts';

const REMEDY =
  "Point NODE_URL at a node that has it, set ON_GAP=record to continue at the node's pruning point with a gap on record, or start with an empty database.";

export interface ChainResponse {
  removed: Hash[];
  added: Hash[];
  /** The concatenated ids that each of `added` accepts; separate arrays would take four times the memory. */
  accepted: Uint8Array[];
  targetBlueScore: bigint;
}

export interface ChainStep extends ChainResponse {
  /** The chain block below `removed`; the position itself if it is empty. */
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

  /** @throws NodeRpcError if the node does not know the block */
  async ask(start: Hash, signal: AbortSignal): Promise<ChainResponse> {
    const request = { startHash: start, includeAcceptedTransactionIds: true };
    const [response, { blueScore }] = await Promise.all([
      this.#client.getVirtualChainFromBlock(request, { signal, stream: 0 }),
      this.#client.call('getSinkBlueScore', {}, { signal, stream: 0 }),
    ]);
    return { ...chainOf(response), targetBlueScore: blueScore };
  }

  /**
   * Requests the chain blocks to remove and to add from a position.
   * @param isCheckpoint whether the database has exactly the chain below the position
   * @throws NodeBehindError; NodeUnsuitableError if the node has pruned our chain, or left it below finality
   */
  async askStep(position: Position, isCheckpoint: boolean, signal: AbortSignal): Promise<ChainStep> {
    const step = await this.#askFrom(position, signal).catch((error: unknown) => {
      if (!isUnknownBlock(error)) throw error;
      if (isCheckpoint) return this.#askFromBelow(position, error, signal);
      throw new IncompleteUpdateError(
        `the node no longer knows block ${toHex(position.hash)}, which it returned before (${error.message})`,
      );
    });
    const depth = position.blueScore - step.fork.blueScore;
    if (depth > this.#network.finalityDepth) {
      throw new NodeUnsuitableError(
        'other-chain',
        `The node asks for a reorg ${depth} blue blocks deep, below finality (${this.#network.finalityDepth}). ` +
          `It follows another chain than this database. ${REMEDY}`,
      );
    }
    return step;
  }

  /** @param position a block that the node knows */
  async #askFrom(position: Position, signal: AbortSignal): Promise<ChainStep> {
    const chain = await this.ask(position.hash, signal);
    if (chain.removed.length === 0) return { ...chain, fork: position };
    if (chain.targetBlueScore < position.blueScore) await this.#checkNotBehind(position, signal);
    const lowest = await this.#getHeader(chain.removed.at(-1) as Hash, signal);
    return { ...chain, fork: { hash: lowest.selectedParentHash, blueScore: lowest.header.blueScore } };
  }

  /** The blocks above never reached the node: it was reset, lost its last blocks in a crash, or is not the node that they came from. */
  async #askFromBelow(checkpoint: Position, error: NodeRpcError, signal: AbortSignal): Promise<ChainStep> {
    const [sink, { blueWork }] = [await this.#getSink(signal), await this.#ownChain.find(0)];
    if (sink.blueWork < blueWork) {
      throw new NodeBehindError(
        `The node is behind this database: it is at blue score ${sink.blueScore}, and does not know block ${toHex(checkpoint.hash)} ` +
          `at ${checkpoint.blueScore} yet (${error.message}).`,
      );
    }
    // Below a pruned block the node has pruned everything.
    const depth = error.kind === 'pruned' ? undefined : await this.#findKnown(checkpoint, signal);
    if (depth === undefined) throw unsuitable(checkpoint, error);
    try {
      const step = await this.#askFrom(await this.#ownChain.find(depth), signal);
      return { ...step, removed: [...(await this.#ownChain.top(depth)), ...step.removed] };
    } catch (failure) {
      throw isUnknownBlock(failure) ? unsuitable(checkpoint, failure) : failure;
    }
  }

  /** Returns the depth of the highest block that the node knows; undefined if it knows none down to finality. */
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
   * A syncing node has headers first: it knows the position, and returns all blocks down to its sink as removed. A node with the block itself
   * has a sink with at least its work.
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
    `The node no longer knows block ${toHex(checkpoint.hash)}, up to which this database is indexed (${error.message}). ` +
      `It has pruned it, was reset, or is on another branch. ${REMEDY}`,
  );
}

function chainOf(response: VirtualChainResponse): Omit<ChainResponse, 'targetBlueScore'> {
  const added = response.addedChainBlockHashes;
  const accepted = response.acceptedTransactionIds.map((entry, index) => {
    if (Buffer.compare(entry.acceptingBlockHash, added[index] ?? Buffer.alloc(0)) !== 0) {
      throw new IncompleteUpdateError(`accepted ids of ${toHex(entry.acceptingBlockHash)} are out of order`);
    }
    return Buffer.concat(entry.acceptedTransactionIds);
  });
  if (accepted.length !== added.length) {
    throw new IncompleteUpdateError(
      `${added.length} chain blocks were added but ${accepted.length} lists of accepted ids came`,
    );
  }
  return { removed: response.removedChainBlockHashes, added, accepted };
}

/** Returns the least of 1 to `max` that satisfies a condition which all greater numbers satisfy, too, or undefined. */
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
