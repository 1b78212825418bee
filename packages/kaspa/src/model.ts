/**
 * Blocks and transactions. Names are the node's (protobuf, camelCase). Hashes, ids and scripts are
 * raw bytes, 64-bit integers are bigint, amounts are sompi, times are Unix milliseconds.
 */

/**
 * A value of a named kind: the compiler refuses one of another kind in its place, and accepts a
 * plain value.
 */
export type Kind<Value, Name extends string> = Value & { readonly kind?: Name };

export type DaaScore = Kind<bigint, 'daa_score'>;
export type BlueScore = Kind<bigint, 'blue_score'>;
export type Sompi = Kind<bigint, 'amount'>;

/** 32 bytes: a block hash, a transaction id, a merkle root. */
export type Hash = Uint8Array;

export interface Outpoint {
  transactionId: Hash;
  index: number;
}

export interface ScriptPublicKey {
  version: number;
  script: Uint8Array;
}

export interface TransactionInput {
  previousOutpoint: Outpoint;
  signatureScript: Uint8Array;
  sequence: bigint;
  /** 0 from transaction version 1 on. */
  sigOpCount: number;
  /** 0 in transaction version 0. */
  computeBudget: number;
}

/** Binds an output to a covenant (KIP-17/20). */
export interface Covenant {
  authorizingInput: number;
  covenantId: Hash;
}

export interface TransactionOutput {
  amount: Sompi;
  scriptPublicKey: ScriptPublicKey;
  covenant: Covenant | undefined;
}

export interface Utxo {
  outpoint: Outpoint;
  amount: Sompi;
  scriptPublicKey: ScriptPublicKey;
  /** The DAA score of the block that accepted it. */
  blockDaaScore: DaaScore;
  isCoinbase: boolean;
  covenantId: Hash | undefined;
}

export interface Transaction {
  version: number;
  inputs: TransactionInput[];
  outputs: TransactionOutput[];
  lockTime: Kind<bigint, 'lock_time'>;
  /** 20 bytes. */
  subnetworkId: Uint8Array;
  gas: Kind<bigint, 'gas'>;
  payload: Uint8Array;
  /** KIP-9, as committed in the transaction. */
  storageMass: Kind<bigint, 'storage_mass'>;
}

export interface Header {
  version: number;
  /** A list of parent hashes per level; level 0 are the direct parents. */
  parentsByLevel: Hash[][];
  hashMerkleRoot: Hash;
  acceptedIdMerkleRoot: Hash;
  utxoCommitment: Hash;
  timestamp: Kind<bigint, 'timestamp'>;
  bits: number;
  nonce: Kind<bigint, 'nonce'>;
  daaScore: DaaScore;
  blueWork: Kind<bigint, 'blue_work'>;
  blueScore: BlueScore;
  pruningPoint: Hash;
}
