import type { ChainTime, ScriptKey, TransactionKey } from '@kasgres/database';
import { type DaaScore, isCoinbase, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import {
  type AcceptedTransaction,
  type ChainBlock,
  type ChainTotals,
  collectState,
  type StateChanges,
} from '@kasgres/state';
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
    const chainBlock = toChainBlock(added, index, chainTime);
    collectState({ kind: 'chain-block', chainBlock }, state);
    for (const acceptance of accepted) {
      const transaction = toAccepted(chainBlock, added.block.header.daaScore, acceptance, known);
      collectState({ kind: 'accepted', transaction }, state);
    }
  }
}

/** Needs every transaction since genesis in memory. @throws if an accepted transaction spends an unknown UTXO */
export function sumUpChain(totals: ChainTotals, chain: readonly AddedChain[], known: Known): void {
  const { utxos } = known.registry.memory;
  for (const { added, index, chainTime, accepted } of chain) {
    totals.beginBlock(toChainBlock(added, index, chainTime));
    for (const acceptance of accepted) {
      const { key, transaction } = acceptance;
      totals.beginTransaction(isCoinbase(transaction));
      for (const { transaction: spent, index: output, utxo } of spentBy(acceptance, known)) {
        totals.spend(utxo.script, utxo.amount);
        utxos.spend(spent, output);
      }
      for (const { amount, script } of utxos.outputsOf(key)) totals.create(script, amount);
      utxos.accept(key, added.block.header.daaScore, isCoinbase(transaction));
    }
  }
}

function toChainBlock({ block, mergeSet }: AddedChainBlock, index: number, chainTime: ChainTime): ChainBlock {
  return {
    index,
    chainTime,
    blocks: mergeSet.length,
    redBlocks: block.mergeSetRedsHashes.length,
    work: mergeSet.reduce((sum, { header }) => sum + workFromBits(header.bits), 0n),
  };
}

function spentBy({ key, transaction }: Acceptance, { registry, seen, resolved }: Known) {
  const inputs = resolved[key - seen.firstNewTransaction] ?? resolveInputs(transaction, registry.memory, seen.lookedUp);
  return inputs.map(({ transaction: previous, utxo }, i) => {
    if (previous === undefined || utxo === undefined) {
      throw new Error(`${toHex(transaction.transactionId)} is accepted but spends an unknown UTXO (input ${i})`);
    }
    const { previousOutpoint } = transaction.inputs[i] as RpcTransaction['inputs'][number];
    return { transaction: previous, index: previousOutpoint.index, script: utxo.script, utxo };
  });
}

function toAccepted(
  chainBlock: ChainBlock,
  blockDaaScore: DaaScore,
  acceptance: Acceptance,
  known: Known,
): AcceptedTransaction {
  const { key, transaction } = acceptance;
  const spent = spentBy(acceptance, known);
  const scripts = transaction.outputs.map(({ scriptPublicKey }) => known.registry.getScriptKey(scriptPublicKey));
  const created = { transaction: key, blockDaaScore, isCoinbase: isCoinbase(transaction) };
  return {
    chainBlock,
    isCoinbase: created.isCoinbase,
    deltas: deltasOf(transaction, spent, scripts),
    spent,
    created: transaction.outputs.map(({ amount }, index) => ({
      ...created,
      index,
      script: scripts[index] as ScriptKey,
      amount,
    })),
  };
}
