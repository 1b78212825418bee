import type { ChainTime, ScriptKey, TransactionKey } from '@kasgres/database';
import { classifySubnetwork, type DaaScore, isCoinbase, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import {
  type AcceptedTransaction,
  type ChainBlock,
  type ChainTotals,
  collectState,
  type Outpoint,
  type StateChanges,
} from '@kasgres/state';
import type { AddedChainBlock } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import type { Registry, Seen, SeenBlock, SeenTransaction } from './registry.ts';
import { deltasOf, type ResolvedInput, resolveInputs } from './resolve.ts';

export interface Acceptance extends SeenTransaction {
  /** Position of the accepting chain block. */
  chainIndex: number;
  /** Null while it is unknown. */
  acceptedVariant: number | null;
  /** By number, what the mergeset carries if that is several variants. */
  variants: ReadonlyMap<number, RpcTransaction> | undefined;
}

export interface AddedChain {
  added: AddedChainBlock;
  chainBlock: SeenBlock;
  index: number;
  chainTime: ChainTime;
  highestTransaction: TransactionKey;
  accepted: readonly Acceptance[];
}

type SpentUtxo = NonNullable<ResolvedInput['utxo']>;

interface Known {
  registry: Registry;
  seen: Seen;
  resolved: readonly ResolvedInput[][];
}

export function collectChain(state: StateChanges, chain: readonly AddedChain[], known: Known): void {
  for (const { added, index, chainTime, accepted } of chain) {
    const chainBlock = toChainBlock(added, index, chainTime);
    collectState({ kind: 'chain-block', chainBlock }, state);
    for (const [position, acceptance] of accepted.entries()) {
      const place = { chainBlock, position, blockDaaScore: added.block.header.daaScore };
      collectState({ kind: 'accepted', transaction: toAccepted(place, acceptance, known) }, state);
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
      forEachSpent(transaction, inputsOf(acceptance, known), (spent, index, { amount, script }) => {
        totals.spend(script, amount);
        utxos.spend(spent, index);
      });
      utxos.forEachOutput(key, (amount, script) => totals.create(script, amount));
      utxos.accept(key, added.block.header.daaScore, isCoinbase(transaction));
    }
  }
}

function toChainBlock({ block, mergeSet }: AddedChainBlock, index: number, chainTime: ChainTime): ChainBlock {
  return {
    index,
    chainTime,
    blocks: mergeSet.length,
    // The blocks that a bootstrap block merges are not indexed.
    redBlocks: mergeSet.length === 0 ? 0 : block.mergeSetRedsHashes.length,
    work: mergeSet.reduce((sum, { header }) => sum + workFromBits(header.bits), 0n),
  };
}

function inputsOf({ key, transaction }: Acceptance, { registry, seen, resolved }: Known): ResolvedInput[] {
  return resolved[key - seen.firstNewTransaction] ?? resolveInputs(transaction, registry.memory, seen.lookedUp);
}

/** Calls `use` with each UTXO that a transaction spends: with the key of the transaction that created it, and its index there. */
function forEachSpent(
  transaction: RpcTransaction,
  inputs: readonly ResolvedInput[],
  use: (creator: TransactionKey, index: number, utxo: SpentUtxo) => void,
): void {
  inputs.forEach(({ transaction: creator, utxo }, i) => {
    if (creator === undefined || utxo === undefined) {
      const id = toHex(transaction.transactionId);
      throw new IncompleteUpdateError(`${id} is accepted but spends an unknown UTXO (input ${i})`);
    }
    const { previousOutpoint } = transaction.inputs[i] as RpcTransaction['inputs'][number];
    use(creator, previousOutpoint.index, utxo);
  });
}

function laneOf({ subnetworkId, gas }: RpcTransaction, { registry, seen }: Known): AcceptedTransaction['lane'] {
  if (classifySubnetwork(subnetworkId) !== 'lane') return undefined;
  return { subnetwork: registry.subnetworkKey(seen, subnetworkId), gas };
}

interface Place {
  chainBlock: ChainBlock;
  position: number;
  blockDaaScore: DaaScore;
}

function toAccepted({ blockDaaScore, ...place }: Place, acceptance: Acceptance, known: Known): AcceptedTransaction {
  const { key, transaction, acceptedVariant } = acceptance;
  const inputs = inputsOf(acceptance, known);
  const spent: Outpoint[] = [];
  forEachSpent(transaction, inputs, (creator, index, { script }) => {
    spent.push({ transaction: creator, index, script });
  });
  const scripts = transaction.outputs.map(({ scriptPublicKey }) => known.registry.getScriptKey(scriptPublicKey));
  const created = { transaction: key, blockDaaScore, isCoinbase: isCoinbase(transaction) };
  return {
    ...place,
    key,
    acceptedVariant,
    content: transaction,
    isCoinbase: created.isCoinbase,
    deltas: deltasOf(transaction, inputs, scripts),
    lane: laneOf(transaction, known),
    spent,
    created: transaction.outputs.map(({ amount, covenant }, index) => ({
      ...created,
      index,
      script: scripts[index] as ScriptKey,
      amount,
      covenantId: covenant?.covenantId,
    })),
  };
}
