import type { ChainTime, ScriptKey, TransactionKey } from '@kasgres/database';
import { type DaaScore, isCoinbase, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import { type AcceptedTransaction, type ChainBlock, collectState, type StateChanges } from '@kasgres/state';
import type { AddedChainBlock } from '../chain-update.ts';
import type { Registry, Seen, SeenBlock, SeenTransaction } from './registry.ts';
import { deltasOf, type ResolvedInput, resolveInputs } from './resolve.ts';

export interface Acceptance extends SeenTransaction {
  /** Position of the accepting chain block. */
  chainIndex: number;
  /** Null while it is unknown. */
  acceptedVariant: number | null;
}

export interface AddedChain {
  added: AddedChainBlock;
  chainBlock: SeenBlock;
  index: number;
  chainTime: ChainTime;
  highestTransaction: TransactionKey;
  accepted: readonly Acceptance[];
}

interface Known {
  registry: Registry;
  seen: Seen;
  resolved: readonly ResolvedInput[][];
}

export function collectChain(state: StateChanges, chain: readonly AddedChain[], known: Known): void {
  for (const { added, index, chainTime, accepted } of chain) {
    const chainBlock: ChainBlock = {
      index,
      chainTime,
      blocks: added.mergeSet.length,
      redBlocks: added.block.mergeSetRedsHashes.length,
      work: added.mergeSet.reduce((sum, { header }) => sum + workFromBits(header.bits), 0n),
    };
    collectState({ kind: 'chain-block', chainBlock }, state);
    for (const acceptance of accepted) {
      const transaction = toAccepted(chainBlock, added.block.header.daaScore, acceptance, known);
      collectState({ kind: 'accepted', transaction }, state);
    }
  }
}

function toAccepted(
  chainBlock: ChainBlock,
  blockDaaScore: DaaScore,
  { key, transaction }: Acceptance,
  { registry, seen, resolved }: Known,
): AcceptedTransaction {
  const inputs = resolved[key - seen.firstNewTransaction] ?? resolveInputs(transaction, registry.memory, seen.lookedUp);
  const spent = inputs.map(({ transaction: previous, utxo }, i) => {
    if (previous === undefined || utxo === undefined) {
      throw new Error(`${toHex(transaction.transactionId)} is accepted but spends an unknown UTXO (input ${i})`);
    }
    const { previousOutpoint } = transaction.inputs[i] as RpcTransaction['inputs'][number];
    return { transaction: previous, index: previousOutpoint.index };
  });
  const scripts = transaction.outputs.map(({ scriptPublicKey }) => registry.getScriptKey(scriptPublicKey));
  const created = { transaction: key, blockDaaScore, isCoinbase: isCoinbase(transaction) };
  return {
    chainBlock,
    isCoinbase: created.isCoinbase,
    deltas: deltasOf(transaction, inputs, scripts),
    spent,
    created: transaction.outputs.map(({ amount }, index) => ({
      ...created,
      index,
      script: scripts[index] as ScriptKey,
      amount,
    })),
  };
}
