/**
 * The economy of the simulated network on a chain of any number of accepted transactions, over some
 * weeks: one chain block after the other with its mergeset, as the source of the indexer hands them
 * on. Colours are random instead of GHOSTDAG's, since consensus in memory would not hold five
 * million transactions.
 */
import {
  buildTransaction,
  DEFAULT_OPTIONS,
  type EconomyOptions,
  Keyring,
  type Landmark,
  landmarks,
  Payments,
  Random,
  Wallet,
  withDerived,
} from '@kasgres/devnet';
import type { AddedChainBlock } from '@kasgres/indexer/testing';
import { getNetwork, type Hash, type Network, type ScriptPublicKey, workFromBits } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { type BlockOptions, makeBlock, makeGenesis, type Reward } from './blocks.ts';

export interface RequestChainOptions {
  seed: string;
  /** The number of accepted transactions, coinbases included. */
  transactions: number;
  /**
   * Outputs beyond this are never spent, which bounds the memory of the generator. By default all
   * may be spent.
   */
  maxSpendable?: number;
}

const ECONOMY: Omit<EconomyOptions, 'seed'> = {
  ...DEFAULT_OPTIONS,
  versionOneRate: 0.02,
  payloadRate: 0.01,
  collaborativeRate: 0.002,
  anyoneCanPayRate: 0.002,
  nonStandardRate: 0.0005,
  newAddressRate: 0.06,
  sweepRate: 0.6,
  ecdsaShare: 0.015,
  scriptHashShare: 0.007,
  miners: 100,
  exchanges: 8,
};

const BEGINS_AT = Date.UTC(2026, 8, 1);
const DAY_MS = 86_400_000;
/**
 * Five million transactions take this many days and chain blocks; fewer take proportionally less.
 */
const USUAL_TRANSACTIONS = 5_000_000;
const USUAL_DAYS = 45;
const CHAIN_BLOCKS = 120_000;
const LEAST_CHAIN_BLOCKS = 600;
const INTERVAL_MS = (USUAL_DAYS * DAY_MS) / CHAIN_BLOCKS;
/** In chain blocks. */
const COINBASE_MATURITY = 100;
const RED_IS_LATE_BY = 8;

/** The distribution of the number of blocks that are merged besides the selected parent. */
const BLOCKS_BESIDE = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4];
const RED_RATE = 0.04;
const DUPLICATE_RATE = 0.1;
const DOUBLE_SPEND_RATE = 0.003;

const SUBSIDY = 300e8;

interface Carried {
  transaction: RpcTransaction;
  /** Sompi. */
  fee: number;
  /** Whether it lost a double spend. */
  isRefused: boolean;
}

interface Mined {
  block: RpcBlock;
  miner: ScriptPublicKey;
  payments: readonly Carried[];
  isRed: boolean;
}

export class RequestChain {
  readonly network: Network = getNetwork('simnet');
  readonly genesis = makeGenesis(this.network);
  readonly #transactions: number;
  readonly #maxSpendable: number;
  readonly #paymentsPerChainBlock: number;
  readonly #random: Random;
  readonly #keyring: Keyring;
  readonly #wallet: Wallet;
  readonly #payments: Payments;
  readonly #latest: RpcBlock[] = [];
  /** The number of the current chain block, which stands for the DAA score. */
  #round = 0;
  #time = BEGINS_AT;
  #blocks = 0;

  constructor({ seed, transactions, maxSpendable = Number.POSITIVE_INFINITY }: RequestChainOptions) {
    const chainBlocks = Math.max(LEAST_CHAIN_BLOCKS, (CHAIN_BLOCKS * transactions) / USUAL_TRANSACTIONS);
    const options = { ...ECONOMY, seed };
    this.#transactions = transactions;
    this.#maxSpendable = maxSpendable;
    this.#paymentsPerChainBlock = transactions / chainBlocks;
    this.#random = new Random(seed, 'chain');
    this.#keyring = new Keyring(options);
    this.#wallet = new Wallet(this.#keyring, {
      isMature: ({ isCoinbase, blockDaaScore }) =>
        !isCoinbase || Number(blockDaaScore) + COINBASE_MATURITY <= this.#round,
      isSpendable: () => true,
    });
    this.#payments = new Payments({ options, keyring: this.#keyring, wallet: this.#wallet });
  }

  tags(): Landmark[] {
    return landmarks(this.#keyring, this.network.addressPrefix);
  }

  /** Yields chain blocks upwards from genesis, until enough transactions are accepted. */
  *chainBlocks(): Generator<AddedChainBlock> {
    this.#latest.push(this.genesis);
    let mergeSet: Mined[] = [{ block: this.genesis, miner: this.#someMiner(), payments: [], isRed: false }];
    for (let accepted = 0; accepted < this.#transactions; ) {
      this.#round += 1;
      this.#time += -Math.log(1 - this.#random.fraction()) * INTERVAL_MS;
      const { ids, rewards, feesOfParent } = this.#accept(mergeSet);
      accepted += ids.length;
      const [ofChain = [], ...ofOthers] = this.#drawPayments();
      const others = ofOthers.map((payments) => this.#mineBeside(feesOfParent, payments));
      const blocks = mergeSet.map(({ block }) => block);
      const reds = mergeSet.filter(({ isRed }) => isRed).map(({ block }) => block);
      const blues = blocks.filter((block) => !reds.includes(block));
      const next = this.#mine({ blues, reds, rewards, payments: ofChain, isRed: false });
      yield { block: next.block, mergeSet: blocks, acceptedTransactionIds: ids };
      this.#latest.push(next.block);
      if (this.#latest.length > RED_IS_LATE_BY) this.#latest.shift();
      mergeSet = [next, ...others.toSorted(byBlueWork)];
    }
  }

  /**
   * The accepted outputs may be spent by the transactions of the accepting block, coinbases later.
   */
  #accept(mergeSet: readonly Mined[]): { ids: Hash[]; rewards: Reward[]; feesOfParent: number } {
    const known = new Set<Carried>();
    const ids: Hash[] = [];
    const rewards: Reward[] = [];
    let redReward = 0;
    let feesOfParent = 0;
    for (const [position, { block, miner, payments, isRed }] of mergeSet.entries()) {
      const [coinbase] = block.transactions;
      if (position === 0 && coinbase !== undefined) this.#receive(coinbase, ids, true);
      let fees = 0;
      for (const payment of payments) {
        if (payment.isRefused || known.has(payment)) continue;
        known.add(payment);
        fees += payment.fee;
        this.#receive(payment.transaction, ids, false);
      }
      if (position === 0) feesOfParent = fees;
      const amount = block === this.genesis ? 0 : SUBSIDY + fees;
      if (isRed) redReward += amount;
      else if (amount > 0) rewards.push({ amount, scriptPublicKey: miner });
    }
    if (redReward > 0) rewards.push({ amount: redReward, scriptPublicKey: this.#someMiner() });
    return { ids, rewards, feesOfParent };
  }

  #receive(transaction: RpcTransaction, ids: Hash[], isCoinbase: boolean): void {
    ids.push(transaction.transactionId);
    if (this.#wallet.size >= this.#maxSpendable) return;
    // A pooled copy: an array buffer for each id would take most of the memory.
    const transactionId = Buffer.from(transaction.transactionId);
    this.#wallet.learn({ transactionId, outputs: transaction.outputs }, this.#round, isCoinbase);
  }

  /** Returns the payments of the next chain block, and then those of each block beside it. */
  #drawPayments(): Carried[][] {
    const random = this.#random;
    const blocks: Carried[][] = [[], ...Array.from({ length: random.pick(BLOCKS_BESIDE) }, () => [])];
    const count = random.poisson(this.#paymentsPerChainBlock);
    for (let drawn = 0; drawn < count; drawn += 1) {
      const draft = this.#payments.make(random)?.draft;
      if (draft === undefined) break;
      const spent = draft.utxos.reduce((sum, { entry }) => sum + Number(entry.amount), 0);
      const fee = spent - draft.outputs.reduce((sum, { amount }) => sum + amount, 0);
      const carried = { transaction: withDerived(buildTransaction(draft)), fee, isRefused: false };
      const index = random.below(blocks.length);
      blocks[index]?.push(carried);
      if (blocks.length === 1) continue;
      const other = blocks[(index + 1) % blocks.length];
      const [first] = draft.utxos;
      if (random.chance(DOUBLE_SPEND_RATE) && first !== undefined) {
        const conflict = buildTransaction(this.#payments.conflict(draft.version, first.entry, random));
        other?.push({ transaction: withDerived(conflict), fee: 0, isRefused: true });
      } else if (random.chance(DUPLICATE_RATE)) other?.push(carried);
    }
    return blocks;
  }

  /** A block parallel to the next chain block; a red one is on an older chain block. */
  #mineBeside(feesOfParent: number, payments: readonly Carried[]): Mined {
    const isRed = this.#latest.length === RED_IS_LATE_BY && this.#random.chance(RED_RATE);
    const parent = (isRed ? this.#latest[0] : this.#latest.at(-1)) ?? this.genesis;
    const amount = SUBSIDY + (isRed ? 0 : feesOfParent);
    const rewards = [{ amount, scriptPublicKey: this.#someMiner() }];
    return this.#mine({ blues: [parent], reds: [], rewards, payments, isRed });
  }

  #mine({
    blues,
    reds,
    rewards,
    payments,
    isRed,
  }: Omit<Mined, 'block' | 'miner'> & Pick<BlockOptions, 'blues' | 'reds' | 'rewards'>): Mined {
    this.#blocks += 1;
    const miner = this.#someMiner();
    const selectedParent = blues[0] ?? this.genesis;
    const block = makeBlock({
      number: this.#blocks,
      genesis: this.genesis,
      selectedParent,
      blues,
      reds,
      blueWork: blues.reduce((work, { header }) => work + workFromBits(header.bits), selectedParent.header.blueWork),
      bits: this.genesis.header.bits,
      // Clocks of miners differ.
      timestamp: BigInt(Math.floor(this.#time + (this.#random.fraction() - 0.5) * INTERVAL_MS * 0.2)),
      miner: { scriptPublicKey: miner, extraData: '2.1.0/pool', subsidy: SUBSIDY },
      rewards,
      payments: payments.map(({ transaction }) => transaction),
    });
    return { block, miner, payments, isRed };
  }

  /** Miners have different shares of the hash rate. */
  #someMiner(): ScriptPublicKey {
    const { miners } = this.#keyring;
    const key = miners[this.#random.skewed(miners.length)]?.keys[0];
    if (key === undefined) throw new Error('a miner has no address');
    return key.scriptPublicKey;
  }
}

function byBlueWork(a: Mined, b: Mined): number {
  const [one, other] = [a.block.header.blueWork, b.block.header.blueWork];
  return one === other ? Buffer.compare(a.block.hash, b.block.hash) : one < other ? -1 : 1;
}
