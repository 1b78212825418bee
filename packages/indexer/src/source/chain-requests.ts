/**
 * Requests the chain beyond a position, and finds the reason if the node does not know the position
 * or is below it.
 */
import { fromHex, type Hash, type Header, type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, NodeUnsuitableError, type VirtualChainResponse } from '@kasgres/node';
import type { Position } from '../chain-update.ts';
import { IncompleteUpdateError, NodeBehindError } from '../errors.ts';
import type { OwnChain } from '../indexed-chain.ts';
import { RecentBlocks } from './recent-blocks.ts';

const REMEDY =
  "Point NODE_URL at a node that has it, set ON_GAP=record to continue at the node's pruning point with a gap on record, or start with an empty database.";

/** The range of signed 64-bit columns. */
const MAX_BLUE_SCORE = 2n ** 63n - 1n;

export interface ChainResponse {
  removed: Hash[];
  added: Hash[];
  /**
   * The concatenated ids that each of `added` accepts; separate arrays would take four times the
   * memory.
   */
  accepted: Uint8Array[];
  targetBlueScore: bigint;
}

export interface ChainStep extends ChainResponse {
  fork: Position;
}

export interface ChainRequestDependencies {
  node: NodeClient;
  network: Network;
  /** Read only if the node does not know the position. */
  ownChain: OwnChain;
  signal: AbortSignal;
}

export class ChainRequests {
  readonly #dependencies: ChainRequestDependencies;
  readonly #options: { signal: AbortSignal; stream: number };
  readonly #recent: Pick<RecentBlocks, 'find'>;

  /** @param recent blocks that need not be requested */
  constructor(dependencies: ChainRequestDependencies, recent: Pick<RecentBlocks, 'find'> = new RecentBlocks()) {
    this.#dependencies = dependencies;
    this.#recent = recent;
    this.#options = { signal: dependencies.signal, stream: 0 };
  }

  async request(start: Hash): Promise<ChainResponse> {
    const request = { startHash: start, includeAcceptedTransactionIds: true };
    const { node } = this.#dependencies;
    const [response, { blueScore }] = await Promise.all([
      node.getVirtualChainFromBlock(request, this.#options),
      node.call('getSinkBlueScore', {}, this.#options),
    ]);
    if (blueScore > MAX_BLUE_SCORE)
      throw new IncompleteUpdateError(`the blue score ${blueScore} of the sink is out of range`);
    return { ...chainOf(response), targetBlueScore: blueScore };
  }

  /**
   * @param isCheckpoint whether the database has exactly the chain below the position
   * @throws NodeBehindError; NodeUnsuitableError
   */
  async requestStep(position: Position, isCheckpoint: boolean): Promise<ChainStep> {
    const step = await this.#requestFrom(position).catch((error: unknown) => {
      if (!isUnknownBlock(error)) throw error;
      if (isCheckpoint) return this.#requestFromBelow(position, error);
      throw new IncompleteUpdateError(
        `the node no longer knows block ${toHex(position.hash)}, which it returned before (${error.message})`,
      );
    });
    const depth = position.blueScore - step.fork.blueScore;
    const { finalityDepth } = this.#dependencies.network;
    if (depth > finalityDepth) {
      throw new NodeUnsuitableError(
        'other-chain',
        `The node asks for a reorg ${depth} blue blocks deep, below finality (${finalityDepth}). ` +
          `It follows another chain than this database. ${REMEDY}`,
      );
    }
    return step;
  }

  async #requestFrom(position: Position): Promise<ChainStep> {
    const chain = await this.request(position.hash);
    if (chain.removed.length === 0) return { ...chain, fork: position };
    if (chain.targetBlueScore < position.blueScore) await this.#checkNotBehind(position);
    const hash = chain.removed.at(-1) as Hash;
    const lowestRemoved = this.#recent.find(hash) ?? (await this.#getHeader(hash));
    return { ...chain, fork: { hash: lowestRemoved.selectedParentHash, blueScore: lowestRemoved.header.blueScore } };
  }

  /**
   * The blocks above never reached the node: it was reset, lost its last blocks in a crash, or is
   * not the node that they came from.
   */
  async #requestFromBelow(checkpoint: Position, error: NodeRpcError): Promise<ChainStep> {
    const { ownChain } = this.#dependencies;
    const [sink, { blueWork }] = [await this.#getSink(), await ownChain.find(0)];
    if (sink.blueWork < blueWork) {
      throw new NodeBehindError(
        `The node is behind this database: it is at blue score ${sink.blueScore}, and does not know block ${toHex(checkpoint.hash)} ` +
          `at ${checkpoint.blueScore} yet (${error.message}).`,
      );
    }
    // Below a pruned block the node has pruned everything.
    const depth = error.kind === 'pruned' ? undefined : await this.#findKnown(checkpoint);
    if (depth === undefined) throw unsuitable(checkpoint, error);
    try {
      const step = await this.#requestFrom(await ownChain.find(depth));
      return { ...step, removed: [...(await ownChain.top(depth)), ...step.removed] };
    } catch (failure) {
      throw isUnknownBlock(failure) ? unsuitable(checkpoint, failure) : failure;
    }
  }

  /**
   * Returns the depth of the highest block that the node knows; undefined if it knows none down to
   * finality.
   */
  async #findKnown(checkpoint: Position): Promise<number | undefined> {
    const { ownChain, network } = this.#dependencies;
    const final = checkpoint.blueScore - network.finalityDepth;
    const depth = await findLeast(await ownChain.depth(), async (candidate) => {
      const { hash, blueScore } = await ownChain.find(candidate);
      if (blueScore < final) return true;
      const header = await this.#getHeader(hash).catch((error: unknown) => {
        if (!(error instanceof NodeRpcError) || error.kind !== 'unknown-block') throw error;
      });
      return header !== undefined;
    });
    if (depth === undefined) return undefined;
    return (await ownChain.find(depth)).blueScore < final ? undefined : depth;
  }

  /**
   * A syncing node has headers first: it knows the position, and returns all blocks down to its
   * sink as removed. A node with the block itself has a sink with at least its work.
   */
  async #checkNotBehind(position: Position): Promise<void> {
    const sink = await this.#getSink();
    const { header } = await this.#getHeader(position.hash);
    if (sink.blueWork >= header.blueWork) return;
    throw new NodeBehindError(
      `The node is behind this database: it is at blue score ${sink.blueScore}, and has no more than the header of block ` +
        `${toHex(position.hash)} at ${position.blueScore} yet.`,
    );
  }

  async #getSink(): Promise<Header> {
    const { sink } = await this.#dependencies.node.call('getSink', {}, this.#options);
    return (await this.#getHeader(fromHex(sink))).header;
  }

  #getHeader(hash: Hash): Promise<{ header: Header; selectedParentHash: Hash }> {
    return this.#dependencies.node.getBlock({ hash, includeTransactions: false }, this.#options);
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
  const { addedChainBlockHashes: added, removedChainBlockHashes: removed } = response;
  const names = new Set([...removed, ...added].map(toHex));
  if (names.size !== removed.length + added.length) {
    throw new IncompleteUpdateError("the node's response about the chain has a chain block twice");
  }
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
  return { removed, added, accepted };
}

/**
 * Returns the least of 1 to `max` that satisfies a condition which all greater numbers satisfy,
 * too, or undefined.
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
