/**
 * The network around a simulated node: people who pay, miners who hear of blocks late, partitions. Every step is determined by the seed, the
 * number of blocks, and the given times.
 */
import { fromHex, type Hash } from '@kasgres/kaspa';
import type { NodeEvent } from '../../dag/node-state.ts';
import { buildTransaction, withDerived } from '../../economy/build-transaction.ts';
import { Keyring } from '../../economy/keyring.ts';
import type { SimulationOptions } from '../../economy/options.ts';
import { Payments } from '../../economy/payments.ts';
import { type Label, Random } from '../../economy/random.ts';
import type { UtxoEntry } from '../../economy/utxo.ts';
import { type Ledger, Wallet } from '../../economy/wallet.ts';
import type { Block } from '../consensus/block.ts';
import type { Virtual } from '../consensus/consensus.ts';
import { isDagAncestorOfAny } from '../consensus/reachability.ts';
import { Mining } from './mining.ts';
import { mineBranch } from './partition.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';

/** Blocks between two reloads of the wallet, which find UTXOs that it lost in reorganisations. */
const RELOAD_EVERY = 5_000;

/** The share of variants with broken signatures. */
const BROKEN_RATE = 0.5;

export class Simulation {
  readonly keyring: Keyring;
  private readonly node: SimulatedNode;
  private readonly options: SimulationOptions;
  private readonly wallet: Wallet;
  private readonly payments: Payments;
  private readonly mining: Mining;
  private readonly past = new RecentPast();
  private latestBlock: Hash;
  /** Since the latest block. */
  private paymentsMade = 0;

  /** Takes up the network where the node's blocks leave it. */
  constructor(node: SimulatedNode, options: SimulationOptions) {
    this.node = node;
    this.options = options;
    this.keyring = new Keyring(options);
    this.wallet = new Wallet(this.keyring, ledgerOf(node));
    this.payments = new Payments({ options, keyring: this.keyring, wallet: this.wallet });
    this.mining = new Mining(node, options, this.keyring, this.payments);
    this.reload();
    this.latestBlock = node.consensus.sink.hash;
    this.past.add(node.consensus.sink, node.consensus.virtual);
    node.onEvent((event) => this.follow(event));
  }

  /** Whether the first rewards are mature. */
  hasUtxos(): boolean {
    return this.node.consensus.virtual.daaScore > this.node.consensus.params.coinbaseMaturity + 1;
  }

  /** Makes payments, as far as there are UTXOs. */
  pay(count: number): void {
    for (let paid = 0; paid < count; paid += 1) {
      this.paymentsMade += 1;
      const payment = this.payments.make(this.random('payment', this.paymentsMade));
      if (payment === undefined) return;
      const transaction = buildTransaction(payment.draft);
      if (payment.isStandard) this.node.submitTransaction(transaction, false);
      else this.mining.hand(withDerived(transaction));
    }
  }

  /** Leaves this number of payments in the mempool from now on, so that it is never empty. */
  leavePending(count: number): void {
    this.mining.leavePending(count);
  }

  /**
   * Mines at least one block: on the tip, late, or as a heavier branch.
   * @param timestamp Unix milliseconds
   */
  mine(timestamp: number): void {
    const random = this.random('block');
    const { reorgRate, reorgDepth } = this.options;
    const depth = random.between(...reorgDepth);
    if (random.chance(reorgRate) && this.node.consensus.changeableDepth > depth) {
      mineBranch(this.node, this.mining, depth, timestamp, random);
    } else {
      this.mineBehind(this.blocksBehind(random), timestamp, random);
    }
  }

  /**
   * Publishes a heavier branch that replaces `depth` chain blocks.
   * @param depth at most what can still change
   * @param timestamp Unix milliseconds
   */
  reorganise(depth: number, timestamp: number): void {
    mineBranch(this.node, this.mining, depth, timestamp, this.random('reorganisation'));
  }

  /** How many of the latest blocks a miner does not know. */
  private blocksBehind(random: Random): number {
    const { redRate, lateRate, width } = this.options;
    // More blues than k in its anticone: the block will be red.
    if (random.chance(redRate)) return this.node.consensus.params.ghostdagK + random.between(20, 40);
    if (random.chance(lateRate)) return random.between(5, 25);
    return random.poisson(width);
  }

  private mineBehind(blocks: number, timestamp: number, random: Random): void {
    const { duplicateRate, sameCoinbaseRate } = this.options;
    const { consensus } = this.node;
    const { virtual: current } = consensus;
    const before = this.past.virtualBefore(blocks);
    const virtual = before !== undefined && consensus.isOpen(before) ? before : current;
    const unseen = virtual === current ? [] : this.past.unseenFrom(virtual);
    const twin = unseen.find((block) => isOn(virtual, block.parents));
    const isTwin = twin !== undefined && random.chance(sameCoinbaseRate);
    const miner = isTwin ? this.mining.minerOfBlock(twin) : this.mining.someMiner(random);
    this.mining.mine({ virtual, miner, unseen, duplicateRate, brokenRate: BROKEN_RATE, timestamp }, random);
  }

  private follow(event: NodeEvent): void {
    if (event.kind === 'blockAdded') this.latestBlock = fromHex(event.block.hash);
    if (event.kind !== 'virtualChanged') return;
    const { consensus } = this.node;
    for (const { header, accepted = [] } of event.change.added) {
      for (const { block, transaction } of accepted) {
        this.wallet.learn(transaction, Number(header.daaScore), transaction === block.transactions[0]);
      }
    }
    this.past.add(consensus.get(this.latestBlock), consensus.virtual);
    this.paymentsMade = 0;
    if (consensus.size % RELOAD_EVERY === 0) this.reload();
  }

  /** Finds all UTXOs, also those that the wallet lost track of in reorganisations. */
  private reload(): void {
    const { utxos } = this.node.consensus;
    this.keyring.restore([...utxos.values()].map(({ scriptPublicKey }) => scriptPublicKey));
    this.wallet.reload(utxos.values());
  }

  private random(...labels: Label[]): Random {
    return new Random(this.options.seed, this.node.consensus.size, ...labels);
  }
}

function ledgerOf({ consensus, mempool }: SimulatedNode): Ledger {
  const isMature = ({ isCoinbase, blockDaaScore }: UtxoEntry): boolean =>
    !isCoinbase || Number(blockDaaScore) + consensus.params.coinbaseMaturity <= consensus.virtual.daaScore;
  return {
    isMature,
    isSpendable({ key }) {
      // The chain may have accepted it again at another DAA score.
      const unspent = consensus.utxos.find(key);
      return unspent !== undefined && isMature(unspent) && !mempool.spends(key);
    },
  };
}

function isOn({ parents }: Virtual, others: readonly Block[]): boolean {
  return parents.length === others.length && parents.every((parent, index) => parent === others[index]);
}

/** Blocks that are remembered: enough for a block to be withheld until it can only be red. */
const CAPACITY = 200;

/** The latest blocks and the virtual block after each, which is the view of miners who are behind. */
export class RecentPast {
  private readonly moments: { block: Block; virtual: Virtual }[] = [];

  add(block: Block, virtual: Virtual): void {
    this.moments.push({ block, virtual });
    if (this.moments.length > CAPACITY) this.moments.shift();
  }

  /** Returns the virtual block of this number of blocks ago, `undefined` if that is no longer remembered. */
  virtualBefore(blocks: number): Virtual | undefined {
    return this.moments.at(-1 - blocks)?.virtual;
  }

  /** Remembered blocks that a miner on a virtual block does not know, latest first. */
  unseenFrom({ parents }: Virtual): Block[] {
    const unseen: Block[] = [];
    for (const { block } of this.moments.toReversed()) {
      if (parents.includes(block)) break;
      if (!isDagAncestorOfAny(block, parents)) unseen.push(block);
    }
    return unseen;
  }
}
