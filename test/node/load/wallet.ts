/**
 * The UTXOs of the load that can be spent now, by what the node says: outputs of transactions that its chain has accepted and that no
 * payment of the load spends yet. A reorganisation makes the outputs of a transaction unspendable until it is accepted again.
 */
import { type Ledger, Random, Wallet as EconomyWallet, type UtxoEntry } from '@kasgres/devnet';
import { toHex, type Hash, type ScriptPublicKey, type Transaction } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { LoadKeys } from './owner.ts';
import type { Utxo } from './payment.ts';

/** DAA scores that a coinbase output is left alone for beyond its maturity. */
const SPARE_MATURITY = 5;

export class Wallet implements Ledger {
  /** The economy's view of the same UTXOs. */
  readonly economy: EconomyWallet;
  readonly #keys: LoadKeys;
  readonly #random: Random;
  readonly #coinbaseMaturity: number;
  readonly #expected = new Map<string, { transaction: Transaction; isCoinbase: boolean }>();
  /** Ids of transactions that the node's chain accepts up to `#sink`. */
  readonly #accepted = new Set<string>();
  readonly #acceptedBy = new Map<string, string[]>();
  /** Keys of outpoints. */
  readonly #spent = new Set<string>();
  #sink: Hash;
  #daaScore = 0;

  /** @param sink the load owns no output that was accepted up to this block */
  constructor(random: Random, keys: LoadKeys, sink: Hash, coinbaseMaturity: bigint) {
    this.#random = random;
    this.#keys = keys;
    this.#coinbaseMaturity = Number(coinbaseMaturity);
    this.#sink = sink;
    this.economy = new EconomyWallet(keys, this);
  }

  /** The scripts of all expected outputs. */
  get scripts(): ScriptPublicKey[] {
    return [...this.#expected.values()].flatMap(({ transaction }) =>
      transaction.outputs.map(({ scriptPublicKey }) => scriptPublicKey),
    );
  }

  isMature({ isCoinbase, blockDaaScore }: UtxoEntry): boolean {
    return !isCoinbase || Number(blockDaaScore) + this.#coinbaseMaturity + SPARE_MATURITY <= this.#daaScore;
  }

  isSpendable(entry: UtxoEntry): boolean {
    return this.#accepted.has(toHex(entry.outpoint.transactionId)) && !this.#spent.has(entry.key);
  }

  /** Tells the wallet of a transaction, before or after it is mined. */
  expect(transactionId: Hash, transaction: Transaction, { isCoinbase = false } = {}): void {
    const id = toHex(transactionId);
    if (!this.#expected.has(id)) this.#expected.set(id, { transaction, isCoinbase });
  }

  /** Follows the node's chain to its sink. `daaScore` is that of the next block. */
  async follow(node: NodeClient, daaScore: bigint): Promise<void> {
    this.#daaScore = Number(daaScore);
    for (;;) {
      const chain = await node.getVirtualChainFromBlock({ startHash: this.#sink, includeAcceptedTransactionIds: true });
      for (const hash of chain.removedChainBlockHashes) this.#revert(toHex(hash));
      for (const { acceptingBlockHash, acceptedTransactionIds } of chain.acceptedTransactionIds) {
        this.#accept(toHex(acceptingBlockHash), acceptedTransactionIds);
        this.#sink = Uint8Array.from(acceptingBlockHash);
      }
      if (chain.addedChainBlockHashes.length === 0) return;
    }
  }

  /** Takes a random UTXO, which counts as spent from then on. */
  take(): Utxo | undefined {
    const utxo = this.economy.take(this.#random);
    if (utxo === undefined) return undefined;
    this.spend([utxo.entry]);
    return this.#keys.utxoOf(utxo.entry);
  }

  /** Gives back a UTXO that was taken and not used after all. */
  giveBack({ entry }: Utxo): void {
    this.#spent.delete(entry.key);
    this.economy.put(entry);
  }

  spend(entries: readonly UtxoEntry[]): void {
    for (const { key } of entries) this.#spent.add(key);
  }

  /** Takes a coinbase UTXO that stays immature for at least this many DAA scores. The wallet never hands it out again. */
  takeImmature(leftAtLeast: number): { utxo: Utxo; fromDaaScore: bigint } | undefined {
    const maturesAt = ({ blockDaaScore }: UtxoEntry): number =>
      Number(blockDaaScore) + this.#coinbaseMaturity + SPARE_MATURITY;
    const entry = this.economy.takeImmature(
      (candidate) =>
        maturesAt(candidate) >= this.#daaScore + leftAtLeast &&
        this.#keys.find(candidate.scriptPublicKey) !== undefined &&
        this.isSpendable(candidate),
    );
    if (entry === undefined) return undefined;
    this.spend([entry]);
    return { utxo: this.#keys.utxoOf(entry), fromDaaScore: BigInt(maturesAt(entry)) };
  }

  #accept(by: string, transactionIds: readonly Hash[]): void {
    const ids = transactionIds.map(toHex);
    this.#acceptedBy.set(by, ids);
    for (const [index, id] of ids.entries()) {
      this.#accepted.add(id);
      const expected = this.#expected.get(id);
      const transactionId = transactionIds[index];
      if (expected === undefined || transactionId === undefined) continue;
      const { transaction, isCoinbase } = expected;
      this.economy.learn({ ...transaction, transactionId: Uint8Array.from(transactionId) }, this.#daaScore, isCoinbase);
    }
  }

  #revert(by: string): void {
    for (const id of this.#acceptedBy.get(by) ?? []) this.#accepted.delete(id);
    this.#acceptedBy.delete(by);
  }
}
