/**
 * Miners: each works on the DAG as it knows it, which may be a little behind, and so finds blocks parallel to others', with the same
 * transactions, with ones that spend the same UTXOs, or with other bodies of them.
 */
import { toHex } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { Block } from '../consensus/block.ts';
import { getCoinbasePayload, type Miner } from '../consensus/coinbase.ts';
import type { Virtual } from '../consensus/consensus.ts';
import { outpointKey } from '../../economy/utxo.ts';
import { assembleBlock } from '../node/assemble-block.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';
import { withOtherSignatures } from '../../economy/signatures.ts';
import { buildTransaction, withDerived } from '../../economy/build-transaction.ts';
import { BlockFilling } from './block-filling.ts';
import type { Keyring, Owner } from '../../economy/keyring.ts';
import type { SimulationOptions } from '../../economy/options.ts';
import type { Payments } from '../../economy/payments.ts';
import type { Random } from '../../economy/random.ts';

export interface MiningJob {
  /** What the miner works on. */
  virtual: Virtual;
  miner: Miner;
  /** Blocks that it does not know, and whose payments may have reached it all the same. */
  unseen: readonly Block[];
  /** Of a payment in such a block: the miner has it too. */
  duplicateRate: number;
  /** Of a body with other signatures: they do not hold, and the block cannot be on the selected chain. */
  brokenRate: number;
  /** Unix milliseconds. */
  timestamp: number;
}

/** Of a payment that waits: a miner puts it into its block. The others keep the mempool from being empty. */
const PICK_RATE = 0.7;

export class Mining {
  private readonly node: SimulatedNode;
  private readonly options: SimulationOptions;
  private readonly keyring: Keyring;
  private readonly payments: Payments;
  /** Payments that no mempool takes. */
  private readonly nonStandard: DagTransaction[] = [];
  private waitingCount = 0;
  /** Ids, in hex, of the payments that miners leave waiting. */
  private readonly waiting = new Set<string>();

  constructor(node: SimulatedNode, options: SimulationOptions, keyring: Keyring, payments: Payments) {
    this.node = node;
    this.options = options;
    this.keyring = keyring;
    this.payments = payments;
  }

  /** Gives a payment to the miners themselves. */
  hand(payment: DagTransaction): void {
    this.nonStandard.push(payment);
  }

  /** From now on miners leave so many payments in the mempool, always the same ones. */
  leaveWaiting(count: number): void {
    this.waitingCount = count;
  }

  /** Some are far larger than others. */
  someMiner(random: Random): Miner {
    return this.minerOf(this.keyring.miners[random.skewed(this.keyring.miners.length)]);
  }

  /** The miner of a block, by what its coinbase says. */
  minerOfBlock(block: Block): Miner {
    const { scriptPublicKey, extraData } = getCoinbasePayload(block);
    return { scriptPublicKey, extraData };
  }

  /** Finds a block and hands it to the node. */
  mine(job: MiningJob, random: Random): Block {
    const filling = new BlockFilling(this.node.consensus, job.virtual);
    for (const block of job.unseen) {
      for (const payment of block.transactions.slice(1)) this.addCompetitor(payment, filling, job, random);
    }
    for (const payment of this.nonStandard.splice(0)) {
      if (!filling.tryAdd(payment)) this.nonStandard.push(payment);
    }
    this.forgetGonePayments();
    for (const { transaction } of this.node.mempool.ready()) {
      if (this.leavesWaiting(toHex(transaction.transactionId))) continue;
      if (random.chance(PICK_RATE)) filling.tryAdd(transaction);
    }
    const { virtual, miner, timestamp } = job;
    const { payments } = filling;
    return this.node.receive(
      assembleBlock(this.node.consensus, { virtual, miner, payments, timestamp, nonce: random.uint64() }),
    );
  }

  private leavesWaiting(id: string): boolean {
    if (this.waiting.size < this.waitingCount) this.waiting.add(id);
    return this.waiting.has(id);
  }

  /** Somebody else has mined it, or a block spends what it spends. */
  private forgetGonePayments(): void {
    for (const id of this.waiting) {
      const filter = { includeOrphanPool: false, filterTransactionPool: false };
      if (this.node.mempool.find(id, filter) === undefined) this.waiting.delete(id);
    }
  }

  /** What a miner may have in its block beside a payment that is in a parallel one. */
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

  private minerOf(owner: Owner | undefined): Miner {
    const key = owner?.keys[0];
    if (key === undefined) throw new Error('a miner without an address');
    return { scriptPublicKey: key.scriptPublicKey, extraData: Buffer.from(`${this.node.serverVersion}/devnet`) };
  }
}
