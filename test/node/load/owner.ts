/**
 * Who can hold a UTXO in the load: a script public key, and the signature script that unlocks it. Every kind of script that
 * the node classifies is there, the non-standard ones with scripts that anyone can unlock, so that these UTXOs move too.
 */
import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { blake2b } from '@noble/hashes/blake2.js';
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { schnorrKey, schnorrSign } from './schnorr.ts';

export interface Owner {
  scriptPublicKey: ScriptPublicKey;
  /** Signature operations that spending costs: `sigOpCount` of a version 0 input. */
  sigOps: number;
  /** The signature script for an input with this signing hash. */
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

/** ECDSA signs a hash of the signing hash, under a domain of its own. */
const ECDSA_DOMAIN = createHash('sha256').update('TransactionSigningHashECDSA').digest();

export function schnorrOwner(secret: Uint8Array): Owner {
  const key = schnorrKey(secret);
  return {
    scriptPublicKey: { version: 0, script: checkSigScript(key.publicKey) },
    sigOps: 1,
    sign: (signingHash) => push([...schnorrSign(signingHash, key), SIGN_ALL]),
  };
}

export function ecdsaOwner(secret: Uint8Array): Owner {
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

/** Pay to the hash of a script which itself asks for a Schnorr signature. */
export function scriptHashOwner(secret: Uint8Array): Owner {
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
export function anyoneOwner(scriptPublicKey: ScriptPublicKey): Owner {
  return { scriptPublicKey, sigOps: 0, sign: () => new Uint8Array(0) };
}

/** Scripts without an address: two that need no signature, and two of versions that the node does not know, one of them empty. */
export function nonStandardOwners(randomBytes: (count: number) => Uint8Array): Owner[] {
  return [
    { version: 0, script: Uint8Array.of(OP_TRUE) },
    { version: 0, script: Uint8Array.from([...push(randomBytes(31)), OP_DROP, OP_TRUE]) },
    { version: 1, script: Uint8Array.from([...push(randomBytes(32)), OP_CHECK_SIG]) },
    { version: 7, script: new Uint8Array(0) },
  ].map(anyoneOwner);
}

/** A script longer than a key of a B-tree of Postgres can be. Its storage mass is such that only a large UTXO can go there. */
export function longScriptOwner(randomBytes: (count: number) => Uint8Array): Owner {
  const data = randomBytes(3000);
  const script = Uint8Array.from([OP_PUSH_DATA_2, data.length & 0xff, data.length >> 8, ...data, OP_DROP, OP_TRUE]);
  return anyoneOwner({ version: 0, script });
}

function checkSigScript(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.from([...push(publicKey), OP_CHECK_SIG]);
}

/** Bytes as a script pushes them; up to 75 bytes the opcode is the length. */
function push(bytes: ArrayLike<number>): Uint8Array {
  return Uint8Array.from([bytes.length, ...Array.from(bytes)]);
}
