/** Blocks and acceptance of recorded responses, in the form of the simulated DAG. */
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

/** Returns every block that a response at the checkpoint has with its transactions. */
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

/** The block is known from V2 responses only. */
interface RecordedAcceptance {
  transactionId: string;
  blockHash?: string;
}

/**
 * The transactions that each chain block accepts. They follow from the block's past, so they are
 * the same at every checkpoint.
 */
export class Acceptance {
  private readonly byBlock = new Map<string, RecordedAcceptance[]>();

  constructor(checkpoints: readonly Checkpoint[]) {
    for (const checkpoint of checkpoints) {
      for (const { response } of exchanges(checkpoint, 'getVirtualChainFromBlock')) {
        for (const { acceptingBlockHash, acceptedTransactionIds } of response.acceptedTransactionIds) {
          this.add(
            acceptingBlockHash,
            acceptedTransactionIds.map((transactionId) => ({ transactionId })),
          );
        }
      }
    }
    // V2 responses also have the blocks, so they come last and overwrite.
    for (const checkpoint of checkpoints) {
      for (const { response } of exchanges(checkpoint, 'getVirtualChainFromBlockV2')) {
        for (const { chainBlockHeader, acceptedTransactions } of response.chainBlockAcceptedTransactions) {
          const accepted = acceptedTransactions.flatMap(({ verboseData }) => recordedAcceptance(verboseData) ?? []);
          if (accepted.length === acceptedTransactions.length) this.add(chainBlockHeader?.hash ?? '', accepted);
        }
      }
    }
  }

  /**
   * Returns the transactions that a block accepts, with their blocks, in order; undefined if they
   * were not recorded.
   */
  find(hash: string, mergeSet: readonly DagBlock[]): AcceptedTransaction[] | undefined {
    let from = 0;
    return this.byBlock.get(hash)?.map(({ transactionId, blockHash }) => {
      // The order of acceptance is that of the mergeset: no transaction is in a block before its
      // predecessor's.
      const index = mergeSet.findIndex(
        (block, position) =>
          position >= from &&
          (blockHash === undefined ? findTransaction(block, transactionId) !== undefined : block.hash === blockHash),
      );
      const block = mergeSet[index];
      const transaction = block && findTransaction(block, transactionId);
      if (block === undefined || transaction === undefined) {
        throw new Error(`${hash} accepts ${transactionId}, which its mergeset does not have in this order`);
      }
      from = index;
      return { block, transaction };
    });
  }

  private add(hash: string, accepted: RecordedAcceptance[]): void {
    const ids = (list: RecordedAcceptance[]) => list.map(({ transactionId }) => transactionId);
    const known = this.byBlock.get(hash);
    if (known !== undefined && !isDeepStrictEqual(ids(known), ids(accepted))) {
      throw new Error(`recorded responses differ in the transactions that ${hash} accepts`);
    }
    this.byBlock.set(hash, accepted);
  }
}

/** Returns undefined at the lowest verbosity, which leaves out the ids. */
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
