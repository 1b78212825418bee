/**
 * Fills a simnet node with a busy DAG, round by round: siblings on one template, some handed in late, some so late that they turn
 * red, with payments and mischief. The node says what it accepted (Wallet); nothing here models consensus.
 */
import { fromHex, getNetwork, type Outpoint, toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { MinedBlock } from './miner.ts';
import { Mining } from './mining.ts';
import { doMischief, type Mischief, mischiefNames } from './mischief.ts';
import { fitting, type Payment } from './payment.ts';
import { Random } from './random.ts';
import { Traffic } from './traffic.ts';
import { Wallet } from './wallet.ts';

export interface LoadOptions {
  seed: string;
  /** Mean number of payments in a block. */
  paymentsPerBlock: number;
  /** Of the node's parameters, where they are not those of simnet. */
  params?: LoadParams;
}

export interface LoadParams {
  ghostdagK: number;
  /** In DAA score. */
  coinbaseMaturity: bigint;
}

const USERS = 2000;
/** Likelihoods of 1, 2, 3, 4 siblings. */
const WIDTHS = [35, 30, 20, 15];
const WARM_UP_WIDTH = 4;
/** Shares of the siblings after the first that carry mischief, and that are late. */
const MISCHIEF_SHARE = 0.3;
const LATE_SHARE = 0.06;
const MOST_BLOCKS_LATE = 20;
const ROUNDS_PER_RED = 20;
/** A block that misses more than k blocks is red. */
const BLOCKS_BEYOND_K_FOR_RED = 16;
const KEPT_PAST = 500;

const NO_MISCHIEF: Mischief = { payments: [], isValid: true };

export class Load {
  readonly random: Random;
  readonly wallet: Wallet;
  readonly traffic: Traffic;
  readonly mining: Mining;
  readonly #node: NodeClient;
  readonly #paymentsPerBlock: number;
  readonly #ghostdagK: number;
  /** Signed, not mined yet. */
  #queue: Payment[] = [];
  #postponed: { payment: Payment; fromDaaScore: bigint }[] = [];
  #past: Payment[] = [];
  /** Blocks that are handed in when there are so many of the load. */
  #late: { block: MinedBlock; fromBlocks: number }[] = [];
  #rounds = 0;
  #reds = 0;

  private constructor(
    node: NodeClient,
    sink: Uint8Array,
    { seed, paymentsPerBlock, params = getNetwork('simnet') }: LoadOptions,
  ) {
    this.random = new Random(seed);
    this.wallet = new Wallet(this.random, sink, params.coinbaseMaturity);
    this.traffic = new Traffic(this.random, this.wallet, { users: USERS });
    this.mining = new Mining(node, this.random, this.wallet, this.traffic.miners);
    this.#node = node;
    this.#paymentsPerBlock = paymentsPerBlock;
    this.#ghostdagK = params.ghostdagK;
  }

  /** Goes on from where the node is. Nobody else may mine on it. */
  static async begin(node: NodeClient, options: LoadOptions): Promise<Load> {
    const { sink } = await node.call('getSink', {});
    return new Load(node, fromHex(sink), options);
  }

  get blocks(): number {
    return this.mining.blocks;
  }

  /** Empty blocks until there are this many of the load, so that the first coinbases mature. */
  async warmUp(blocks: number): Promise<void> {
    while (this.blocks < blocks) {
      const templates = await this.mining.templates(WARM_UP_WIDTH);
      await this.wallet.follow(this.#node, templates[0]?.header?.daaScore ?? 0n);
      const empty = templates.map((template) => this.mining.make(template, []));
      // Late ones too: what is later than a node prunes is invalid.
      await this.mining.handIn([...empty, ...this.#takeLate()]);
    }
  }

  /** Rounds until there are this many blocks of the load. */
  async run({ blocks }: { blocks: number }): Promise<void> {
    while (this.blocks < blocks) await this.round();
  }

  async round(): Promise<void> {
    this.#rounds += 1;
    const templates = await this.mining.templates(1 + this.random.weighted(WIDTHS));
    const daaScore = templates[0]?.header?.daaScore ?? 0n;
    await this.wallet.follow(this.#node, daaScore);
    this.#resume(daaScore);

    const valid: MinedBlock[] = [];
    const invalid: MinedBlock[] = [];
    for (const [index, template] of templates.entries()) {
      const sibling = valid.at(-1)?.payments ?? [];
      const mischief =
        index > 0 && this.random.chance(MISCHIEF_SHARE) ? this.#mischief(sibling, daaScore) : NO_MISCHIEF;
      const block = this.mining.make(template, this.#fill(mischief.payments));
      const lateBlocks = index > 0 ? this.#lateBlocks() : 0;
      if (lateBlocks > 0) this.#late.push({ block, fromBlocks: this.blocks + lateBlocks });
      else (mischief.isValid ? valid : invalid).push(block);
    }
    const handedIn = this.mining.handIn([...valid, ...this.#takeLate()], invalid);
    // The node is busy now: time to sign.
    await new Promise(setImmediate);
    this.#sign();
    await handedIn;
  }

  /** Hands in what is late, then mines empty blocks until one tip is left, and nothing beside it unmerged. */
  async settle(): Promise<void> {
    await this.mining.handIn(this.#takeLate({ all: true }));
    for (;;) {
      const templates = await this.mining.templates(1);
      const { tipHashes } = await this.#node.call('getBlockDagInfo', {});
      if (tipHashes.length === 1 && templates[0]?.header?.parents[0]?.parentHashes.length === 1) return;
      await this.mining.handIn(templates.map((template) => this.mining.make(template, [])));
    }
  }

  /** Signed payments of UTXOs that are there now, none of which contradicts another. */
  takePayments(count: number): Payment[] {
    while (this.#queue.length < count) {
      const payment = this.traffic.next();
      if (payment === undefined) break;
      this.#queue.push(payment);
    }
    return this.#queue.splice(0, count);
  }

  /** What a block carries: the extra payments, and as many of the queue as fit and may stand beside them. */
  #fill(extra: Payment[]): Payment[] {
    const wanted = this.random.chance(0.1) ? 0 : Math.round(this.#paymentsPerBlock * 2 * this.random.fraction());
    const isFree = beside(extra);
    const chosen = fitting([...extra, ...this.#queue.slice(0, wanted).filter(isFree)]);
    this.#queue = this.#queue.filter((payment) => !chosen.includes(payment));
    this.#past = [...this.#past, ...chosen].slice(-KEPT_PAST);
    return chosen;
  }

  #mischief(sibling: readonly Payment[], daaScore: bigint): Mischief {
    return doMischief(this.random.pick(mischiefNames), sibling, {
      random: this.random,
      traffic: this.traffic,
      wallet: this.wallet,
      daaScore,
      past: this.#past,
      later: (payment, fromDaaScore) => this.#postponed.push({ payment, fromDaaScore }),
    });
  }

  #sign(): void {
    const wanted = Math.ceil(this.#paymentsPerBlock * WIDTHS.length * 2);
    while (this.#queue.length < wanted) {
      const payment = this.traffic.next();
      if (payment === undefined) return;
      this.#queue.push(payment);
    }
  }

  /** Puts payments of UTXOs that are mature by now at the head of the queue. */
  #resume(daaScore: bigint): void {
    const due = this.#postponed.filter(({ fromDaaScore }) => fromDaaScore <= daaScore);
    this.#postponed = this.#postponed.filter(({ fromDaaScore }) => fromDaaScore > daaScore);
    this.#queue.unshift(...due.map(({ payment }) => payment));
  }

  /** How many blocks a block is to be late by. */
  #lateBlocks(): number {
    if (this.#rounds > (this.#reds + 1) * ROUNDS_PER_RED) {
      this.#reds += 1;
      return this.#ghostdagK + BLOCKS_BEYOND_K_FOR_RED;
    }
    return this.random.chance(LATE_SHARE) ? 1 + this.random.below(MOST_BLOCKS_LATE) : 0;
  }

  #takeLate({ all = false } = {}): MinedBlock[] {
    const due = this.#late.filter(({ fromBlocks }) => all || fromBlocks <= this.blocks);
    this.#late = this.#late.filter((entry) => !due.includes(entry));
    return due.map(({ block }) => block);
  }
}

/** Which payments may stand in one block with others: consensus forbids one twice, a UTXO spent twice, and to spend what the block makes. */
function beside(others: readonly Payment[]): (payment: Payment) => boolean {
  const made = new Set(others.map(({ id }) => toHex(id)));
  const spent = others.flatMap(({ plan }) => plan.utxos.map(({ outpoint }) => outpoint));
  const spentUtxos = new Set(spent.map(nameOf));
  const spentOf = new Set(spent.map(({ transactionId }) => toHex(transactionId)));
  return ({ id, plan }) =>
    !made.has(toHex(id)) &&
    !spentOf.has(toHex(id)) &&
    plan.utxos.every(({ outpoint }) => !made.has(toHex(outpoint.transactionId)) && !spentUtxos.has(nameOf(outpoint)));
}

const nameOf = ({ transactionId, index }: Outpoint): string => `${toHex(transactionId)}:${index}`;
