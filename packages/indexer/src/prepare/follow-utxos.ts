/** What a chain block's mergeset and accepted transactions change: UTXOs, balances, and what its minute, hour and day add up to. */
import { isCoinbase, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import type { AddedChainBlock } from '../chain-update.ts';
import { addAccepted, type ChainBlockTotals, totalsOf } from '../rollups/chain-block-totals.ts';
import { type BalanceChanges, hourOf } from './balance-changes.ts';
import type { Ledger } from './ledger.ts';
import type { Registry, Seen, SeenBlock, SeenTransaction } from './registry.ts';
import { movesOf, type ResolvedInput, resolveInputs } from './resolve.ts';
import { writeUtxo } from './write-rows.ts';

export interface Acceptance extends SeenTransaction {
  chainBlock: SeenBlock;
  /** Null while the node cannot tell. */
  acceptedBody: number | null;
}

/** What accepted transactions change. */
interface Followed {
  ledger: Ledger;
  balanceChanges: BalanceChanges;
  /** By the chain block's key. */
  chainTotals: ReadonlyMap<number, ChainBlockTotals>;
}

/** What is known of the transactions. */
interface Known {
  registry: Registry;
  seen: Seen;
  /** Inputs of those that are new. */
  resolved: readonly ResolvedInput[][];
}

/** Through the accepted transactions, in the order of acceptance. */
export function followUtxos(
  { ledger, balanceChanges, chainTotals }: Followed,
  { registry, seen, resolved }: Known,
  acceptances: readonly Acceptance[],
): void {
  for (const { key, transaction, chainBlock } of acceptances) {
    const totals = chainTotals.get(chainBlock.key) as ChainBlockTotals;
    const hour = hourOf(totals.chainTime);
    const inputs =
      resolved[key - seen.firstNewTransaction] ?? resolveInputs(transaction, registry.memory, seen.lookedUp);
    inputs.forEach(({ transaction: previous, utxo }, i) => {
      const { index } = (transaction.inputs[i] as RpcTransaction['inputs'][number]).previousOutpoint;
      if (previous === undefined || utxo === undefined) {
        throw new Error(`${toHex(transaction.transactionId)} is accepted but spends an unknown UTXO (input ${i})`);
      }
      ledger.spend(previous, index, utxo, hour);
    });
    const place = {
      transaction: key,
      blockDaaScore: chainBlock.block.header.daaScore,
      isCoinbase: isCoinbase(transaction),
    };
    const outputScripts = transaction.outputs.map(({ scriptPublicKey }) => registry.getScriptKey(scriptPublicKey));
    transaction.outputs.forEach(({ amount }, index) => {
      ledger.make({ ...place, index, script: outputScripts[index] as number, amount }, hour);
    });
    const accepted = { isCoinbase: place.isCoinbase, moves: movesOf(transaction, inputs, outputScripts) };
    balanceChanges.addAccepted(accepted, 1);
    addAccepted(totals, accepted);
  }
  for (const utxo of ledger.made) writeUtxo(seen.rows, utxo);
}

/** Of a chain block, before the transactions that it accepts. */
export function totalsOfMerged(
  { index, chainTime }: Pick<ChainBlockTotals, 'index' | 'chainTime'>,
  { block, mergeSet }: AddedChainBlock,
): ChainBlockTotals {
  return totalsOf({
    index,
    chainTime,
    blocks: mergeSet.length,
    redBlocks: block.mergeSetRedsHashes.length,
    work: mergeSet.reduce((sum, { header }) => sum + workFromBits(header.bits), 0n),
  });
}
