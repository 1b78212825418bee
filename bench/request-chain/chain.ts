/**
 * A chain of as many accepted transactions as wanted, over some weeks: one chain block after the other with what it merges, as the
 * source of the indexer hands them on. Blocks hash to their names, transactions to their ids, and every UTXO that is spent was made before;
 * signatures are so by their form, and colours are drawn rather than found by GHOSTDAG.
 */
import {
  difficultyFromBits,
  genesisBlock,
  getNetwork,
  type Hash,
  type Header,
  headerHash,
  merkleRoot,
  type Network,
  type Transaction,
  workFromBits,
} from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { digest, Random } from '../../packages/devnet/src/economy/random.ts';
import type { AddedChainBlock } from '../../packages/indexer/src/chain-update.ts';
import { Addresses } from './addresses.ts';
import { Utxos } from './utxos.ts';
import { Economy } from './economy.ts';
import { makeCoinbase, named, Payments } from './transactions.ts';

export interface RequestChainOptions {
  seed: string;
  /** Accepted ones, coinbases among them. */
  transactions: number;
}

const BEGINS_AT = Date.UTC(2026, 8, 1);
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** How long five million transactions take; fewer take less. */
const USUAL_TRANSACTIONS = 5_000_000;
const USUAL_DAYS = 45;
const CHAIN_BLOCKS = 120_000;
const LEAST_CHAIN_BLOCKS = 600;
const INTERVAL_MS = (USUAL_DAYS * DAY_MS) / CHAIN_BLOCKS;
/** In chain blocks. */
const COINBASE_MATURITY = 100;
const RED_IS_LATE_BY = 8;

/** How many blocks are merged besides the selected parent. */
const BLOCKS_BESIDE = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4];
const CHANCE_OF_RED = 0.04;
const CHANCE_OF_TWO_BLOCKS = 0.1;
const CHANCE_OF_DOUBLE_SPEND = 0.003;

const SUBSIDY = 300e8;
const MONTH_DAYS = 30.4375;
const BITS_EXPONENT = 0x1a;
const BITS_MANTISSA = 0x600000;

/** A transaction as blocks carry it. */
interface Carried {
  transaction: RpcTransaction;
  fee: number;
  /** Addresses of its outputs. */
  to: readonly number[];
  /** One of two that spend the same UTXOs: the other is accepted. */
  isRefused: boolean;
}

interface Mined {
  block: RpcBlock;
  miner: number;
  /** The coinbase first. */
  carried: Carried[];
  isRed: boolean;
}

interface Reward {
  /** Sompi. */
  amount: number;
  address: number;
}

interface Plan {
  selectedParent: RpcBlock;
  /** The selected parent first. */
  blues: RpcBlock[];
  reds: RpcBlock[];
  /** What its coinbase pays for the blocks that it merges. */
  rewards: Reward[];
  carried: Carried[];
  /** Whether it will be merged as a red one. */
  isRed: boolean;
}

export class RequestChain {
  readonly network: Network = getNetwork('simnet');
  readonly genesis: RpcBlock;
  readonly addresses: Addresses;
  readonly economy: Economy;
  readonly #seed: string;
  readonly #transactions: number;
  readonly #paymentsAChainBlock: number;
  readonly #random: Random;
  readonly #utxos = new Utxos();
  readonly #payments: Payments;
  /** Rewards, by the round from which they may be spent. */
  readonly #immature = new Map<number, Carried>();
  readonly #latest: RpcBlock[] = [];
  #time = BEGINS_AT;
  #blocks = 0;

  constructor({ seed, transactions }: RequestChainOptions) {
    const chainBlocks = Math.max(LEAST_CHAIN_BLOCKS, (CHAIN_BLOCKS * transactions) / USUAL_TRANSACTIONS);
    this.#seed = seed;
    this.#transactions = transactions;
    this.#paymentsAChainBlock = transactions / chainBlocks;
    this.#random = new Random(seed, 'chain');
    this.addresses = new Addresses(seed);
    this.economy = new Economy(new Random(seed, 'economy'), this.#utxos, this.addresses);
    this.#payments = new Payments(new Random(seed, 'payments'), this.#utxos, this.addresses);
    this.genesis = makeGenesis(this.network);
  }

  /** Upwards from genesis, until enough transactions are accepted. */
  *chainBlocks(): Generator<AddedChainBlock> {
    const { genesis } = this;
    const coinbase = { transaction: genesis.transactions[0] as RpcTransaction, fee: 0, to: [], isRefused: false };
    this.#latest.push(genesis);
    let mergeSet: Mined[] = [{ block: genesis, miner: 0, carried: [coinbase], isRed: false }];
    let accepted = 0;
    for (let round = 1; accepted < this.#transactions; round += 1) {
      this.#time += -Math.log(1 - this.#random.fraction()) * INTERVAL_MS;
      const { ids, rewards, feesOfParent } = this.#accept(round, mergeSet);
      accepted += ids.length;
      const [ofChain, ...ofOthers] = this.#drawPayments();
      const sides = ofOthers.map((carried) => this.#mineBeside(feesOfParent, carried));
      const next = this.#mineOnTop(mergeSet, rewards, ofChain ?? []);
      yield { block: next.block, mergeSet: mergeSet.map(({ block }) => block), acceptedTransactionIds: ids };
      this.#latest.push(next.block);
      if (this.#latest.length > RED_IS_LATE_BY) this.#latest.shift();
      mergeSet = [next, ...sides.toSorted(byBlueWork)];
    }
  }

  /** What a chain block accepts of its mergeset may be spent by the transactions in it, rewards some time later. */
  #accept(round: number, mergeSet: readonly Mined[]): { ids: Hash[]; rewards: Reward[]; feesOfParent: number } {
    this.#mature(round);
    const known = new Set<Carried>();
    const ids: Hash[] = [];
    const rewards: Reward[] = [];
    let ofReds = 0;
    let feesOfParent = 0;
    mergeSet.forEach(({ block, miner, carried, isRed }, place) => {
      const [coinbase, ...payments] = carried as [Carried, ...Carried[]];
      if (place === 0) {
        ids.push(coinbase.transaction.transactionId);
        this.#immature.set(round, coinbase);
      }
      let fees = 0;
      for (const payment of payments) {
        if (payment.isRefused || known.has(payment)) continue;
        known.add(payment);
        ids.push(payment.transaction.transactionId);
        fees += payment.fee;
        this.#receive(payment);
      }
      if (place === 0) feesOfParent = fees;
      const amount = block === this.genesis ? 0 : this.#subsidy() + fees;
      if (isRed) ofReds += amount;
      else if (amount > 0) rewards.push({ amount, address: this.economy.minerAddress(miner) });
    });
    if (ofReds > 0) rewards.push({ amount: ofReds, address: this.economy.minerAddress(this.economy.findMiner()) });
    return { ids, rewards, feesOfParent };
  }

  #mature(round: number): void {
    const mature = this.#immature.get(round - COINBASE_MATURITY);
    if (mature === undefined) return;
    this.#immature.delete(round - COINBASE_MATURITY);
    this.#receive(mature);
  }

  #receive({ transaction: { transactionId, outputs }, to }: Carried): void {
    outputs.forEach(({ amount }, index) => {
      const address = to[index] as number;
      const wallet = this.addresses.walletOf(address);
      this.economy.receive(this.#utxos.add({ transactionId, index, amount: Number(amount), address, wallet }));
    });
  }

  /** @returns what the next chain block carries, and then what each block beside it does */
  #drawPayments(): Carried[][] {
    const blocks: Carried[][] = [[], ...Array.from({ length: this.#random.pick(BLOCKS_BESIDE) }, () => [])];
    const count = this.#random.poisson(this.#paymentsAChainBlock * this.#activity());
    for (let n = 0; n < count; n += 1) {
      const payment = this.economy.next();
      if (payment === undefined) break;
      const carried = { ...this.#payments.make(payment), to: payment.to, isRefused: false };
      const place = this.#random.below(blocks.length);
      blocks[place]?.push(carried);
      const other = blocks[(place + 1) % blocks.length];
      if (blocks.length > 1 && payment.to.length > 1) {
        if (this.#random.chance(CHANCE_OF_DOUBLE_SPEND)) {
          const back = { utxos: payment.utxos, to: [this.#utxos.addressOf(payment.utxos[0] as number)], amounts: [] };
          other?.push({ ...this.#payments.make(back), to: back.to, isRefused: true });
        } else if (this.#random.chance(CHANCE_OF_TWO_BLOCKS)) other?.push(carried);
      }
      for (const utxo of payment.utxos) {
        this.economy.spend(utxo);
        this.#utxos.remove(utxo);
      }
    }
    return blocks;
  }

  /** More from week to week, less at night and at weekends. */
  #activity(): number {
    const days = (this.#time - BEGINS_AT) / DAY_MS;
    const weekday = Math.floor(days) % WEEK_DAYS;
    return (
      (0.7 + (0.6 * days) / USUAL_DAYS) * (1 + 0.35 * Math.sin(2 * Math.PI * (days - 0.3))) * (weekday > 4 ? 0.8 : 1.08)
    );
  }

  #mineOnTop(mergeSet: readonly Mined[], rewards: Reward[], carried: Carried[]): Mined {
    const selectedParent = (mergeSet[0] as Mined).block;
    const blues = mergeSet.filter(({ isRed }) => !isRed).map(({ block }) => block);
    const reds = mergeSet.filter(({ isRed }) => isRed).map(({ block }) => block);
    return this.#mine({ selectedParent, blues, reds, rewards, carried, isRed: false });
  }

  /** A block that the next chain block does not know, on top of the one below: a red one is late, and further down. */
  #mineBeside(feesOfParent: number, carried: Carried[]): Mined {
    const isRed = this.#latest.length === RED_IS_LATE_BY && this.#random.chance(CHANCE_OF_RED);
    const selectedParent = (isRed ? this.#latest[0] : this.#latest.at(-1)) as RpcBlock;
    const address = this.economy.minerAddress(this.economy.findMiner());
    const rewards = [{ amount: this.#subsidy() + (isRed ? 0 : feesOfParent), address }];
    return this.#mine({ selectedParent, blues: [selectedParent], reds: [], rewards, carried, isRed });
  }

  #mine({ selectedParent, blues, reds, rewards, carried, isRed }: Plan): Mined {
    const number = ++this.#blocks;
    const { header: below } = selectedParent;
    const bits = this.#bits();
    const blueScore = below.blueScore + BigInt(blues.length);
    const miner = this.economy.findMiner();
    const coinbase = makeCoinbase({
      blueScore: Number(blueScore),
      subsidy: this.#subsidy(),
      scriptPublicKey: this.addresses.scriptOf(this.economy.minerAddress(miner)),
      words: `2.1.0/pool-${miner + 1}`,
      rewards: rewards.map(({ amount, address }) => ({ amount, scriptPublicKey: this.addresses.scriptOf(address) })),
    });
    const all: Carried[] = [
      { transaction: coinbase, fee: 0, to: rewards.map(({ address }) => address), isRefused: false },
      ...carried,
    ];
    const merged = [...blues, ...reds];
    const header: Header = {
      version: 1,
      parentsByLevel: [merged.map(({ hash }) => hash), [selectedParent.hash], [this.genesis.hash]],
      hashMerkleRoot: merkleRoot(all.map(({ transaction }) => transaction.hash)),
      acceptedIdMerkleRoot: digest([this.#seed, 'accepted', number]),
      utxoCommitment: digest([this.#seed, 'utxos', number]),
      // Clocks of miners differ.
      timestamp: BigInt(Math.floor(this.#time + (this.#random.fraction() - 0.5) * INTERVAL_MS * 0.2)),
      bits,
      nonce: this.#random.uint64(),
      daaScore: below.daaScore + BigInt(merged.length),
      blueWork: blues.reduce((work, { header }) => work + workFromBits(header.bits), below.blueWork),
      blueScore,
      pruningPoint: this.genesis.hash,
    };
    const block: RpcBlock = {
      hash: headerHash(header),
      header,
      transactions: all.map(({ transaction }) => transaction),
      difficulty: difficultyFromBits(bits),
      selectedParentHash: selectedParent.hash,
      mergeSetBluesHashes: blues.map(({ hash }) => hash),
      mergeSetRedsHashes: reds.map(({ hash }) => hash),
      childrenHashes: [],
      transactionIds: [],
      blueScore,
      isHeaderOnly: false,
      isChainBlock: false,
    };
    return { block, miner, carried: all, isRed };
  }

  #subsidy(): number {
    return Math.floor(SUBSIDY * 2 ** (-(this.#time - BEGINS_AT) / DAY_MS / MONTH_DAYS / 12));
  }

  /** The target falls by a percent a day, and goes up and down meanwhile. */
  #bits(): number {
    const days = Math.floor((this.#time - BEGINS_AT) / (DAY_MS / 24)) / 24;
    const mantissa = Math.floor(BITS_MANTISSA * Math.exp(-0.01 * days + 0.05 * Math.sin(days)));
    return BITS_EXPONENT * 2 ** 24 + mantissa;
  }
}

function byBlueWork(a: Mined, b: Mined): number {
  const [one, other] = [a.block.header.blueWork, b.block.header.blueWork];
  return one === other ? Buffer.compare(a.block.hash, b.block.hash) : one < other ? -1 : 1;
}

export function makeGenesis(network: Network): RpcBlock {
  const { header, transactions } = genesisBlock(network);
  return {
    hash: network.genesisHash,
    header,
    transactions: transactions.map((transaction: Transaction) => named(transaction, 0n)),
    difficulty: difficultyFromBits(header.bits),
    selectedParentHash: header.pruningPoint,
    mergeSetBluesHashes: [],
    mergeSetRedsHashes: [],
    childrenHashes: [],
    transactionIds: [],
    blueScore: 0n,
    isHeaderOnly: false,
    isChainBlock: true,
  };
}
