import type { ChainTime, ScriptKey, TransactionKey } from '@kasgres/database';
import { classifySubnetwork, type DaaScore, isCoinbase, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import {
  type AcceptedTransaction,
  type ChainBlock,
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

type CompleteInput = { [Name in keyof ResolvedInput]: NonNullable<ResolvedInput[Name]> };

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
      const acceptedAt = { chainBlock, position, blockDaaScore: added.block.header.daaScore };
      collectState({ kind: 'accepted', transaction: toAccepted(acceptedAt, acceptance, known) }, state);
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

/** Checks acceptances of which nothing else is collected. @throws as inputsOf */
export function checkInputs(acceptances: readonly Acceptance[], known: Known): void {
  for (const acceptance of acceptances) inputsOf(acceptance, known);
}

/** @throws IncompleteUpdateError if an accepted transaction spends an unknown UTXO */
function inputsOf({ key, transaction }: Acceptance, { registry, seen, resolved }: Known): CompleteInput[] {
  const inputs = resolved[key - seen.firstNewTransaction] ?? resolveInputs(transaction, registry.memory, seen.lookedUp);
  if (inputs.every(isComplete)) return inputs;
  const input = inputs.findIndex((each) => !isComplete(each));
  throw new IncompleteUpdateError(
    `${toHex(transaction.transactionId)} is accepted but spends an unknown UTXO (input ${input})`,
  );
}

function isComplete(input: ResolvedInput): input is CompleteInput {
  return input.transaction !== undefined && input.utxo !== undefined;
}

function laneOf({ subnetworkId, gas }: RpcTransaction, { registry, seen }: Known): AcceptedTransaction['lane'] {
  if (classifySubnetwork(subnetworkId) !== 'lane') return undefined;
  return { subnetwork: registry.subnetworkKey(seen, subnetworkId), gas };
}

interface AcceptedAt {
  chainBlock: ChainBlock;
  position: number;
  blockDaaScore: DaaScore;
}

function toAccepted(
  { blockDaaScore, ...acceptedAt }: AcceptedAt,
  acceptance: Acceptance,
  known: Known,
): AcceptedTransaction {
  const { key, transaction, acceptedVariant } = acceptance;
  const inputs = inputsOf(acceptance, known);
  const spent = inputs.map(({ transaction: creator, utxo }, i): Outpoint => {
    const { previousOutpoint } = transaction.inputs[i] as RpcTransaction['inputs'][number];
    return { transaction: creator, index: previousOutpoint.index, script: utxo.script };
  });
  const scripts = transaction.outputs.map(({ scriptPublicKey }) => known.registry.getScriptKey(scriptPublicKey));
  const created = { transaction: key, blockDaaScore, isCoinbase: isCoinbase(transaction) };
  return {
    ...acceptedAt,
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
