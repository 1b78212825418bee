/**
 * The shapes of blocks and transactions that the whole product passes around. Names are the node's own (protobuf, camelCase);
 * hashes, ids and scripts are raw bytes, 64-bit integers are bigint, amounts are sompi, times are Unix milliseconds.
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
  /** Transaction version 0; 0 from version 1 on. */
  sigOpCount: number;
  /** Transaction version 1 and later; 0 before. */
  computeBudget: number;
}

/** Binds an output to a covenant (KIP-17/20): which input authorises it, and the covenant's id. */
export interface Covenant {
  authorizingInput: number;
  covenantId: Hash;
}

export interface TransactionOutput {
  amount: bigint;
  scriptPublicKey: ScriptPublicKey;
  covenant: Covenant | undefined;
}

/** An output that is not spent. */
export interface Utxo {
  outpoint: Outpoint;
  amount: bigint;
  scriptPublicKey: ScriptPublicKey;
  /** Of the block that accepted it. */
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
  /** KIP-9 storage mass, as committed in the transaction. */
  storageMass: bigint;
}

export interface Header {
  version: number;
  /** One list of parent hashes a level; level 0 are the direct parents. */
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
