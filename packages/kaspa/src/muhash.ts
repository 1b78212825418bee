/**
 * MuHash: a hash of a set of UTXOs that does not depend on their order, which block headers commit to (rusty-kaspa, crypto/muhash).
 * Each UTXO becomes a number of 3072 bits, and the set is their product modulo a prime: parts of a set can be hashed apart, on
 * several threads, and combined; and a set that changes is followed, since a UTXO that leaves it is divided by.
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
  /** Of the UTXOs that were taken out. A division costs as much as hundreds of multiplications, so all are made as one. */
  #divisor = 1n;

  /** Begins with the product of another one, which may come from another thread. */
  constructor(product = 1n) {
    if (product <= 0n) throw new RangeError('a product is positive');
    this.#product = reduce(product);
  }

  /** Stands for the UTXOs that are in the set, in whatever order they came and went. */
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

  /** Takes out a UTXO that is in the set; nothing here notices when it is not. */
  remove(utxo: Utxo): void {
    this.#divisor = reduce(this.#divisor * numberOf(utxo));
  }

  /** Adds all UTXOs of another. */
  combine({ product }: MuHash): void {
    this.#product = reduce(this.#product * product);
  }

  /** What stands in a header as `utxoCommitment`. */
  commitment(): Hash {
    const bytes = Buffer.from((this.product % MODULUS).toString(16).padStart(BYTES * 2, '0'), 'hex');
    return hashMuHashFinalize(bytes.reverse());
  }
}

/** What is hashed of a UTXO. A view, valid until the next call. */
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

/**
 * The modular inverse, by Lehmer's variant of the extended Euclidean algorithm: quotients follow from the leading digits as long as these
 * decide them, and one multiplication of the large numbers stands for some twenty divisions (Knuth, The Art of Computer Programming, 4.5.2,
 * algorithm L). Three to five times as fast as one division after the other.
 */
function inverse(value: bigint): bigint {
  let [dividend, divisor] = [MODULUS, value % MODULUS];
  let [factor, next] = [0n, 1n];
  let bits = BITS;
  while (divisor !== 0n) {
    bits += bitLength(leading(dividend, bits)) - LEADING_BITS;
    const [a, b, c, d] = euclideanSteps(leading(dividend, bits), leading(divisor, bits));
    if (b === 0n) {
      const quotient = dividend / divisor;
      [dividend, divisor] = [divisor, dividend - quotient * divisor];
      [factor, next] = [next, factor - quotient * next];
    } else {
      [dividend, divisor] = [a * dividend + b * divisor, c * dividend + d * divisor];
      [factor, next] = [a * factor + b * next, c * factor + d * next];
    }
  }
  return factor < 0n ? factor + MODULUS : factor;
}

/** Few enough that sums and floored quotients of such numbers are exact in doubles. */
const LEADING_BITS = 50;

/** The digits above the last `bits - LEADING_BITS`, where the number has at most `bits`. */
function leading(value: bigint, bits: number): number {
  return Number(value >> BigInt(Math.max(0, bits - LEADING_BITS)));
}

function bitLength(value: number): number {
  return value === 0 ? 0 : Math.floor(Math.log2(value)) + 1;
}

/** The steps of Euclid's algorithm that the leading digits decide, as a matrix of two rows; the identity where they decide none. */
function euclideanSteps(dividend: number, divisor: number): [bigint, bigint, bigint, bigint] {
  let [x, y, a, b, c, d] = [dividend, divisor, 1, 0, 0, 1];
  while (y + c !== 0 && y + d !== 0) {
    const quotient = Math.floor((x + a) / (y + c));
    if (quotient !== Math.floor((x + b) / (y + d))) break;
    [x, y, a, b, c, d] = [y, x - quotient * y, c, d, a - quotient * c, b - quotient * d];
  }
  return [BigInt(a), BigInt(b), BigInt(c), BigInt(d)];
}

/** Below 2^3072, or a little above: what is left above is folded in by the next multiplication, and by the remainder in the end. */
function reduce(product: bigint): bigint {
  return fold(fold(product));
}

function fold(value: bigint): bigint {
  return BigInt.asUintN(BITS, value) + (value >> BigInt(BITS)) * SHORTFALL;
}
