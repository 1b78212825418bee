/**
 * Who can hold a UTXO in the load: a script public key, and the signature script that unlocks it. Every kind of script that the node
 * classifies occurs; anyone can unlock the non-standard ones, so that their UTXOs are spent too.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type EconomyOptions, type Key, Keyring, Random, type UtxoEntry, scriptKey } from '@kasgres/devnet';
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE, numberToBytesBE } from '@noble/curves/utils.js';
import { blake2b } from '@noble/hashes/blake2.js';
import type { Utxo } from './payment.ts';

export interface Owner {
  scriptPublicKey: ScriptPublicKey;
  /** Signature operations that spending costs: `sigOpCount` of a version 0 input. */
  sigOps: number;
  /** Returns the signature script for an input with this signing hash. */
  sign(signingHash: Uint8Array): Uint8Array;
}

const OP_TRUE = 0x51;
const OP_DROP = 0x75;
const OP_EQUAL = 0x87;
const OP_BLAKE2B = 0xaa;
const OP_CHECK_SIG_ECDSA = 0xab;
const OP_CHECK_SIG = 0xac;
const OP_PUSH_DATA_2 = 0x4d;
const SIGN_ALL = 1;
/** Longer than a key of a B-tree of Postgres can be. Its storage mass requires a large amount. */
const LONG_SCRIPT_BYTES = 3_000;

/** ECDSA signs the signing hash hashed again with this domain. */
const ECDSA_DOMAIN = createHash('sha256').update('TransactionSigningHashECDSA').digest();

/** The economy's keyring with private keys, and the owners behind its scripts. */
export class LoadKeys {
  readonly ring: Keyring;
  readonly nonStandard: readonly Owner[];
  readonly longScript: Owner;
  readonly #owners = new Map<string, Owner>();
  readonly #nonStandardKeys = new Map<string, Key>();

  constructor(options: EconomyOptions) {
    const random = new Random(options.seed, 'non-standard scripts');
    this.nonStandard = nonStandardOwners(random);
    this.longScript = longScriptOwner(random);
    for (const owner of [...this.nonStandard, this.longScript]) {
      const key = scriptKey(owner.scriptPublicKey);
      const { scriptPublicKey } = owner;
      this.#owners.set(key, owner);
      this.#nonStandardKeys.set(key, {
        owner: { kind: 'user', keys: [] },
        scriptPublicKey,
        redeemScript: undefined,
      });
    }
    this.ring = new Keyring(options, (kind, { ecdsaShare, scriptHashShare }, ofNumber) => {
      const form =
        kind === 'user' ? ofNumber.weighted([1 - ecdsaShare - scriptHashShare, ecdsaShare, scriptHashShare]) : 0;
      const makeOwner = [schnorrOwner, ecdsaOwner, scriptHashOwner][form] ?? schnorrOwner;
      const owner = makeOwner(ofNumber.bytes(32));
      this.#owners.set(scriptKey(owner.scriptPublicKey), owner);
      return { scriptPublicKey: owner.scriptPublicKey, redeemScript: undefined };
    });
  }

  get miners(): Owner[] {
    return this.ring.miners.flatMap(({ keys }) =>
      keys.slice(0, 1).map(({ scriptPublicKey }) => this.ownerOf(scriptPublicKey)),
    );
  }

  find(script: ScriptPublicKey): Key | undefined {
    return this.ring.find(script) ?? this.#nonStandardKeys.get(scriptKey(script));
  }

  next(): Key {
    return this.ring.next();
  }

  recipient(random: Random): Key {
    return this.ring.recipient(random);
  }

  ownerOf(script: ScriptPublicKey): Owner {
    const owner = this.#owners.get(scriptKey(script));
    if (owner === undefined) throw new Error('nobody in the load owns this script');
    return owner;
  }

  utxoOf(entry: UtxoEntry): Utxo {
    const { amount, scriptPublicKey, covenantId, outpoint } = entry;
    const covenant = covenantId && { authorizingInput: 0, covenantId };
    return { entry, outpoint, output: { amount, scriptPublicKey, covenant }, owner: this.ownerOf(scriptPublicKey) };
  }
}

export function schnorrOwner(secret: Uint8Array): Owner {
  const key = schnorrKey(secret);
  return {
    scriptPublicKey: { version: 0, script: checkSigScript(key.publicKey) },
    sigOps: 1,
    sign: (signingHash) => push([...schnorrSign(signingHash, key), SIGN_ALL]),
  };
}

function ecdsaOwner(secret: Uint8Array): Owner {
  const publicKey = secp256k1.getPublicKey(secret, true);
  return {
    scriptPublicKey: { version: 0, script: Uint8Array.from([...push(publicKey), OP_CHECK_SIG_ECDSA]) },
    sigOps: 1,
    sign(signingHash) {
      const digest = createHash('sha256').update(ECDSA_DOMAIN).update(signingHash).digest();
      return push([...secp256k1.sign(digest, secret, { prehash: false }), SIGN_ALL]);
    },
  };
}

/** Pays to the hash of a script which itself demands a Schnorr signature. */
function scriptHashOwner(secret: Uint8Array): Owner {
  const key = schnorrKey(secret);
  const redeemScript = checkSigScript(key.publicKey);
  const scriptHash = blake2b(redeemScript, { dkLen: 32 });
  return {
    scriptPublicKey: { version: 0, script: Uint8Array.from([OP_BLAKE2B, ...push(scriptHash), OP_EQUAL]) },
    sigOps: 1,
    sign: (signingHash) => {
      const signature = [...schnorrSign(signingHash, key), SIGN_ALL];
      return Uint8Array.from([...push(signature), ...push(redeemScript)]);
    },
  };
}

/** A non-standard script that needs no signature. */
function anyoneOwner(scriptPublicKey: ScriptPublicKey): Owner {
  return { scriptPublicKey, sigOps: 0, sign: () => new Uint8Array(0) };
}

/** Scripts without an address: two that need no signature, and two of versions that the node does not know, one of them empty. */
function nonStandardOwners(random: Random): Owner[] {
  return [
    { version: 0, script: Uint8Array.of(OP_TRUE) },
    { version: 0, script: Uint8Array.from([...push(random.bytes(31)), OP_DROP, OP_TRUE]) },
    { version: 1, script: Uint8Array.from([...push(random.bytes(32)), OP_CHECK_SIG]) },
    { version: 7, script: new Uint8Array(0) },
  ].map(anyoneOwner);
}

function longScriptOwner(random: Random): Owner {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(LONG_SCRIPT_BYTES);
  const script = Buffer.concat([
    Uint8Array.of(OP_PUSH_DATA_2),
    length,
    random.bytes(LONG_SCRIPT_BYTES),
    Uint8Array.of(OP_DROP, OP_TRUE),
  ]);
  return anyoneOwner({ version: 0, script });
}

function checkSigScript(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.from([...push(publicKey), OP_CHECK_SIG]);
}

/** Bytes as a script pushes them; up to 75 bytes the opcode is the length. */
function push(bytes: ArrayLike<number>): Uint8Array {
  return Uint8Array.from([bytes.length, ...Array.from(bytes)]);
}

const { taggedHash } = schnorr.utils;
const ORDER = secp256k1.Point.Fn.ORDER;

interface SchnorrKey {
  /** The x coordinate, 32 bytes. */
  publicKey: Uint8Array;
  secret: bigint;
}

function schnorrKey(secretBytes: Uint8Array): SchnorrKey {
  const [publicKey, secret] = evenPoint(bytesToNumberBE(secretBytes) % ORDER);
  return { publicKey, secret };
}

/**
 * Returns a BIP 340 signature of 64 bytes, another one each time. Five times as fast as the library's own function, which derives the public
 * key and verifies the result each time.
 */
function schnorrSign(message: Uint8Array, { publicKey, secret }: SchnorrKey): Uint8Array {
  const nonceHash = taggedHash('BIP0340/nonce', numberToBytesBE(secret, 32), randomBytes(32), publicKey, message);
  const [noncePoint, nonce] = evenPoint(bytesToNumberBE(nonceHash) % ORDER);
  const challenge = bytesToNumberBE(taggedHash('BIP0340/challenge', noncePoint, publicKey, message)) % ORDER;
  return Buffer.concat([noncePoint, numberToBytesBE((nonce + challenge * secret) % ORDER, 32)]);
}

/** Returns the x coordinate of the scalar's point, and the scalar, negated if that gives the point an even y. */
function evenPoint(scalar: bigint): [x: Uint8Array, scalar: bigint] {
  const { x, y } = secp256k1.Point.BASE.multiply(scalar).toAffine();
  return [numberToBytesBE(x, 32), y % 2n === 0n ? scalar : ORDER - scalar];
}
