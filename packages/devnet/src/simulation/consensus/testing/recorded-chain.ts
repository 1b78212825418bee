/**
 * A real node's chain in short form, and its way back into blocks that consensus takes. Blocks, transactions and scripts are numbers: their
 * places in the lists. Signatures are left out, so the transactions' hashes and the merkle roots made of them are not the real ones; ids
 * and block hashes are.
 */
import {
  COINBASE_SUBNETWORK,
  fromHex,
  merkleRoot,
  NATIVE_SUBNETWORK,
  type Transaction,
  transactionHash,
  transactionId,
  ZERO_HASH,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../../../dag/dag.ts';
import type { BlockBody } from '../consensus.ts';

export interface RecordedTransaction {
  version: number;
  /** Transaction and output; no inputs: a coinbase. */
  inputs: [transaction: number, index: number][];
  outputs: [amount: number, script: number, covenant?: { authorizingInput: number; covenantId: string }][];
  payload: string;
}

export interface RecordedBlock {
  hash: string;
  version: number;
  parents: number[];
  timestamp: number;
  bits: number;
  daaScore: number;
  blueScore: number;
  blueWork: number;
  transactions: number[];
  /** The GHOSTDAG data that the node reported; genesis has none. */
  selectedParent?: number;
  mergeSetBlues: number[];
  mergeSetReds: number[];
}

/** The node's virtual block when it knew the first `blocks` blocks. */
export interface RecordedVirtual {
  name: string;
  blocks: number;
  sink: number;
  parents: number[];
  daaScore: number;
  pastMedianTime: number;
}

export interface RecordedChain {
  coinbaseMaturity: number;
  scripts: string[];
  transactions: RecordedTransaction[];
  /** Parents first, from genesis on, in the order of the checkpoints. */
  blocks: RecordedBlock[];
  checkpoints: RecordedVirtual[];
  /** The selected chain above genesis in the end, with what each block accepts, in order. */
  chain: { block: number; accepted: number[] }[];
  /** Sompi, at the virtual block in the end. */
  supply: number;
}

export function recordedBodies(recorded: RecordedChain): BlockBody[] {
  const transactions = recordedTransactions(recorded);
  return recorded.blocks.map((block) => {
    const own = block.transactions.map((number) => at(transactions, number));
    const parents = block.parents.map((number) => fromHex(at(recorded.blocks, number).hash));
    const header = {
      version: block.version,
      parentsByLevel: parents.length === 0 ? [] : [parents],
      hashMerkleRoot: merkleRoot(own.map(({ hash }) => hash)),
      acceptedIdMerkleRoot: ZERO_HASH,
      utxoCommitment: ZERO_HASH,
      timestamp: BigInt(block.timestamp),
      bits: block.bits,
      nonce: 0n,
      daaScore: BigInt(block.daaScore),
      blueScore: BigInt(block.blueScore),
      blueWork: BigInt(block.blueWork),
      pruningPoint: ZERO_HASH,
    };
    return { hash: fromHex(block.hash), header, transactions: own };
  });
}

/** A transaction stands behind those that it spends. */
function recordedTransactions({ transactions, scripts }: RecordedChain): DagTransaction[] {
  const made: DagTransaction[] = [];
  for (const { version, inputs, outputs, payload } of transactions) {
    const transaction: Transaction = {
      version,
      inputs: inputs.map(([number, index]) => ({
        previousOutpoint: { transactionId: at(made, number).transactionId, index },
        signatureScript: new Uint8Array(0),
        sequence: 0n,
        sigOpCount: 0,
        computeBudget: 0,
      })),
      outputs: outputs.map(([amount, script, covenant]) => ({
        amount: BigInt(amount),
        scriptPublicKey: { version: 0, script: fromHex(at(scripts, script)) },
        covenant: covenant && { ...covenant, covenantId: fromHex(covenant.covenantId) },
      })),
      lockTime: 0n,
      subnetworkId: inputs.length === 0 ? COINBASE_SUBNETWORK : NATIVE_SUBNETWORK,
      gas: 0n,
      payload: fromHex(payload),
      storageMass: 0n,
    };
    made.push({
      ...transaction,
      transactionId: transactionId(transaction),
      hash: transactionHash(transaction),
      computeMass: 0n,
    });
  }
  return made;
}

export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`the recording has no number ${index}`);
  return item;
}
