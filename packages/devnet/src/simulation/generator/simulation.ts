import { setImmediate } from 'node:timers/promises';
import { fromHex, type Hash, toHex } from '@kasgres/kaspa';
import type { NodeEvent } from '../../dag/node-state.ts';
import { buildTransaction, withDerived } from '../../economy/build-transaction.ts';
import { Applications } from '../../economy/applications.ts';
import { Keyring } from '../../economy/keyring.ts';
import type { SimulationOptions } from '../../economy/options.ts';
import { type Payment, Payments } from '../../economy/payments.ts';
import { type Label, Random } from '../../economy/random.ts';
import type { UtxoEntry } from '../../economy/utxo.ts';
import { type Ledger, Wallet } from '../../economy/wallet.ts';
import { type Block, getGhostdag } from '../consensus/block.ts';
import { getCoinbasePayload } from '../consensus/coinbase.ts';
import type { Virtual } from '../consensus/consensus.ts';
import { findChainAncestorAt, isDagAncestorOfAny } from '../consensus/reachability.ts';
import { isImmature } from '../consensus/transaction-rules.ts';
import { HostileMining } from './hostile-mining.ts';
import { Mining } from './mining.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';

/** Blocks between two reloads of the wallet, which find UTXOs that it lost in reorganisations. */
const RELOAD_EVERY = 5_000;
/** The share of variants with broken signatures. */
const BROKEN_RATE = 0.5;
/** The share of the others' payments that a partition also includes. */
const SHARED_RATE = 0.6;
/** Enough for a block to be withheld until it can only be red. */
const REMEMBERED_BLOCKS = 200;
const YIELD_EVERY_BLOCKS = 64;

/**
 * The network around a simulated node. The seed, the number of blocks and the given times determine
 * every step.
 */
export class Simulation {
  readonly keyring: Keyring;
  private readonly node: SimulatedNode;
  private readonly options: SimulationOptions;
  private readonly wallet: Wallet;
  private readonly payments: Payments;
  private readonly applications: Applications;
  private readonly mining: Mining;
  private readonly hostileMining: HostileMining;
  /**
   * The latest blocks and the virtual block after each, which is the view of miners who are behind.
   */
  private readonly recent: { block: Block; virtual: Virtual }[] = [];
  private latestBlock: Hash;
  /** Since the latest block. */
  private paymentsMade = 0;

  /** Continues from the blocks of the node. */
  constructor(node: SimulatedNode, options: SimulationOptions) {
    this.node = node;
    this.options = options;
    this.keyring = new Keyring(options);
    this.wallet = new Wallet(this.keyring, ledgerOf(node));
    this.payments = new Payments({ options, keyring: this.keyring, wallet: this.wallet });
    this.applications = new Applications({
      options,
      keyring: this.keyring,
      wallet: this.wallet,
      ledger: ledgerOf(node),
      addressPrefix: node.network.addressPrefix,
    });
    this.mining = new Mining(node, options, this.keyring, this.payments);
    this.hostileMining = new HostileMining(node);
    this.reload();
    this.latestBlock = node.consensus.sink.hash;
    this.recent.push({ block: node.consensus.sink, virtual: node.consensus.virtual });
    node.onEvent((event) => this.follow(event));
  }

  /** Returns whether the first rewards are mature. */
  hasUtxos(): boolean {
    return this.node.consensus.virtual.daaScore > this.node.consensus.params.coinbaseMaturity + 1;
  }

  /** Makes payments, and transactions of applications besides, as far as there are UTXOs. */
  pay(count: number): void {
    const { applicationRate } = this.options;
    for (let paid = 0; paid < count; paid += 1) {
      this.paymentsMade += 1;
      const payment = this.payments.make(this.random('payment', this.paymentsMade));
      if (payment === undefined) return;
      this.send(payment);
      const random = this.random('application', this.paymentsMade);
      const application = random.chance(applicationRate) ? this.applications.make(random) : undefined;
      if (application !== undefined) this.send(application);
    }
  }

  private send({ draft, isStandard }: Payment): void {
    const transaction = buildTransaction(draft);
    if (isStandard) this.node.submitTransaction(transaction, false);
    else this.mining.hand(withDerived(transaction));
  }

  /** Leaves this number of payments in the mempool from now on, so that it is never empty. */
  leavePending(count: number): void {
    this.mining.pendingCount = count;
  }

  /**
   * Mines at least one block: on the tip, late, or as a heavier branch. The timestamp is in Unix
   * milliseconds.
   */
  mine(timestamp: number): void {
    const { hostileRate, reorgRate, reorgDepth } = this.options;
    const hostile = this.random('hostile block');
    if (hostile.chance(hostileRate)) this.hostileMining.mine(timestamp, hostile);
    const random = this.random('block');
    const depth = random.between(...reorgDepth);
    if (random.chance(reorgRate) && this.node.consensus.changeableDepth > depth) {
      this.mineBranch(depth, timestamp, random);
    } else {
      this.mineBehind(this.blocksBehind(random), timestamp, random);
    }
  }

  /** Publishes a heavier branch that replaces `depth` chain blocks, at most `changeableDepth`. */
  reorganise(depth: number, timestamp: number): void {
    this.mineBranch(depth, timestamp, this.random('reorganisation'));
  }

  /** Returns the number of latest blocks that a miner does not know. */
  private blocksBehind(random: Random): number {
    const { redRate, lateRate, width } = this.options;
    // With more than k blues in its anticone, the block will be red.
    if (random.chance(redRate)) return this.node.consensus.params.ghostdagK + random.between(20, 40);
    if (random.chance(lateRate)) return random.between(5, 25);
    return random.poisson(width);
  }

  private mineBehind(blocks: number, timestamp: number, random: Random): void {
    const { duplicateRate, sameCoinbaseRate } = this.options;
    const { consensus } = this.node;
    const before = this.recent.at(-1 - blocks)?.virtual;
    const virtual = before !== undefined && consensus.isOpen(before) ? before : consensus.virtual;
    const unseen = virtual === consensus.virtual ? [] : this.unseenFrom(virtual);
    const twin = unseen.find((block) => isOn(virtual, block.parents));
    const isTwin = twin !== undefined && random.chance(sameCoinbaseRate);
    const miner = isTwin ? getCoinbasePayload(twin) : this.mining.someMiner(random);
    this.mining.mine({ virtual, miner, unseen, duplicateRate, brokenRate: BROKEN_RATE, timestamp }, random);
  }

  /** Returns the remembered blocks that a miner on a virtual block does not know, latest first. */
  private unseenFrom({ parents }: Virtual): Block[] {
    const unseen: Block[] = [];
    for (const { block } of this.recent.toReversed()) {
      if (parents.includes(block)) break;
      if (!isDagAncestorOfAny(block, parents)) unseen.push(block);
    }
    return unseen;
  }

  /**
   * Mines the branch of miners who were disconnected at a lower chain block, until it is the
   * heavier one.
   */
  private mineBranch(depth: number, timestamp: number, random: Random): void {
    const { consensus } = this.node;
    const fork = findChainAncestorAt(consensus.sink, consensus.sink.height - depth);
    if (fork === undefined) throw new RangeError(`the chain has no block ${depth} below the sink`);
    const others = blocksAbove(fork, consensus.sink);
    const forkTime = Number(fork.header.timestamp);
    const miner = this.mining.someMiner(random);
    let tip = fork;
    // Each side weighs as many blocks as it has, except the few that the others have merged
    // meanwhile.
    for (let made = 0; consensus.sink !== tip && made < 2 * others.length + 2; made += 1) {
      const virtual = consensus.findVirtualOn([tip]);
      if (virtual === undefined) throw new RangeError('the branch could never be on the selected chain');
      const time = Math.round(forkTime + ((timestamp - forkTime) * (made + 1)) / (others.length + 2));
      const unseen = others.slice(made, made + 1);
      const rates = { duplicateRate: SHARED_RATE, brokenRate: 0 };
      tip = this.mining.mine({ virtual, miner, unseen, ...rates, timestamp: Math.min(time, timestamp) }, random);
    }
  }

  private follow(event: NodeEvent): void {
    if (event.kind === 'blockAdded') this.latestBlock = fromHex(event.block.hash);
    if (event.kind !== 'virtualChanged') return;
    const { consensus } = this.node;
    for (const { header, accepted = [] } of event.change.added) {
      for (const { block, transaction } of accepted) {
        const isCoinbase = transaction === block.transactions[0];
        this.wallet.learn(transaction, Number(header.daaScore), isCoinbase);
        if (this.options.applicationRate > 0) this.applications.learn(transaction, Number(header.daaScore));
        this.hostileMining.transactions.learn(transaction, Number(header.daaScore), isCoinbase);
      }
    }
    this.recent.push({ block: consensus.get(this.latestBlock), virtual: consensus.virtual });
    if (this.recent.length > REMEMBERED_BLOCKS) this.recent.shift();
    this.paymentsMade = 0;
    if (consensus.size % RELOAD_EVERY === 0) this.reload();
  }

  /** Finds all UTXOs, also those that the wallet lost track of in reorganisations. */
  private reload(): void {
    const { utxos } = this.node.consensus;
    this.keyring.restore([...utxos.values()].map(({ scriptPublicKey }) => scriptPublicKey));
    this.wallet.reload(utxos.values());
    if (this.options.applicationRate > 0) this.reloadApplications();
  }

  private reloadApplications(): void {
    this.applications.forget();
    const unspent = Map.groupBy(this.node.consensus.utxos.values(), ({ outpoint }) => toHex(outpoint.transactionId));
    for (const [id, [entry]] of unspent) {
      const transaction = this.node.dag.findTransaction(id);
      if (transaction !== undefined) this.applications.learn(transaction, Number(entry?.blockDaaScore));
    }
  }

  private random(...labels: Label[]): Random {
    return new Random(this.options.seed, this.node.consensus.size, ...labels);
  }
}

function ledgerOf({ consensus, mempool }: SimulatedNode): Ledger {
  const isMature = (entry: UtxoEntry): boolean => !isImmature(entry, consensus.virtual.daaScore, consensus.params);
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

/** Returns the blocks that the selected chain merges between two of its blocks, oldest first. */
function blocksAbove(fork: Block, sink: Block): Block[] {
  const chain: Block[] = [];
  for (let block = sink; block !== fork; block = getGhostdag(block).selectedParent) chain.push(block);
  return [...chain.reverse().flatMap((block) => getGhostdag(block).mergeSet), sink];
}

export interface Past {
  /** The number of blocks, genesis included; a few more if the last event brings several. */
  pastBlocks: number;
  /** The total of payments, which begin when the first rewards are mature. */
  pastTransactions: number;
  blocksPerSecond: number;
}

/** Makes the past of a chain, as if it had grown until now. */
export async function makePast(
  { node, simulation }: { node: SimulatedNode; simulation: Simulation },
  { pastBlocks, pastTransactions, blocksPerSecond }: Past,
  signal?: AbortSignal,
): Promise<void> {
  const { consensus } = node;
  const intervalMs = 1_000 / Math.max(blocksPerSecond, 1);
  const paymentsPerBlock = pastTransactions / Math.max(1, pastBlocks - consensus.params.coinbaseMaturity);
  const end = node.now();
  let due = 0;
  while (consensus.size < pastBlocks) {
    const jitter = new Random('jitter', consensus.size).fraction();
    simulation.mine(Math.round(end - (pastBlocks - consensus.size - jitter) * intervalMs));
    due = simulation.hasUtxos() ? due + paymentsPerBlock : 0;
    simulation.pay(Math.floor(due));
    due %= 1;
    if (consensus.size % YIELD_EVERY_BLOCKS === 0) await setImmediate();
    signal?.throwIfAborted();
  }
}
