/**
 * MuHash: a hash of a set of coins that does not depend on their order, which block headers commit to (rusty-kaspa, crypto/muhash).
 * Each coin becomes a number of 3072 bits, and the set is their product modulo a prime: parts of a set can be hashed apart, on
 * several threads, and combined; and a set that changes is followed, since a coin that leaves it is divided by.
 */
import { ByteWriter } from './byte-writer.ts';
import { fillWithKeyStream } from './chacha20.ts';
import { hashMuHashElement, hashMuHashFinalize } from './keyed-hash.ts';
import type { Hash, Utxo } from './model.ts';

const BITS = 3072;
const BYTES = BITS / 8;
/** The modulus is 2^3072 minus this, so what is above 3072 bits counts this much. */
const SHORTFALL = 1_103_717n;
const MODULUS = (1n << BigInt(BITS)) - SHORTFALL;

const writer = new ByteWriter();
const element = Buffer.alloc(BYTES);
const elementView = new DataView(element.buffer, element.byteOffset, BYTES);

export class MuHash {
  #product = 1n;
  /** Of the coins that were taken out. A division costs as much as hundreds of multiplications, so all are made as one. */
  #divisor = 1n;

  /** Begins with the product of another one, which may come from another thread. */
  constructor(product = 1n) {
    if (product <= 0n) throw new RangeError('a product is positive');
    this.#product = reduce(product);
  }

  /** Stands for the coins that are in the set, in whatever order they came and went. */
  get product(): bigint {
    if (this.#divisor !== 1n) {
      this.#product = reduce(this.#product * inverse(this.#divisor));
      this.#divisor = 1n;
    }
    return this.#product;
  }

  add(utxo: Utxo): void {
    this.#product = reduce(this.#product * numberOf(utxo));
  }

  /** Takes out a coin that is in the set; nothing here notices when it is not. */
  remove(utxo: Utxo): void {
    this.#divisor = reduce(this.#divisor * numberOf(utxo));
  }

  /** Adds all coins of another. */
  combine({ product }: MuHash): void {
    this.#product = reduce(this.#product * product);
  }

  /** What stands in a header as `utxoCommitment`. */
  commitment(): Hash {
    const bytes = Buffer.from((this.product % MODULUS).toString(16).padStart(BYTES * 2, '0'), 'hex');
    return hashMuHashFinalize(bytes.reverse());
  }
}

/** What is hashed of a coin. A view, valid until the next call. */
function serialize({ outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId }: Utxo): Uint8Array {
  writer.reset().bytes(outpoint.transactionId).uint32(outpoint.index);
  writer
    .uint64(blockDaaScore)
    .uint64(amount)
    .uint8(isCoinbase ? 1 : 0);
  writer.uint16(scriptPublicKey.version).lengthAndBytes(scriptPublicKey.script);
  if (covenantId !== undefined) writer.bytes(covenantId);
  return writer.written();
}

function numberOf(utxo: Utxo): bigint {
  fillWithKeyStream(elementView, hashMuHashElement(serialize(utxo)));
  // The stream is the number from its lowest byte up; hex is written from the highest, and is the fastest way to a bigint.
  return BigInt(`0x${element.reverse().toString('hex')}`);
}

/** What times the value is 1, modulo the prime (Euclid's algorithm, extended). */
function inverse(value: bigint): bigint {
  let [dividend, divisor] = [MODULUS, value % MODULUS];
  let [factor, next] = [0n, 1n];
  while (divisor !== 0n) {
    const quotient = dividend / divisor;
    [dividend, divisor] = [divisor, dividend - quotient * divisor];
    [factor, next] = [next, factor - quotient * next];
  }
  return factor < 0n ? factor + MODULUS : factor;
}

/** Below 2^3072, or a little above: what is left above is folded in by the next multiplication, and by the remainder in the end. */
function reduce(product: bigint): bigint {
  return fold(fold(product));
}

function fold(value: bigint): bigint {
  return BigInt.asUintN(BITS, value) + (value >> BigInt(BITS)) * SHORTFALL;
}
