/**
 * The UTXOs of the load that the node says can be spent: outputs of transactions that its chain has
 * accepted and that no payment of the load spends yet. A reorg makes the outputs of a transaction
 * unspendable until it is accepted again.
 */
import {
  type DagTransaction,
  type Ledger,
  type Random,
  type UtxoEntry,
  Wallet as EconomyWallet,
} from '@kasgres/devnet';
import { type Hash, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { LoadKeys } from './keys.ts';

/** DAA scores that a coinbase output stays unused beyond its maturity. */
const SPARE_MATURITY = 5;

export class Wallet implements Ledger {
  readonly economy: EconomyWallet;
  readonly #keys: LoadKeys;
  readonly #random: Random;
  /** In DAA score, with the spare. */
  readonly #maturity: number;
  readonly #expected = new Map<string, { transaction: DagTransaction; isCoinbase: boolean }>();
  /** The accepting chain block of each transaction that the chain accepts up to `#sink`. */
  readonly #acceptedBy = new Map<string, string>();
  /** Keys of outpoints. */
  readonly #spent = new Set<string>();
  #sink: Hash;
  #daaScore = 0;

  /** @param sink the load owns no output that was accepted up to this block */
  constructor(random: Random, keys: LoadKeys, sink: Hash, coinbaseMaturity: bigint) {
    this.#random = random;
    this.#keys = keys;
    this.#maturity = Number(coinbaseMaturity) + SPARE_MATURITY;
    this.#sink = sink;
    this.economy = new EconomyWallet(keys, this);
  }

  /** The scripts of all expected outputs. */
  get scripts(): ScriptPublicKey[] {
    const transactions = [...this.#expected.values()].map(({ transaction }) => transaction);
    return transactions.flatMap(({ outputs }) => outputs.map(({ scriptPublicKey }) => scriptPublicKey));
  }

  isMature(entry: UtxoEntry): boolean {
    return !entry.isCoinbase || this.#maturesAt(entry) <= this.#daaScore;
  }

  isSpendable({ key, outpoint }: UtxoEntry): boolean {
    return this.#acceptedBy.has(toHex(outpoint.transactionId)) && !this.#spent.has(key);
  }

  /** Registers a transaction, before or after it is mined. */
  expect(transaction: DagTransaction, isCoinbase = false): void {
    this.#expected.set(toHex(transaction.transactionId), { transaction, isCoinbase });
  }

  /** Follows the node's chain to its sink. `daaScore` is that of the next block. */
  async follow(node: NodeClient, daaScore: bigint): Promise<void> {
    this.#daaScore = Number(daaScore);
    for (;;) {
      const chain = await node.getVirtualChainFromBlock({ startHash: this.#sink, includeAcceptedTransactionIds: true });
      const removed = new Set(chain.removedChainBlockHashes.map(toHex));
      for (const [id, by] of removed.size === 0 ? [] : this.#acceptedBy) {
        if (removed.has(by)) this.#acceptedBy.delete(id);
      }
      for (const { acceptingBlockHash, acceptedTransactionIds } of chain.acceptedTransactionIds) {
        this.#sink = Uint8Array.from(acceptingBlockHash);
        for (const id of acceptedTransactionIds.map(toHex)) this.#accept(id, toHex(acceptingBlockHash));
      }
      if (chain.addedChainBlockHashes.length === 0) return;
    }
  }

  /** Takes a random UTXO, which counts as spent from then on. */
  take(): UtxoEntry | undefined {
    const entry = this.economy.take(this.#random)?.entry;
    if (entry !== undefined) this.spend([entry]);
    return entry;
  }

  /** Takes a UTXO of more than this amount that a mempool lets anyone spend. */
  takeStandard(moreThanSompi = 0n): UtxoEntry {
    for (let entry = this.take(); entry !== undefined; entry = this.take()) {
      if (this.#keys.isStandard(entry) && entry.amount > moreThanSompi) return entry;
    }
    throw new Error('the load has no UTXO left');
  }

  /**
   * Takes a coinbase UTXO that stays immature for at least this many DAA scores. The wallet never
   * returns it again.
   */
  takeImmature(leftAtLeast: number): { entry: UtxoEntry; fromDaaScore: number } | undefined {
    const entry = this.economy.takeImmature(
      (candidate) =>
        this.#maturesAt(candidate) >= this.#daaScore + leftAtLeast &&
        this.#keys.find(candidate.scriptPublicKey) !== undefined &&
        this.isSpendable(candidate),
    );
    if (entry === undefined) return undefined;
    this.spend([entry]);
    return { entry, fromDaaScore: this.#maturesAt(entry) };
  }

  /** Returns a UTXO that was taken and not used. */
  giveBack(entry: UtxoEntry): void {
    this.#spent.delete(entry.key);
    this.economy.put(entry);
  }

  spend(entries: readonly UtxoEntry[]): void {
    for (const { key } of entries) this.#spent.add(key);
  }

  #maturesAt({ blockDaaScore }: UtxoEntry): number {
    return Number(blockDaaScore) + this.#maturity;
  }

  #accept(id: string, by: string): void {
    this.#acceptedBy.set(id, by);
    const expected = this.#expected.get(id);
    if (expected !== undefined) this.economy.learn(expected.transaction, this.#daaScore, expected.isCoinbase);
  }
}
