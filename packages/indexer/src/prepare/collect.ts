import { isCoinbase, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import { type AcceptedTransaction, type ChainBlock, collectState, type StateChanges } from '@kasgres/state';
import type { AddedChainBlock } from '../chain-update.ts';
import type { Registry, Seen, SeenBlock, SeenTransaction } from './registry.ts';
import { deltasOf, type ResolvedInput, resolveInputs } from './resolve.ts';

export interface Acceptance extends SeenTransaction {
  chainBlock: SeenBlock;
  /** Null while the node cannot tell. */
  acceptedVariant: number | null;
}

/** A chain block that the batch adds, with what it accepts, in the order of acceptance. */
export interface AddedChain {
  added: AddedChainBlock;
  chainBlock: SeenBlock;
  /** chain_blocks.index */
  index: number;
  chainTime: bigint;
  accepted: readonly Acceptance[];
}

/** Hands the chain blocks and accepted transactions of a batch to the modules of derived state. @param resolved inputs of new transactions */
export function collectChain(
  state: StateChanges,
  chain: readonly AddedChain[],
  known: { registry: Registry; seen: Seen; resolved: readonly ResolvedInput[][] },
): void {
  for (const { added, index, chainTime, accepted } of chain) {
    const chainBlock = toChainBlock({ index, chainTime }, added);
    collectState({ kind: 'chain-block', chainBlock }, state);
    for (const acceptance of accepted) {
      collectState({ kind: 'accepted', transaction: toAccepted(chainBlock, acceptance, known) }, state);
    }
  }
}

function toChainBlock(
  position: Pick<ChainBlock, 'index' | 'chainTime'>,
  { block, mergeSet }: AddedChainBlock,
): ChainBlock {
  return {
    ...position,
    blocks: mergeSet.length,
    redBlocks: block.mergeSetRedsHashes.length,
    work: mergeSet.reduce((sum, { header }) => sum + workFromBits(header.bits), 0n),
  };
}

function toAccepted(
  chainBlock: ChainBlock,
  { key, transaction, chainBlock: { block } }: Acceptance,
  { registry, seen, resolved }: { registry: Registry; seen: Seen; resolved: readonly ResolvedInput[][] },
): AcceptedTransaction {
  const inputs = resolved[key - seen.firstNewTransaction] ?? resolveInputs(transaction, registry.memory, seen.lookedUp);
  const spent = inputs.map(({ transaction: previous, utxo }, i) => {
    if (previous === undefined || utxo === undefined) {
      throw new Error(`${toHex(transaction.transactionId)} is accepted but spends an unknown UTXO (input ${i})`);
    }
    return {
      transaction: previous,
      index: (transaction.inputs[i] as RpcTransaction['inputs'][number]).previousOutpoint.index,
    };
  });
  const outputScripts = transaction.outputs.map(({ scriptPublicKey }) => registry.getScriptKey(scriptPublicKey));
  const created = { transaction: key, blockDaaScore: block.header.daaScore, isCoinbase: isCoinbase(transaction) };
  return {
    chainBlock,
    isCoinbase: created.isCoinbase,
    deltas: deltasOf(transaction, inputs, outputScripts),
    spent,
    created: transaction.outputs.map(({ amount }, index) => ({
      ...created,
      index,
      script: outputScripts[index] as number,
      amount,
    })),
  };
}
