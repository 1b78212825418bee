/**
 * Blocks and transactions. Names are the node's (protobuf, camelCase). Hashes, ids and scripts are raw bytes, 64-bit integers are
 * bigint, amounts are sompi, times are Unix milliseconds.
 */

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
  amount: bigint;
  scriptPublicKey: ScriptPublicKey;
  covenant: Covenant | undefined;
}

export interface Utxo {
  outpoint: Outpoint;
  amount: bigint;
  scriptPublicKey: ScriptPublicKey;
  /** The DAA score of the block that accepted it. */
  blockDaaScore: bigint;
  isCoinbase: boolean;
  covenantId: Hash | undefined;
}

export interface Transaction {
  version: number;
  inputs: TransactionInput[];
  outputs: TransactionOutput[];
  lockTime: bigint;
  /** 20 bytes. */
  subnetworkId: Uint8Array;
  gas: bigint;
  payload: Uint8Array;
  /** KIP-9, as committed in the transaction. */
  storageMass: bigint;
}

export interface Header {
  version: number;
  /** A list of parent hashes per level; level 0 are the direct parents. */
  parentsByLevel: Hash[][];
  hashMerkleRoot: Hash;
  acceptedIdMerkleRoot: Hash;
  utxoCommitment: Hash;
  timestamp: bigint;
  bits: number;
  nonce: bigint;
  daaScore: bigint;
  blueWork: bigint;
  blueScore: bigint;
  pruningPoint: Hash;
}
