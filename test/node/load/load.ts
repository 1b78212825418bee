/**
 * The economy of the simulated network on a real simnet node. It fills the node with a busy DAG,
 * round by round: siblings on one template, some submitted late, some so late that they turn red,
 * with payments and mischief. Only the node decides what is accepted.
 */
import { Random } from '@kasgres/devnet';
import { fromHex, getNetwork, toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import { LoadKeys } from './keys.ts';
import { type MinedBlock, Mining } from './miner.ts';
import { createMischief } from './mischief.ts';
import { fitting, idOf, type Payment } from './payment.ts';
import { loadOptions, Traffic } from './traffic.ts';
import { Wallet } from './wallet.ts';

export interface LoadOptions {
  seed: string;
  /** The mean number of payments in a block. */
  paymentsPerBlock: number;
  /** The node's parameters if they are not those of simnet. */
  params?: LoadParams;
}

export interface LoadParams {
  ghostdagK: number;
  /** In DAA score. */
  coinbaseMaturity: bigint;
}

/** Likelihoods of 1, 2, 3, 4 siblings. */
const WIDTHS = [35, 30, 20, 15];
const WARM_UP_WIDTH = 4;
/** Shares of the siblings after the first that carry mischief, and that are late. */
const MISCHIEF_SHARE = 0.3;
const LATE_SHARE = 0.06;
const MAX_BLOCKS_LATE = 20;
const ROUNDS_PER_RED = 20;
/** A block that misses more than k blocks is red. */
const BLOCKS_BEYOND_K_FOR_RED = 16;
const KEPT_PAST = 500;

export class Load {
  readonly random: Random;
  readonly keys: LoadKeys;
  readonly wallet: Wallet;
  readonly traffic: Traffic;
  readonly mining: Mining;
  /** The latest mined payments. */
  past: Payment[] = [];
  readonly #node: NodeClient;
  readonly #paymentsPerBlock: number;
  readonly #ghostdagK: number;
  /** Signed and not mined yet. */
  #queue: Payment[] = [];
  #postponed: { payment: Payment; fromDaaScore: number }[] = [];
  /** Blocks that are submitted once the load has `fromBlocks` blocks. */
  #late: { block: MinedBlock; fromBlocks: number }[] = [];
  #rounds = 0;
  #reds = 0;

  private constructor(
    node: NodeClient,
    sink: Uint8Array,
    { seed, paymentsPerBlock, params = getNetwork('simnet') }: LoadOptions,
  ) {
    const options = loadOptions(seed);
    this.random = new Random(seed, 'load');
    this.keys = new LoadKeys(options);
    this.wallet = new Wallet(this.random, this.keys, sink, params.coinbaseMaturity);
    this.traffic = new Traffic(this.random, this.keys, this.wallet, options);
    this.mining = new Mining(node, this.random, this.wallet, this.keys);
    this.#node = node;
    this.#paymentsPerBlock = paymentsPerBlock;
    this.#ghostdagK = params.ghostdagK;
  }

  /** Starts at the node's sink. Nobody else may mine on the node. */
  static async begin(node: NodeClient, options: LoadOptions): Promise<Load> {
    const { sink } = await node.call('getSink', {});
    return new Load(node, fromHex(sink), options);
  }

  get blocks(): number {
    return this.mining.blocks;
  }

  /** Mines empty blocks until the load has this many, so that the first coinbases mature. */
  async warmUp(blocks: number): Promise<void> {
    while (this.blocks < blocks) {
      const templates = await this.#templates(WARM_UP_WIDTH);
      const empty = templates.map((template) => this.mining.make(template, []));
      // Late blocks too: a block that is later than the node prunes is invalid.
      await this.mining.submit([...empty, ...this.#takeLate()]);
    }
  }

  /** Runs rounds until the load has this many blocks. */
  async run({ blocks }: { blocks: number }): Promise<void> {
    while (this.blocks < blocks) await this.round();
  }

  async round(): Promise<void> {
    this.#rounds += 1;
    const templates = await this.#templates(1 + this.random.weighted(WIDTHS));
    const valid: MinedBlock[] = [];
    const invalid: MinedBlock[] = [];
    for (const [index, template] of templates.entries()) {
      const hasMischief = index > 0 && this.random.chance(MISCHIEF_SHARE);
      const { payments, isValid } = hasMischief
        ? createMischief(valid.at(-1)?.payments ?? [], this)
        : { payments: [], isValid: true };
      const block = this.mining.make(template, this.#fill(payments));
      const lateBlocks = index > 0 ? this.#lateBlocks() : 0;
      if (lateBlocks > 0) this.#late.push({ block, fromBlocks: this.blocks + lateBlocks });
      else (isValid ? valid : invalid).push(block);
    }
    const submitted = this.mining.submit([...valid, ...this.#takeLate()], invalid);
    // Signing uses the time in which the node is busy.
    await new Promise(setImmediate);
    this.#sign(Math.ceil(this.#paymentsPerBlock * WIDTHS.length * 2));
    await submitted;
  }

  /**
   * Submits the late blocks, then mines empty blocks until one tip is left that merges everything.
   */
  async settle(): Promise<void> {
    await this.mining.submit(this.#takeLate({ all: true }));
    for (;;) {
      const templates = await this.mining.templates(1);
      const { tipHashes } = await this.#node.call('getBlockDagInfo', {});
      if (tipHashes.length === 1 && templates[0]?.header?.parents[0]?.parentHashes.length === 1) return;
      await this.mining.submit(templates.map((template) => this.mining.make(template, [])));
    }
  }

  /** Returns signed payments of existing UTXOs. No two of them conflict. */
  takePayments(count: number): Payment[] {
    this.#sign(count);
    return this.#queue.splice(0, count);
  }

  /** Queues a payment that is to be mined once the DAA score is reached. */
  postpone(payment: Payment, fromDaaScore: number): void {
    this.#postponed.push({ payment, fromDaaScore });
  }

  /**
   * Returns templates, and follows the node's chain up to them. Payments of UTXOs that are mature
   * by now move to the head of the queue.
   */
  async #templates(count: number): ReturnType<Mining['templates']> {
    const templates = await this.mining.templates(count);
    const daaScore = templates[0]?.header?.daaScore ?? 0n;
    await this.wallet.follow(this.#node, daaScore);
    const due = this.#postponed.filter(({ fromDaaScore }) => fromDaaScore <= daaScore);
    this.#postponed = this.#postponed.filter((postponed) => !due.includes(postponed));
    this.#queue.unshift(...due.map(({ payment }) => payment));
    return templates;
  }

  /**
   * Returns the payments of a block: the extra ones, and those of the queue that fit and are
   * compatible.
   */
  #fill(extra: Payment[]): Payment[] {
    const wanted = this.random.chance(0.1) ? 0 : Math.round(this.#paymentsPerBlock * 2 * this.random.fraction());
    const isFree = compatibleWith(extra);
    const chosen = fitting([...extra, ...this.#queue.slice(0, wanted).filter(isFree)]);
    this.#queue = this.#queue.filter((payment) => !chosen.includes(payment));
    this.past = [...this.past, ...chosen].slice(-KEPT_PAST);
    return chosen;
  }

  /** Fills the queue up to this number of payments. */
  #sign(wanted: number): void {
    while (this.#queue.length < wanted) {
      const payment = this.traffic.next();
      if (payment === undefined) return;
      this.#queue.push(payment);
    }
  }

  /** Returns by how many blocks a block is late. */
  #lateBlocks(): number {
    if (this.#rounds > (this.#reds + 1) * ROUNDS_PER_RED) {
      this.#reds += 1;
      return this.#ghostdagK + BLOCKS_BEYOND_K_FOR_RED;
    }
    return this.random.chance(LATE_SHARE) ? 1 + this.random.below(MAX_BLOCKS_LATE) : 0;
  }

  #takeLate({ all = false } = {}): MinedBlock[] {
    const due = this.#late.filter(({ fromBlocks }) => all || fromBlocks <= this.blocks);
    this.#late = this.#late.filter((entry) => !due.includes(entry));
    return due.map(({ block }) => block);
  }
}

/** A block may not contain a payment twice, spend a UTXO twice, or spend its own outputs. */
function compatibleWith(others: readonly Payment[]): (payment: Payment) => boolean {
  const ids = new Set(others.map(idOf));
  const entries = others.flatMap(({ draft }) => draft.utxos.map(({ entry }) => entry));
  const spent = new Set(entries.map(({ key }) => key));
  const parents = new Set(entries.map(({ outpoint }) => toHex(outpoint.transactionId)));
  return (payment) =>
    !ids.has(idOf(payment)) &&
    !parents.has(idOf(payment)) &&
    payment.draft.utxos.every(({ entry }) => !spent.has(entry.key) && !ids.has(toHex(entry.outpoint.transactionId)));
}
