/**
 * Which UTXOs of the load can be spent now, by what the node says: outputs of transactions that its chain has accepted and that
 * nothing of ours spends yet. A transaction that a reorganisation takes back takes its UTXOs with it until it is accepted again.
 */
import { toHex, type Hash, type ScriptPublicKey } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { Utxo } from './utxo.ts';
import type { Owner } from './owner.ts';
import type { Random } from './random.ts';

/** Blocks that a coinbase is left alone for beyond its maturity. */
const SPARE_MATURITY = 5n;

interface Made {
  utxos: Utxo[];
  isCoinbase: boolean;
}

export class Wallet {
  readonly #random: Random;
  /** In DAA score. */
  readonly #coinbaseMaturity: bigint;
  readonly #made = new Map<string, Made>();
  /** Accepted now, by the node's chain up to `#sink`. */
  readonly #accepted = new Set<string>();
  readonly #acceptedBy = new Map<string, string[]>();
  /** UTXOs that are in the pool, maturing, or taken. */
  readonly #handled = new Set<Utxo>();
  #pool: Utxo[] = [];
  #maturing: { utxo: Utxo; fromDaaScore: bigint }[] = [];
  #sink: Hash;

  /** `sink`: what the chain accepted up to there is none of ours. */
  constructor(random: Random, sink: Hash, coinbaseMaturity: bigint) {
    this.#random = random;
    this.#coinbaseMaturity = coinbaseMaturity;
    this.#sink = sink;
  }

  get size(): number {
    return this.#pool.length;
  }

  /** Of every UTXO that it was ever told of. */
  get scripts(): ScriptPublicKey[] {
    return [...this.#made.values()].flatMap(({ utxos }) => utxos.map(({ output }) => output.scriptPublicKey));
  }

  /** Tells the wallet what a transaction makes, before or after it is mined. */
  expect(transactionId: Hash, utxos: Utxo[], { isCoinbase = false } = {}): void {
    const id = toHex(transactionId);
    if (!this.#made.has(id)) this.#made.set(id, { utxos, isCoinbase });
  }

  /** Follows the node's chain to its sink. `daaScore` is the present one: coinbases mature by it. */
  async follow(node: NodeClient, daaScore: bigint): Promise<void> {
    for (;;) {
      const answer = await node.getVirtualChainFromBlock({
        startHash: this.#sink,
        includeAcceptedTransactionIds: true,
      });
      for (const hash of answer.removedChainBlockHashes) this.#takeBack(toHex(hash));
      for (const { acceptingBlockHash, acceptedTransactionIds } of answer.acceptedTransactionIds) {
        this.#accept(toHex(acceptingBlockHash), acceptedTransactionIds.map(toHex), daaScore);
        this.#sink = Uint8Array.from(acceptingBlockHash);
      }
      if (answer.addedChainBlockHashes.length === 0) break;
    }
    this.#maturing = this.#maturing.filter(({ utxo, fromDaaScore }) => {
      if (fromDaaScore > daaScore) return true;
      this.#pool.push(utxo);
      return false;
    });
  }

  /** A UTXO at random, which is then spent as far as the wallet knows. */
  take(): Utxo | undefined {
    while (this.#pool.length > 0) {
      const [utxo] = this.#pool.splice(this.#random.below(this.#pool.length), 1);
      if (utxo === undefined) break;
      if (this.#isAccepted(utxo)) return utxo;
      this.#handled.delete(utxo);
    }
    return undefined;
  }

  /** Up to `limit` UTXOs of one owner. */
  takeOf(owner: Owner, limit: number): Utxo[] {
    const taken = new Set(this.#pool.filter((utxo) => utxo.owner === owner && this.#isAccepted(utxo)).slice(0, limit));
    this.#pool = this.#pool.filter((utxo) => !taken.has(utxo));
    return [...taken];
  }

  /** Gives back a UTXO that was taken and not used after all. */
  giveBack(utxo: Utxo): void {
    this.#pool.push(utxo);
  }

  /** Marks a UTXO as spent that is not in the pool yet. */
  reserve(utxo: Utxo): void {
    this.#handled.add(utxo);
  }

  /** A coinbase UTXO that is not mature for this many blocks at least, or undefined; the wallet never hands it out again. */
  takeImmature(daaScore: bigint, leftAtLeast: bigint): { utxo: Utxo; fromDaaScore: bigint } | undefined {
    const found = this.#maturing.find(({ fromDaaScore }) => fromDaaScore >= daaScore + leftAtLeast);
    this.#maturing = this.#maturing.filter((entry) => entry !== found);
    return found;
  }

  #accept(by: string, ids: string[], daaScore: bigint): void {
    this.#acceptedBy.set(by, ids);
    for (const id of ids) {
      this.#accepted.add(id);
      const made = this.#made.get(id);
      for (const utxo of made?.utxos ?? []) {
        if (this.#handled.has(utxo)) continue;
        this.#handled.add(utxo);
        if (made?.isCoinbase === true)
          this.#maturing.push({ utxo, fromDaaScore: daaScore + this.#coinbaseMaturity + SPARE_MATURITY });
        else this.#pool.push(utxo);
      }
    }
  }

  #takeBack(by: string): void {
    for (const id of this.#acceptedBy.get(by) ?? []) this.#accepted.delete(id);
    this.#acceptedBy.delete(by);
  }

  #isAccepted(utxo: Utxo): boolean {
    return this.#accepted.has(toHex(utxo.outpoint.transactionId));
  }
}
