import { toHex } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { buildTransaction, MassBudget, withDerived } from '../../economy/build-transaction.ts';
import type { Keyring } from '../../economy/keyring.ts';
import type { SimulationOptions } from '../../economy/options.ts';
import type { Payments } from '../../economy/payments.ts';
import type { Random } from '../../economy/random.ts';
import { withOtherSignatures } from '../../economy/signatures.ts';
import { outpointKey, spentKeysOf, type UtxoView } from '../../economy/utxo.ts';
import type { Block } from '../consensus/block.ts';
import type { Miner } from '../consensus/coinbase.ts';
import type { Consensus, Virtual } from '../consensus/consensus.ts';
import { assembleBlock } from '../node/assemble-block.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';

export interface MiningJob {
  /** The virtual block as the miner knows it. */
  virtual: Virtual;
  miner: Miner;
  /** Blocks that the miner does not know, whose payments may have reached it. */
  unseen: readonly Block[];
  /** The share of the payments there that the miner includes too. */
  duplicateRate: number;
  /** The share of variants with broken signatures, whose block cannot be on the selected chain. */
  brokenRate: number;
  /** Unix milliseconds. */
  timestamp: number;
}

/**
 * Texts that miners put after the version of their node, by number: domains of the pools that
 * `landmarks` names, and other texts.
 */
const POOLS = [
  'granite-pool.example/',
  'copper-pool.example/',
  'Basalt-Pool.example/eu',
  'miningcore/',
  '\0\uFFFDslate/',
];
/** The share of pending payments that a miner includes. */
const PICK_RATE = 0.7;
/**
 * A block is full when this many payments in a row had no room, so that mining takes as long with a
 * large mempool as with a small one.
 */
const FULL_AFTER_REFUSALS = 64;

/**
 * Miners who work on the DAG as they know it, so that parallel blocks contain equal, conflicting or
 * variant transactions.
 */
export class Mining {
  private readonly node: SimulatedNode;
  private readonly options: SimulationOptions;
  private readonly keyring: Keyring;
  private readonly payments: Payments;
  /** Payments that no mempool accepts. */
  private readonly nonStandard: DagTransaction[] = [];
  /** The number of payments that miners leave in the mempool, always the same ones. */
  pendingCount = 0;
  /** Hex ids of the payments that miners leave pending. */
  private readonly pending = new Set<string>();

  constructor(node: SimulatedNode, options: SimulationOptions, keyring: Keyring, payments: Payments) {
    this.node = node;
    this.options = options;
    this.keyring = keyring;
    this.payments = payments;
  }

  hand(payment: DagTransaction): void {
    this.nonStandard.push(payment);
  }

  /** Returns a miner at random; some are far larger than others. */
  someMiner(random: Random): Miner {
    const number = random.skewed(this.keyring.miners.length);
    const key = this.keyring.miners[number]?.keys[0];
    if (key === undefined) throw new Error('a miner without an address');
    const pool = this.options.applicationRate > 0 ? (POOLS[number] ?? 'devnet') : 'devnet';
    return { scriptPublicKey: key.scriptPublicKey, extraData: Buffer.from(`${this.node.serverVersion}/${pool}`) };
  }

  mine(job: MiningJob, random: Random): Block {
    const filling = new BlockFilling(this.node.consensus, job.virtual);
    for (const block of job.unseen) {
      for (const payment of block.transactions.slice(1)) this.addCompetitor(payment, filling, job, random);
    }
    for (const payment of this.nonStandard.splice(0)) {
      if (!filling.tryAdd(payment)) this.nonStandard.push(payment);
    }
    for (const id of this.pending) if (!this.isInPool(id)) this.pending.delete(id);
    for (const { transaction } of this.node.mempool.ready()) {
      if (filling.isFull) break;
      if (this.pendingCount > 0 && this.leavesPending(toHex(transaction.transactionId))) continue;
      if (random.chance(PICK_RATE)) filling.tryAdd(transaction);
    }
    const { virtual, miner, timestamp } = job;
    const options = { virtual, miner, payments: filling.payments, timestamp, nonce: random.uint64() };
    return this.node.receive(assembleBlock(this.node.consensus, options));
  }

  private leavesPending(id: string): boolean {
    if (this.pending.size < this.pendingCount) this.pending.add(id);
    return this.pending.has(id);
  }

  private isInPool(id: string): boolean {
    return this.node.mempool.find(id, { includeOrphanPool: false, filterTransactionPool: false }) !== undefined;
  }

  /**
   * Adds the payment of a parallel block, another variant of it, or a conflicting one, at random.
   */
  private addCompetitor(payment: DagTransaction, filling: BlockFilling, job: MiningJob, random: Random): void {
    const { variantRate, doubleSpendRate } = this.options;
    if (random.chance(variantRate)) {
      const broken = random.chance(job.brokenRate);
      filling.tryAdd(payment, withDerived(withOtherSignatures(payment, { broken })));
    } else if (random.chance(doubleSpendRate)) {
      const [input] = payment.inputs;
      const utxo = input && filling.utxos.find(outpointKey(input.previousOutpoint));
      if (utxo !== undefined)
        filling.tryAdd(withDerived(buildTransaction(this.payments.conflict(payment.version, utxo, random))));
    } else if (random.chance(job.duplicateRate)) {
      filling.tryAdd(payment);
    }
  }
}

/**
 * Fills a block with payments that are valid on its virtual block and independent of each other,
 * within the mass limits.
 */
class BlockFilling {
  readonly utxos: UtxoView;
  readonly payments: DagTransaction[] = [];
  private readonly consensus: Consensus;
  private readonly virtual: Virtual;
  private readonly budget = new MassBudget();
  private readonly ids = new Set<string>();
  private readonly spent = new Set<string>();
  private refusalsInARow = 0;

  constructor(consensus: Consensus, virtual: Virtual) {
    this.consensus = consensus;
    this.virtual = virtual;
    this.utxos = consensus.viewOf(virtual);
  }

  get isFull(): boolean {
    return this.refusalsInARow >= FULL_AFTER_REFUSALS;
  }

  /**
   * Adds a payment if possible.
   * @param variant another variant, possibly invalid, that the block contains instead
   */
  tryAdd(payment: DagTransaction, variant: DagTransaction = payment): boolean {
    if (!this.budget.hasRoomFor(variant)) {
      this.refusalsInARow += 1;
      return false;
    }
    const id = toHex(payment.transactionId);
    const keys = spentKeysOf(payment);
    if (this.ids.has(id) || keys.some((key) => this.spent.has(key))) return false;
    if (this.consensus.checkMinedPayment(payment, this.utxos, this.virtual.daaScore).kind !== 'valid') return false;
    this.budget.take(variant);
    this.refusalsInARow = 0;
    this.ids.add(id);
    for (const key of keys) this.spent.add(key);
    this.payments.push(variant);
    return true;
  }
}
