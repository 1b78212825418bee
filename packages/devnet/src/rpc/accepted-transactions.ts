/**
 * The messages of getVirtualChainFromBlockV2. Source: rusty-kaspa,
 * `rpc/core/src/convert/verbosity.rs`.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type AddressPrefix,
  formatBlueWork,
  isCoinbase,
  type Outpoint,
  type ScriptPublicKey,
  toHex,
  type TransactionInput,
  type Utxo,
} from '@kasgres/kaspa';
import { protocol, toOutpointMessage, toScriptMessage } from '@kasgres/node';
import type { AcceptedTransaction, Dag, DagBlock } from '../dag/dag.ts';
import { NodeResponseError } from '../dag/node-state.ts';
import { acceptedBy } from '../dag/responses/chain.ts';
import { optionally, scriptVerboseData } from './to-messages.ts';

const Level = protocol.GetVirtualChainFromBlockV2Request_DataVerbosityLevel;
type Level = protocol.GetVirtualChainFromBlockV2Request_DataVerbosityLevel;

interface Context {
  dag: Dag;
  level: Level;
  prefix: AddressPrefix;
}

/**
 * Throws kaspad's "The address is invalid" if a script in the response has no address: kaspad fails
 * the whole call.
 */
export function acceptedTransactionsMessage(
  chainBlock: DagBlock,
  context: Context,
): MessageInitShape<typeof protocol.ChainBlockAcceptedTransactionsSchema> {
  return {
    chainBlockHeader: optionalHeader(chainBlock, context.level),
    acceptedTransactions: acceptedBy(chainBlock).map((accepted) => optionalTransaction(accepted, context)),
  };
}

function optionalHeader(
  { hash, header }: DagBlock,
  level: Level,
): MessageInitShape<typeof protocol.OptionalHeaderSchema> {
  return {
    hash,
    ...(level >= Level.LOW && {
      version: header.version,
      timestamp: header.timestamp,
      bits: header.bits,
      nonce: header.nonce,
      daaScore: header.daaScore,
      blueWork: formatBlueWork(header.blueWork),
      blueScore: header.blueScore,
    }),
    ...(level >= Level.HIGH && {
      parentsByLevel: levelRuns(header.parentsByLevel.map((parents) => parents.map(toHex))),
      hashMerkleRoot: toHex(header.hashMerkleRoot),
      acceptedIdMerkleRoot: toHex(header.acceptedIdMerkleRoot),
    }),
    ...(level >= Level.FULL && {
      utxoCommitment: toHex(header.utxoCommitment),
      pruningPoint: toHex(header.pruningPoint),
    }),
  };
}

/** Consecutive levels with the same parents as one run, which ends at `cumulativeLevel`. */
function levelRuns(levels: string[][]): { parentHashes: string[]; cumulativeLevel: number }[] {
  const runs: { parentHashes: string[]; cumulativeLevel: number }[] = [];
  for (const [level, parentHashes] of levels.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && String(last.parentHashes) === String(parentHashes)) last.cumulativeLevel = level + 1;
    else runs.push({ parentHashes, cumulativeLevel: level + 1 });
  }
  return runs;
}

function optionalTransaction(
  { block, transaction }: AcceptedTransaction,
  context: Context,
): MessageInitShape<typeof protocol.OptionalTransactionSchema> {
  const { level } = context;
  return {
    inputs: transaction.inputs.map((input) => optionalInput(input, context)),
    outputs: transaction.outputs.map(({ amount, scriptPublicKey, covenant }) => ({
      ...(level >= Level.LOW && { value: amount, scriptPublicKey: toScriptMessage(scriptPublicKey) }),
      ...(level >= Level.LOW &&
        covenant && {
          covenant: {
            covenant: { authorizingInput: covenant.authorizingInput, covenantId: toHex(covenant.covenantId) },
          },
        }),
      verboseData: level >= Level.LOW ? verboseDataOrFail(scriptPublicKey, context) : {},
    })),
    // The node fills these in at every level.
    subnetworkId: toHex(transaction.subnetworkId),
    gas: transaction.gas,
    payload: toHex(transaction.payload),
    mass: transaction.storageMass,
    ...(level >= Level.FULL && { version: transaction.version, lockTime: transaction.lockTime }),
    verboseData: {
      ...(level >= Level.LOW && {
        transactionId: toHex(transaction.transactionId),
        hash: toHex(transaction.hash),
        blockHash: block.hash,
        blockTime: block.header.timestamp,
      }),
      ...(level >= Level.HIGH && { computeMass: transaction.computeMass }),
    },
  };
}

function optionalInput(
  input: TransactionInput,
  context: Context,
): MessageInitShape<typeof protocol.OptionalTransactionInputSchema> {
  const { level } = context;
  return {
    ...(level >= Level.LOW && { signatureScript: toHex(input.signatureScript) }),
    ...(level >= Level.HIGH && {
      previousOutpoint: toOutpointMessage(input.previousOutpoint),
      sequence: input.sequence,
      sigOpCount: input.sigOpCount,
      computeBudget: input.computeBudget,
    }),
    verboseData: { utxoEntry: optionalUtxo(spentUtxo(context.dag, input.previousOutpoint), context) },
  };
}

function optionalUtxo(utxo: Utxo, context: Context) {
  const { level } = context;
  return {
    ...(level >= Level.HIGH && {
      amount: utxo.amount,
      scriptPublicKey: toScriptMessage(utxo.scriptPublicKey),
      isCoinbase: utxo.isCoinbase,
    }),
    ...(level >= Level.FULL && { blockDaaScore: utxo.blockDaaScore }),
    ...optionally('covenantId', utxo.covenantId && toHex(utxo.covenantId)),
    verboseData: level >= Level.LOW ? verboseDataOrFail(utxo.scriptPublicKey, context) : {},
  };
}

function verboseDataOrFail(script: ScriptPublicKey, { prefix }: Context) {
  const verboseData = scriptVerboseData(script, prefix);
  if (verboseData === undefined) throw new NodeResponseError('The address is invalid');
  return verboseData;
}

/** Returns a UTXO as it was before it was spent. Throws if no accepted transaction created it. */
function spentUtxo(dag: Dag, outpoint: Outpoint): Utxo {
  const id = toHex(outpoint.transactionId);
  const transaction = dag.findTransaction(id);
  const output = transaction?.outputs[outpoint.index];
  const acceptingBlock = dag.findAcceptingBlock(id);
  if (transaction === undefined || output === undefined || acceptingBlock === undefined) {
    throw new Error(`no accepted transaction made the UTXO ${id}:${outpoint.index}`);
  }
  return {
    outpoint,
    amount: output.amount,
    scriptPublicKey: output.scriptPublicKey,
    blockDaaScore: acceptingBlock.header.daaScore,
    isCoinbase: isCoinbase(transaction),
    covenantId: output.covenant?.covenantId,
  };
}
