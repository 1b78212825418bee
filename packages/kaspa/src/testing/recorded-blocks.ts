/** Blocks of a real node for tests: as recorded, and the parts of them that are our model. */
import { readFileSync } from 'node:fs';
import { parseBlueWork } from '../proof-of-work.ts';
import { fromHex } from '../format.ts';
import type { Header, Transaction, TransactionInput, TransactionOutput } from '../model.ts';

export interface RecordedBlock {
  header: RecordedHeader;
  transactions: RecordedTransaction[];
  verboseData: { hash: string; difficulty: number; blueScore: string };
}

export interface RecordedHeader {
  version: number;
  parents: { parentHashes: string[] }[];
  hashMerkleRoot: string;
  acceptedIdMerkleRoot: string;
  utxoCommitment: string;
  timestamp: string;
  bits: number;
  nonce: string;
  daaScore: string;
  blueWork: string;
  blueScore: string;
  pruningPoint: string;
  hash: string;
}

export interface RecordedTransaction {
  version: number;
  inputs: RecordedInput[];
  outputs: RecordedOutput[];
  lockTime: string;
  subnetworkId: string;
  gas: string;
  payload: string;
  storageMass: string;
  verboseData: { transactionId: string; hash: string; computeMass: string };
}

interface RecordedInput {
  previousOutpoint: { transactionId: string; index: number };
  signatureScript: string;
  sequence: string;
  sigOpCount: number;
  computeBudget?: number;
}

export interface RecordedOutput {
  amount: string;
  scriptPublicKey: { version: number; scriptPublicKey: string };
  covenant?: { authorizingInput: number; covenantId: string };
  /** Left out for non-standard scripts. */
  verboseData?: { scriptPublicKeyType: string; scriptPublicKeyAddress: string };
}

const file = new URL('../recorded/blocks.json', import.meta.url);

/** Some forty, by ascending blue score; what they contain is told in recorded/README.md. */
export const recordedBlocks: readonly RecordedBlock[] = JSON.parse(readFileSync(file, 'utf8')) as RecordedBlock[];

export function toHeader(header: RecordedHeader): Header {
  return {
    version: header.version,
    parentsByLevel: header.parents.map(({ parentHashes }) => parentHashes.map(fromHex)),
    hashMerkleRoot: fromHex(header.hashMerkleRoot),
    acceptedIdMerkleRoot: fromHex(header.acceptedIdMerkleRoot),
    utxoCommitment: fromHex(header.utxoCommitment),
    timestamp: BigInt(header.timestamp),
    bits: header.bits,
    nonce: BigInt(header.nonce),
    daaScore: BigInt(header.daaScore),
    blueWork: parseBlueWork(header.blueWork),
    blueScore: BigInt(header.blueScore),
    pruningPoint: fromHex(header.pruningPoint),
  };
}

export function toTransaction(transaction: RecordedTransaction): Transaction {
  return {
    version: transaction.version,
    inputs: transaction.inputs.map(toInput),
    outputs: transaction.outputs.map(toOutput),
    lockTime: BigInt(transaction.lockTime),
    subnetworkId: fromHex(transaction.subnetworkId),
    gas: BigInt(transaction.gas),
    payload: fromHex(transaction.payload),
    storageMass: BigInt(transaction.storageMass),
  };
}

function toInput(input: RecordedInput): TransactionInput {
  const { transactionId, index } = input.previousOutpoint;
  return {
    previousOutpoint: { transactionId: fromHex(transactionId), index },
    signatureScript: fromHex(input.signatureScript),
    sequence: BigInt(input.sequence),
    sigOpCount: input.sigOpCount,
    computeBudget: input.computeBudget ?? 0,
  };
}

export function toOutput({ amount, scriptPublicKey, covenant }: RecordedOutput): TransactionOutput {
  return {
    amount: BigInt(amount),
    scriptPublicKey: { version: scriptPublicKey.version, script: fromHex(scriptPublicKey.scriptPublicKey) },
    covenant: covenant && {
      authorizingInput: covenant.authorizingInput,
      covenantId: fromHex(covenant.covenantId),
    },
  };
}
