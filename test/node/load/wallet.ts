/**
 * Which coins of the load can be spent now, by what the node says: outputs of transactions that its chain has accepted and that
 * nothing of ours spends yet. A transaction that a reorganisation takes back takes its coins with it until it is accepted again.
 */
import { toHex, type Hash, type ScriptPublicKey } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { Coin } from './coin.ts';
import type { Owner } from './owner.ts';
import type { Random } from './random.ts';

/** Blocks that a coinbase is left alone for beyond its maturity. */
const SPARE_MATURITY = 5n;

interface Made {
  coins: Coin[];
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
  /** Coins that are in the pool, maturing, or taken. */
  readonly #handled = new Set<Coin>();
  #pool: Coin[] = [];
  #maturing: { coin: Coin; fromDaaScore: bigint }[] = [];
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

  /** Of every coin that it was ever told of. */
  get scripts(): ScriptPublicKey[] {
    return [...this.#made.values()].flatMap(({ coins }) => coins.map(({ output }) => output.scriptPublicKey));
  }

  /** Tells the wallet what a transaction makes, before or after it is mined. */
  expect(transactionId: Hash, coins: Coin[], { isCoinbase = false } = {}): void {
    const id = toHex(transactionId);
    if (!this.#made.has(id)) this.#made.set(id, { coins, isCoinbase });
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
    this.#maturing = this.#maturing.filter(({ coin, fromDaaScore }) => {
      if (fromDaaScore > daaScore) return true;
      this.#pool.push(coin);
      return false;
    });
  }

  /** A coin at random, which is then spent as far as the wallet knows. */
  take(): Coin | undefined {
    while (this.#pool.length > 0) {
      const [coin] = this.#pool.splice(this.#random.below(this.#pool.length), 1);
      if (coin === undefined) break;
      if (this.#isAccepted(coin)) return coin;
      this.#handled.delete(coin);
    }
    return undefined;
  }

  /** Up to `limit` coins of one owner. */
  takeOf(owner: Owner, limit: number): Coin[] {
    const taken = new Set(this.#pool.filter((coin) => coin.owner === owner && this.#isAccepted(coin)).slice(0, limit));
    this.#pool = this.#pool.filter((coin) => !taken.has(coin));
    return [...taken];
  }

  /** Gives back a coin that was taken and not used after all. */
  giveBack(coin: Coin): void {
    this.#pool.push(coin);
  }

  /** Marks a coin as spent that is not in the pool yet. */
  reserve(coin: Coin): void {
    this.#handled.add(coin);
  }

  /** A coinbase coin that is not mature for this many blocks at least, or undefined; the wallet never hands it out again. */
  takeImmature(daaScore: bigint, leftAtLeast: bigint): { coin: Coin; fromDaaScore: bigint } | undefined {
    const found = this.#maturing.find(({ fromDaaScore }) => fromDaaScore >= daaScore + leftAtLeast);
    this.#maturing = this.#maturing.filter((entry) => entry !== found);
    return found;
  }

  #accept(by: string, ids: string[], daaScore: bigint): void {
    this.#acceptedBy.set(by, ids);
    for (const id of ids) {
      this.#accepted.add(id);
      const made = this.#made.get(id);
      for (const coin of made?.coins ?? []) {
        if (this.#handled.has(coin)) continue;
        this.#handled.add(coin);
        if (made?.isCoinbase === true)
          this.#maturing.push({ coin, fromDaaScore: daaScore + this.#coinbaseMaturity + SPARE_MATURITY });
        else this.#pool.push(coin);
      }
    }
  }

  #takeBack(by: string): void {
    for (const id of this.#acceptedBy.get(by) ?? []) this.#accepted.delete(id);
    this.#acceptedBy.delete(by);
  }

  #isAccepted(coin: Coin): boolean {
    return this.#accepted.has(toHex(coin.outpoint.transactionId));
  }
}
