/**
 * Real reorganisations of a chosen depth. A second node, not connected to the first, gets the same
 * blocks. Both mine, the second one more, and its branch is submitted to the first. The branches
 * share some payments in another order, and some payments conflict.
 */
import { NodeClient, NodeRpcError, type protocol } from '@kasgres/node';
import { Kaspad } from '../../support/kaspad.ts';
import type { Load } from './load.ts';
import { Mining } from './miner.ts';
import type { Payment } from './payment.ts';

const PAYMENTS_PER_BLOCK = 2;
const MAX_PAYMENTS = 80;

export class SecondNode {
  readonly #first: NodeClient;
  readonly #second: NodeClient;
  readonly #kaspad: Kaspad;
  readonly #load: Load;
  readonly #mining: Mining;
  /** A block that both nodes have, with its past. */
  #common = '';

  private constructor(first: NodeClient, second: NodeClient, kaspad: Kaspad, load: Load) {
    this.#first = first;
    this.#second = second;
    this.#kaspad = kaspad;
    this.#load = load;
    this.#mining = new Mining(second, load.random, load.wallet, load.keys);
  }

  static async start(first: NodeClient, load: Load): Promise<SecondNode> {
    const kaspad = await Kaspad.start();
    return new SecondNode(first, new NodeClient({ url: kaspad.url }), kaspad, load);
  }

  get refusals(): readonly string[] {
    return this.#kaspad.refusals;
  }

  /**
   * Removes `depth` blocks from the first node's chain. Returns how many it removed.
   * @param beforeReorg runs while the first node knows only its own branch
   */
  async reorganise(depth: number, beforeReorg?: () => Promise<void>): Promise<number> {
    const fork = await this.#agree();
    const payments = this.#load.takePayments(Math.min(MAX_PAYMENTS, depth * PAYMENTS_PER_BLOCK));
    await mineChain(this.#first, this.#load.mining, fork, depth, payments);
    const ahead = (await blueScore(this.#first)) - (await blueScore(this.#second)) + 2n;
    const otherPayments = payments.flatMap((payment) => this.#otherVersion(payment)).reverse();
    await mineChain(this.#second, this.#mining, fork, Number(ahead), otherPayments);
    await beforeReorg?.();

    return await moveToBranch(this.#first, this.#second, fork);
  }

  /**
   * Gives the first node a branch too short to reorganise its chain, so that several blocks in a
   * row stay unmerged.
   */
  async branchOff(length: number): Promise<void> {
    const fork = await this.#agree();
    const payments = this.#load.takePayments(length * PAYMENTS_PER_BLOCK * 2);
    await mineChain(this.#first, this.#load.mining, fork, length + 2, payments.slice(0, payments.length / 2));
    await mineChain(this.#second, this.#mining, fork, length, payments.slice(payments.length / 2));
    await copyBlocks(this.#second, this.#first, fork);
  }

  async stop(): Promise<void> {
    await this.#second.close();
    await this.#kaspad.stop();
  }

  /** Gives the second node all blocks of the first. Returns their sink, above which both mine. */
  async #agree(): Promise<string> {
    await this.#load.settle();
    this.#common = await copyBlocks(this.#first, this.#second, this.#common);
    const { sink } = await this.#second.call('getSink', {});
    if (sink !== this.#common) throw new Error('the nodes do not agree before the fork');
    return sink;
  }

  #otherVersion(payment: Payment): Payment[] {
    switch (this.#load.random.weighted([40, 25, 35])) {
      case 0:
        return [payment];
      case 1:
        return [this.#load.traffic.conflictOf(payment)];
      default:
        return [];
    }
  }
}

/**
 * Mines until the chain above the fork has this length, with the payments spread over the first
 * blocks.
 */
async function mineChain(
  node: NodeClient,
  mining: Mining,
  fork: string,
  length: number,
  payments: readonly Payment[],
): Promise<void> {
  const left = [...payments];
  const perBlock = Math.ceil(payments.length / length);
  while ((await chainAbove(node, fork)) < length) {
    const templates = await mining.templates(1);
    const share = left.splice(0, perBlock);
    await mining.submit(templates.map((template) => mining.make(template, share)));
  }
}

/**
 * Gives the node the branch of another one above the fork, which has more work. Returns how many
 * blocks that removes from its chain.
 */
export async function moveToBranch(node: NodeClient, other: NodeClient, fork: string): Promise<number> {
  const { sink } = await node.call('getSink', {});
  await copyBlocks(other, node, fork);
  const request = { startHash: sink, includeAcceptedTransactionIds: false };
  return (await node.call('getVirtualChainFromBlock', request)).removedChainBlockHashes.length;
}

/** Returns the number of blocks of the node's chain above this one. */
export async function chainAbove(node: NodeClient, fork: string): Promise<number> {
  const request = { startHash: fork, includeAcceptedTransactionIds: false };
  return (await node.call('getVirtualChainFromBlock', request)).addedChainBlockHashes.length;
}

async function blueScore(node: NodeClient): Promise<bigint> {
  return (await node.call('getSinkBlueScore', {})).blueScore;
}

/**
 * Submits all blocks above `lowHash` of one node to the other.
 * @returns the sink of the node that has them
 */
export async function copyBlocks(from: NodeClient, to: NodeClient, lowHash: string): Promise<string> {
  const blocks = new Map<string, protocol.Block>();
  const { sink } = await from.call('getSink', {});
  let next = lowHash;
  while (!blocks.has(sink)) {
    const page = await from.call('getBlocks', { lowHash: next, includeBlocks: true, includeTransactions: true });
    for (const [index, hash] of page.blockHashes.entries()) {
      const block = page.blocks[index];
      if (block !== undefined) blocks.set(hash, block);
    }
    next = page.blockHashes.at(-1) ?? sink;
  }
  let left = [...blocks.values()].filter(({ header }) => header !== undefined && header.parents.length > 0);
  while (left.length > 0) {
    const rejected: protocol.Block[] = [];
    // The node rejects blocks while its queue is full, and a block whose parents it does not know
    // yet.
    for (const block of left) if (!(await isAccepted(to, block))) rejected.push(block);
    if (rejected.length === left.length) throw new Error(`${left.length} blocks were rejected`);
    left = rejected;
  }
  return sink;
}

async function isAccepted(node: NodeClient, block: protocol.Block): Promise<boolean> {
  try {
    return (await node.call('submitBlock', { block, allowNonDAABlocks: true })).rejectReason === 0;
  } catch (error) {
    if (error instanceof NodeRpcError) return false;
    throw error;
  }
}
