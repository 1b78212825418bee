/**
 * MuHash: the order-independent hash of a UTXO set that block headers commit to (rusty-kaspa,
 * crypto/muhash). Each UTXO becomes a number of 3072 bits, and the set is their product modulo a
 * prime. Subsets can be hashed on several threads and combined, and a UTXO is removed by dividing
 * by its number.
 */
import { chacha20 } from '@noble/ciphers/chacha.js';
import { ByteWriter } from './byte-writer.ts';
import { hashMuHashElement, hashMuHashFinalize } from './keyed-hash.ts';
import type { Hash, Utxo } from './model.ts';

const BITS = 3072;
const BYTES = BITS / 8;
/** The modulus is 2^3072 minus this, so bits above 3072 are folded in with this factor. */
const SHORTFALL = 1_103_717n;
const MODULUS = (1n << BigInt(BITS)) - SHORTFALL;

const writer = new ByteWriter();
const element = Buffer.alloc(BYTES);
const NONCE = new Uint8Array(12);
const ZEROS = new Uint8Array(BYTES);

export class MuHash {
  #product = 1n;
  /**
   * The product of the removed UTXOs. A division costs as much as hundreds of multiplications, so
   * there is only one.
   */
  #divisor = 1n;

  /** @param product of another MuHash, possibly from another thread */
  constructor(product = 1n) {
    if (product <= 0n) throw new RangeError('the product must be positive');
    this.#product = reduce(product);
  }

  /**
   * Represents the UTXOs in the set, regardless of the order in which they were added and removed.
   */
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

  /** Removes a UTXO that must be in the set, which is not checked. */
  remove(utxo: Utxo): void {
    this.#divisor = reduce(this.#divisor * numberOf(utxo));
  }

  /** Adds all UTXOs of another set. */
  combine({ product }: MuHash): void {
    this.#product = reduce(this.#product * product);
  }

  /** Returns the `utxoCommitment` of a header. */
  commitment(): Hash {
    const bytes = Buffer.from((this.product % MODULUS).toString(16).padStart(BYTES * 2, '0'), 'hex');
    return hashMuHashFinalize(bytes.reverse());
  }
}

/** Returns a view that is valid until the next call. */
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
  chacha20(hashMuHashElement(serialize(utxo)), NONCE, ZEROS, element);
  // The key stream is little-endian; big-endian hex is the fastest way to a bigint.
  return BigInt(`0x${element.reverse().toString('hex')}`);
}

/**
 * Returns the modular inverse by Lehmer's variant of the extended Euclidean algorithm (Knuth, The
 * Art of Computer Programming, 4.5.2, algorithm L): quotients are computed from the leading digits
 * while these determine them, and one multiplication of the large numbers replaces some twenty
 * divisions. It is three to five times as fast as plain division steps.
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

/** Returns the leading digits of a number of at most `bits` bits. */
function leading(value: bigint, bits: number): number {
  return Number(value >> BigInt(Math.max(0, bits - LEADING_BITS)));
}

function bitLength(value: number): number {
  return value === 0 ? 0 : Math.floor(Math.log2(value)) + 1;
}

/**
 * Returns the steps of Euclid's algorithm that the leading digits determine, as a matrix of two
 * rows; the identity if there are none.
 */
function euclideanSteps(dividend: number, divisor: number): [bigint, bigint, bigint, bigint] {
  let [x, y, a, b, c, d] = [dividend, divisor, 1, 0, 0, 1];
  while (y + c !== 0 && y + d !== 0) {
    const quotient = Math.floor((x + a) / (y + c));
    if (quotient !== Math.floor((x + b) / (y + d))) break;
    [x, y, a, b, c, d] = [y, x - quotient * y, c, d, a - quotient * c, b - quotient * d];
  }
  return [BigInt(a), BigInt(b), BigInt(c), BigInt(d)];
}

/**
 * Returns a number below 2^3072 or slightly above, which the next multiplication or the final
 * remainder reduces.
 */
function reduce(product: bigint): bigint {
  return fold(fold(product));
}

function fold(value: bigint): bigint {
  return BigInt.asUintN(BITS, value) + (value >> BigInt(BITS)) * SHORTFALL;
}
