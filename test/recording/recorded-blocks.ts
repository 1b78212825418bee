/** Blocks and acceptance as they stand in recorded answers, in the form that the DAG takes. */
import { isDeepStrictEqual } from 'node:util';
import {
  type AcceptedTransaction,
  type DagBlock,
  type DagTransaction,
  type NewBlock,
  readHeader,
  readTransaction,
} from '@kasgres/devnet';
import { fromHex, toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { type Checkpoint, exchanges } from './recording.ts';

/** Every block that was answered with its body at a checkpoint. */
export function blocksSeenAt(checkpoint: Checkpoint): NewBlock[] {
  const messages = [
    ...exchanges(checkpoint, 'getBlocks')
      .filter(({ request }) => request.includeTransactions)
      .flatMap(({ response }) => response.blocks),
    ...exchanges(checkpoint, 'getBlock')
      .filter(({ request }) => request.includeTransactions)
      .flatMap(({ response }) => response.block ?? []),
  ];
  return messages.map(newBlock);
}

/** An accepted transaction: its id, and the merged block it came from where the node said so (V2). */
interface RecordedAcceptance {
  transactionId: string;
  blockHash?: string;
}

/**
 * What each chain block accepts, by its hash, from all virtual chain answers of the recording. It follows from the block's
 * past, so it is the same at every checkpoint.
 */
export class Acceptance {
  private readonly byBlock = new Map<string, RecordedAcceptance[]>();

  constructor(checkpoints: readonly Checkpoint[]) {
    for (const checkpoint of checkpoints) {
      for (const { response } of exchanges(checkpoint, 'getVirtualChainFromBlock')) {
        for (const { acceptingBlockHash, acceptedTransactionIds } of response.acceptedTransactionIds) {
          this.learn(
            acceptingBlockHash,
            acceptedTransactionIds.map((transactionId) => ({ transactionId })),
          );
        }
      }
    }
    // V2 knows more, and comes second to overwrite.
    for (const checkpoint of checkpoints) {
      for (const { response } of exchanges(checkpoint, 'getVirtualChainFromBlockV2')) {
        for (const { chainBlockHeader, acceptedTransactions } of response.chainBlockAcceptedTransactions) {
          const accepted = acceptedTransactions.flatMap(({ verboseData }) => recordedAcceptance(verboseData) ?? []);
          if (accepted.length === acceptedTransactions.length) this.learn(chainBlockHeader?.hash ?? '', accepted);
        }
      }
    }
  }

  /** Where in the mergeset (in the order of acceptance) the transactions lie that a block accepts; `undefined`: not recorded. */
  find(hash: string, mergeSet: readonly DagBlock[]): AcceptedTransaction[] | undefined {
    let from = 0;
    return this.byBlock.get(hash)?.map(({ transactionId, blockHash }) => {
      // Acceptance goes through the mergeset block by block: a transaction is not in one before its predecessor's.
      const index = mergeSet.findIndex(
        (block, place) =>
          place >= from &&
          (blockHash === undefined ? findTransaction(block, transactionId) !== undefined : block.hash === blockHash),
      );
      const block = mergeSet[index];
      const transaction = block && findTransaction(block, transactionId);
      if (block === undefined || transaction === undefined) {
        throw new Error(`${hash} accepts ${transactionId}, which its mergeset does not have there`);
      }
      from = index;
      return { block, transaction };
    });
  }

  private learn(hash: string, accepted: RecordedAcceptance[]): void {
    const ids = (list: RecordedAcceptance[]) => list.map(({ transactionId }) => transactionId);
    const known = this.byBlock.get(hash);
    if (known !== undefined && !isDeepStrictEqual(ids(known), ids(accepted))) {
      throw new Error(`recorded answers differ in what ${hash} accepts`);
    }
    this.byBlock.set(hash, accepted);
  }
}

/** `undefined` at the lowest verbosity, which leaves the ids out. */
function recordedAcceptance(
  verboseData: protocol.OptionalTransactionVerboseData | undefined,
): RecordedAcceptance | undefined {
  if (verboseData?.transactionId === undefined || verboseData.blockHash === undefined) return undefined;
  return { transactionId: verboseData.transactionId, blockHash: verboseData.blockHash };
}

function findTransaction(block: DagBlock, transactionId: string): DagTransaction | undefined {
  return block.transactions.find((transaction) => toHex(transaction.transactionId) === transactionId);
}

function newBlock(block: protocol.Block): NewBlock {
  const { header, verboseData } = block;
  if (header === undefined || verboseData === undefined)
    throw new Error('a recorded block without header or verbose data');
  const isGenesis = header.parents.length === 0;
  return {
    hash: verboseData.hash,
    header: readHeader(header),
    selectedParentHash: isGenesis ? undefined : verboseData.selectedParentHash,
    mergeSetBlues: verboseData.mergeSetBluesHashes,
    mergeSetReds: verboseData.mergeSetRedsHashes,
    transactions: block.transactions.map(dagTransaction),
    difficulty: verboseData.difficulty,
  };
}

export function dagTransaction(message: protocol.Transaction): DagTransaction {
  const { verboseData } = message;
  if (verboseData === undefined) throw new Error('a recorded transaction without verbose data');
  return {
    ...readTransaction(message),
    transactionId: fromHex(verboseData.transactionId),
    hash: fromHex(verboseData.hash),
    computeMass: verboseData.computeMass,
  };
}
