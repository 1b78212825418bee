import type { ChainTime, ScriptKey } from '@kasgres/database';
import { isCoinbase, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import { type AcceptedTransaction, type ChainBlock, collectState, type StateChanges } from '@kasgres/state';
import type { AddedChainBlock } from '../chain-update.ts';
import type { Registry, Seen, SeenBlock, SeenTransaction } from './registry.ts';
import { deltasOf, type ResolvedInput, resolveInputs } from './resolve.ts';

export interface Acceptance extends SeenTransaction {
  chainBlock: SeenBlock;
  /** Null while it is unknown. */
  acceptedVariant: number | null;
}

export interface AddedChain {
  added: AddedChainBlock;
  chainBlock: SeenBlock;
  index: number;
  chainTime: ChainTime;
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
      collectState({ kind: 'accepted', transaction: toAccepted(chainBlock, acceptance, known) }, state);
    }
  }
}

function toAccepted(
  chainBlock: ChainBlock,
  { key, transaction, chainBlock: { block } }: Acceptance,
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
  const created = { transaction: key, blockDaaScore: block.header.daaScore, isCoinbase: isCoinbase(transaction) };
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
