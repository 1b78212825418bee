/**
 * The economy's keyring with private keys. Every kind of script that the node classifies occurs;
 * anyone can unlock the non-standard ones, so that their UTXOs are spent too.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  type EconomyOptions,
  type Key,
  Keyring,
  p2shOf,
  payToKey,
  push,
  Random,
  scriptKey,
  type UtxoEntry,
} from '@kasgres/devnet';
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE, numberToBytesBE } from '@noble/curves/utils.js';

interface Owner {
  scriptPublicKey: ScriptPublicKey;
  /** Signature operations that spending costs: `sigOpCount` of a version 0 input. */
  sigOps: number;
  /** Returns the signature script for an input with this signing hash. */
  sign(signingHash: Uint8Array): Uint8Array;
}

const OP_TRUE = 0x51;
const OP_DROP = 0x75;
const OP_CHECK_SIG_ECDSA = 0xab;
const OP_CHECK_SIG = 0xac;
const SIGN_ALL = 1;
/** Longer than a key of a B-tree of Postgres can be. Its storage mass requires a large amount. */
const LONG_SCRIPT_BYTES = 3_000;
/** ECDSA signs the signing hash hashed again with this domain. */
const ECDSA_DOMAIN = createHash('sha256').update('TransactionSigningHashECDSA').digest();

export class LoadKeys extends Keyring {
  /**
   * Scripts without an address: two that need no signature, and two of versions that the node does
   * not know, one of them empty.
   */
  readonly nonStandard: readonly ScriptPublicKey[];
  readonly longScript: ScriptPublicKey;
  readonly #owners: Map<string, Owner>;

  constructor(options: EconomyOptions, owners = new Map<string, Owner>()) {
    super(options, (kind, { ecdsaShare, scriptHashShare }, random) => {
      const form =
        kind === 'user' ? random.weighted([1 - ecdsaShare - scriptHashShare, ecdsaShare, scriptHashShare]) : 0;
      const makeOwner = [schnorrOwner, ecdsaOwner, scriptHashOwner][form] ?? schnorrOwner;
      const owner = makeOwner(random.bytes(32));
      owners.set(scriptKey(owner.scriptPublicKey), owner);
      return { scriptPublicKey: owner.scriptPublicKey, redeemScript: undefined };
    });
    const random = new Random(options.seed, 'non-standard scripts');
    this.nonStandard = [
      { version: 0, script: Uint8Array.of(OP_TRUE) },
      { version: 0, script: Uint8Array.from([...push(random.bytes(31)), OP_DROP, OP_TRUE]) },
      { version: 1, script: Uint8Array.from([...push(random.bytes(32)), OP_CHECK_SIG]) },
      { version: 7, script: new Uint8Array(0) },
    ];
    const long = [...push(random.bytes(LONG_SCRIPT_BYTES)), OP_DROP, OP_TRUE];
    this.longScript = { version: 0, script: Uint8Array.from(long) };
    for (const scriptPublicKey of [...this.nonStandard, this.longScript]) {
      owners.set(scriptKey(scriptPublicKey), { scriptPublicKey, sigOps: 0, sign: () => new Uint8Array(0) });
    }
    this.#owners = owners;
  }

  override find(scriptPublicKey: ScriptPublicKey): Key | undefined {
    const key = super.find(scriptPublicKey);
    if (key !== undefined || !this.#owners.has(scriptKey(scriptPublicKey))) return key;
    return { owner: { kind: 'user', keys: [] }, scriptPublicKey, redeemScript: undefined };
  }

  ownerOf({ scriptPublicKey }: Pick<UtxoEntry, 'scriptPublicKey'>): Owner {
    const owner = this.#owners.get(scriptKey(scriptPublicKey));
    if (owner === undefined) throw new Error('the load has no key for this script');
    return owner;
  }

  /** Returns whether the UTXO has an address, requires a signature, and carries no covenant. */
  isStandard(entry: UtxoEntry): boolean {
    return entry.covenantId === undefined && this.ownerOf(entry).sigOps > 0;
  }
}

export function schnorrOwner(secret: Uint8Array): Owner {
  const key = schnorrKey(secret);
  return {
    scriptPublicKey: payToKey(key.publicKey),
    sigOps: 1,
    sign: (signingHash) => schnorrSign(signingHash, key),
  };
}

function ecdsaOwner(secret: Uint8Array): Owner {
  const publicKey = secp256k1.getPublicKey(secret, true);
  return {
    scriptPublicKey: { version: 0, script: Uint8Array.from([...push(publicKey), OP_CHECK_SIG_ECDSA]) },
    sigOps: 1,
    sign(signingHash) {
      const digest = createHash('sha256').update(ECDSA_DOMAIN).update(signingHash).digest();
      return push(Uint8Array.of(...secp256k1.sign(digest, secret, { prehash: false }), SIGN_ALL));
    },
  };
}

/** Pays to the hash of a script that requires a Schnorr signature. */
function scriptHashOwner(secret: Uint8Array): Owner {
  const key = schnorrKey(secret);
  const { script: redeemScript } = payToKey(key.publicKey);
  return {
    scriptPublicKey: p2shOf(redeemScript),
    sigOps: 1,
    sign: (signingHash) => Buffer.concat([schnorrSign(signingHash, key), push(redeemScript)]),
  };
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
 * Returns the push of a BIP 340 signature, another one each time. Five times as fast as the
 * library's own function, which derives the public key and verifies the result each time.
 */
function schnorrSign(message: Uint8Array, { publicKey, secret }: SchnorrKey): Uint8Array {
  const [noncePoint, nonce] = evenPoint(bytesToNumberBE(randomBytes(32)) % ORDER);
  const challenge = bytesToNumberBE(taggedHash('BIP0340/challenge', noncePoint, publicKey, message)) % ORDER;
  const response = numberToBytesBE((nonce + challenge * secret) % ORDER, 32);
  return push(Uint8Array.of(...noncePoint, ...response, SIGN_ALL));
}

/**
 * Returns the x coordinate of the scalar's point, and the scalar, negated if that gives the point
 * an even y.
 */
function evenPoint(scalar: bigint): [x: Uint8Array, scalar: bigint] {
  const { x, y } = secp256k1.Point.BASE.multiply(scalar).toAffine();
  return [numberToBytesBE(x, 32), y % 2n === 0n ? scalar : ORDER - scalar];
}
