/**
 * Addresses of a generated chain, by number: their scripts, whose wallet they are in, and what a signature for them looks like. No key
 * signs: an index does not check signatures, it only reads their form.
 */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { digest, Random } from '../../packages/devnet/src/economy/random.ts';

const KEY_BYTES = 32;
const OP_DATA_32 = 0x20;
const OP_DATA_33 = 0x21;
const OP_DATA_65 = 0x41;
const OP_EQUAL = 0x87;
const OP_BLAKE2B = 0xaa;
const OP_CHECK_SIG_ECDSA = 0xab;
const OP_CHECK_SIG = 0xac;
const SIGHASH_ALL = 0x01;
const SIGHASH_ANYONE_CAN_PAY = 0x80;

const SHARE_OF_SCRIPT_HASHES = 0.007;
const SHARE_OF_ECDSA = 0.015;
const SHARE_OF_ANYONE_CAN_PAY = 0.002;
const SIGNATURE_BYTES = 64;
/** As many different ones are enough: they do not compress any further. */
const SIGNATURES = 1 << 16;
/** The longest script, and a byte with its length before it. */
const SCRIPT_BYTES = 36;
const SCRIPTS_A_CHUNK = 1 << 16;

export class Addresses {
  readonly #seed: string;
  /** A million and more: as bytes, not as objects. */
  readonly #scripts: Uint8Array[] = [];
  readonly #wallets: number[] = [];
  readonly #signatures: Uint8Array[];

  constructor(seed: string) {
    this.#seed = seed;
    this.#signatures = makeSignatures(new Random(seed, 'signatures'));
  }

  get count(): number {
    return this.#wallets.length;
  }

  /** A new address of a wallet. @returns its number */
  add(wallet: number): number {
    const address = this.#wallets.push(wallet) - 1;
    const at = (address % SCRIPTS_A_CHUNK) * SCRIPT_BYTES;
    if (at === 0) this.#scripts.push(new Uint8Array(SCRIPTS_A_CHUNK * SCRIPT_BYTES));
    const script = this.#makeScript(address);
    this.#scripts.at(-1)?.set([script.length, ...script], at);
    return address;
  }

  scriptOf(address: number): ScriptPublicKey {
    const chunk = this.#scripts[Math.floor(address / SCRIPTS_A_CHUNK)] as Uint8Array;
    const at = (address % SCRIPTS_A_CHUNK) * SCRIPT_BYTES;
    return { version: 0, script: chunk.subarray(at + 1, at + 1 + (chunk[at] as number)) };
  }

  walletOf(address: number): number {
    return this.#wallets[address] as number;
  }

  /** @param number of the signature: each gets the one of its number, one after the other */
  signatureScriptOf(address: number, number: number): Uint8Array {
    const signature = this.#signatures[number % SIGNATURES] as Uint8Array;
    const { script } = this.scriptOf(address);
    if (script[0] !== OP_BLAKE2B) return signature;
    // The script that the hash is of: one key.
    const key = script.subarray(2, 2 + KEY_BYTES);
    return Buffer.concat([signature, Buffer.of(2 + KEY_BYTES, OP_DATA_32), key, Buffer.of(OP_CHECK_SIG)]);
  }

  #makeScript(address: number): Uint8Array {
    const key = digest([this.#seed, 'key', address]);
    const kind = key.readUInt32LE(0) / 2 ** 32;
    if (kind < SHARE_OF_SCRIPT_HASHES) {
      return Buffer.concat([Buffer.of(OP_BLAKE2B, OP_DATA_32), key, Buffer.of(OP_EQUAL)]);
    }
    if (kind < SHARE_OF_SCRIPT_HASHES + SHARE_OF_ECDSA) {
      return Buffer.concat([Buffer.of(OP_DATA_33, 0x02), key, Buffer.of(OP_CHECK_SIG_ECDSA)]);
    }
    return Buffer.concat([Buffer.of(OP_DATA_32), key, Buffer.of(OP_CHECK_SIG)]);
  }
}

/** A push of 65 bytes: the signature and what it covers. */
function makeSignatures(random: Random): Uint8Array[] {
  return Array.from({ length: SIGNATURES }, () => {
    const covers = random.chance(SHARE_OF_ANYONE_CAN_PAY) ? SIGHASH_ALL | SIGHASH_ANYONE_CAN_PAY : SIGHASH_ALL;
    return Buffer.concat([Buffer.of(OP_DATA_65), random.bytes(SIGNATURE_BYTES), Buffer.of(covers)]);
  });
}
