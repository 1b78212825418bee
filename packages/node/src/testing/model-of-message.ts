/** Converts messages of the generated code to the model: the oracle of the hand-written decoders. */
import { type Covenant, fromHex, type Hash, parseBlueWork } from '@kasgres/kaspa';
import type * as protocol from '../generated/kaspad_pb.ts';
import type { BlocksResponse, RpcBlock, RpcTransaction, VirtualChainResponse } from '../model.ts';

export function blocksOf(message: protocol.GetBlocksResponse, wireBytes: number): BlocksResponse {
  return { blockHashes: message.blockHashes.map(bytes), blocks: message.blocks.map(modelOfBlock), wireBytes };
}

export function virtualChainOf(
  message: protocol.GetVirtualChainFromBlockResponse,
  wireBytes: number,
): VirtualChainResponse {
  return {
    wireBytes,
    removedChainBlockHashes: message.removedChainBlockHashes.map(bytes),
    addedChainBlockHashes: message.addedChainBlockHashes.map(bytes),
    acceptedTransactionIds: message.acceptedTransactionIds.map((accepted) => ({
      acceptingBlockHash: bytes(accepted.acceptingBlockHash),
      acceptedTransactionIds: accepted.acceptedTransactionIds.map(bytes),
    })),
  };
}

export function blockOf(message: protocol.Block | undefined): RpcBlock {
  return modelOfBlock(given(message));
}

function modelOfBlock(message: protocol.Block): RpcBlock {
  const header = given(message.header);
  const verboseData = given(message.verboseData);
  const transactions = message.transactions.map(transactionOf);
  return {
    hash: bytes(verboseData.hash),
    header: {
      version: header.version,
      parentsByLevel: header.parents.map(({ parentHashes }) => parentHashes.map(bytes)),
      hashMerkleRoot: bytes(header.hashMerkleRoot),
      acceptedIdMerkleRoot: bytes(header.acceptedIdMerkleRoot),
      utxoCommitment: bytes(header.utxoCommitment),
      timestamp: header.timestamp,
      bits: header.bits,
      nonce: header.nonce,
      daaScore: header.daaScore,
      blueWork: parseBlueWork(header.blueWork),
      blueScore: header.blueScore,
      pruningPoint: bytes(header.pruningPoint),
    },
    transactions,
    difficulty: verboseData.difficulty,
    selectedParentHash: bytes(verboseData.selectedParentHash),
    mergeSetBluesHashes: verboseData.mergeSetBluesHashes.map(bytes),
    mergeSetRedsHashes: verboseData.mergeSetRedsHashes.map(bytes),
    childrenHashes: verboseData.childrenHashes.map(bytes),
    transactionIds: transactions.length > 0 ? [] : verboseData.transactionIds.map(bytes),
    blueScore: verboseData.blueScore,
    isHeaderOnly: verboseData.isHeaderOnly,
    isChainBlock: verboseData.isChainBlock,
  };
}

function transactionOf(message: protocol.Transaction): RpcTransaction {
  const verboseData = given(message.verboseData);
  return {
    transactionId: bytes(verboseData.transactionId),
    hash: bytes(verboseData.hash),
    version: message.version,
    inputs: message.inputs.map((input) => ({
      previousOutpoint: {
        transactionId: bytes(given(input.previousOutpoint).transactionId),
        index: given(input.previousOutpoint).index,
      },
      signatureScript: bytes(input.signatureScript),
      sequence: input.sequence,
      sigOpCount: input.sigOpCount,
      computeBudget: input.computeBudget,
    })),
    outputs: message.outputs.map((output) => ({
      amount: output.amount,
      scriptPublicKey: {
        version: given(output.scriptPublicKey).version,
        script: bytes(given(output.scriptPublicKey).scriptPublicKey),
      },
      covenant: covenantOf(output.covenant),
    })),
    lockTime: message.lockTime,
    subnetworkId: bytes(message.subnetworkId),
    gas: message.gas,
    payload: bytes(message.payload),
    storageMass: message.storageMass,
    computeMass: verboseData.computeMass,
  };
}

function covenantOf(covenant: protocol.Covenant | undefined): Covenant | undefined {
  if (covenant === undefined) return undefined;
  return { authorizingInput: covenant.authorizingInput, covenantId: bytes(covenant.covenantId) };
}

/** Returns a Uint8Array like the decoders: Vitest does not consider a Buffer equal to it. */
function bytes(hex: string): Hash {
  return new Uint8Array(fromHex(hex));
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a message within the message is missing');
  return value;
}
