/**
 * Turns a chain update into the batch that writes it: assigns keys, determines what is merged and accepted, resolves inputs, fills the COPY
 * buffers and collects derived state. It queries Postgres only through memory/, and the node only through ambiguous-variants.
 */
import { type Hash, isCoinbase, type Network, toHex } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import { collectState, StateChanges } from '@kasgres/state';
import type { ClientBase } from 'pg';
import type { AddedChainBlock, ChainUpdate } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import type { Memory } from '../memory/memory.ts';
import { lookUp } from '../memory/look-up.ts';
import type { AmbiguousVariant, AmbiguousVariants } from './ambiguous-variants.ts';
import type { Batch, Checkpoint, MergedBefore, SettledVariant } from './batch.ts';
import { type Acceptance, type AddedChain, collectChain } from './collect.ts';
import { Registry, type Seen, type SeenBlock, type SeenTransaction } from './registry.ts';
import { deltasOf, feeOf, type ResolvedInput, resolveInputs } from './resolve.ts';
import * as write from './write-rows.ts';
import { Yielder } from './yielder.ts';

const YIELD_EVERY_TRANSACTIONS = 64;

/** The highest chain block that remains after an update's `removed`; the checkpoint's block without a reorg. */
export type Fork = Pick<Checkpoint, 'blockId' | 'hash' | 'blueScore' | 'chainIndex' | 'chainTime'>;

export class Preparer {
  readonly #memory: Memory;
  readonly #registry: Registry;
  readonly #ambiguousVariants: AmbiguousVariants;

  /** @param bootstrapBlueScore of the latest bootstrap block; undefined for genesis, before which there are no blocks */
  constructor(
    memory: Memory,
    network: Network,
    ambiguousVariants: AmbiguousVariants,
    checkpoint: Checkpoint,
    bootstrapBlueScore: bigint | undefined,
  ) {
    this.#memory = memory;
    this.#registry = new Registry(memory, network, checkpoint, bootstrapBlueScore);
    this.#ambiguousVariants = ambiguousVariants;
  }

  /** @param from the checkpoint that the batch will find */
  async prepare(client: ClientBase, update: ChainUpdate, from: Checkpoint, fork: Fork): Promise<Batch> {
    this.#ambiguousVariants.drop(update.removed);
    const seen = this.#registry.begin(await lookUp(client, this.#memory, blocksOf(update)));
    const yielder = new Yielder();
    const chain: AddedChain[] = [];
    let { chainIndex: index, chainTime } = fork;
    for (const added of update.added) {
      const mergeSet = added.mergeSet.map((block) => this.#registry.see(seen, block));
      const chainBlock = this.#registry.see(seen, added.block);
      merge(chainBlock, mergeSet);
      const accepted = this.#accept(added, chainBlock, mergeSet);
      index += 1;
      const { timestamp } = added.block.header;
      if (timestamp > chainTime) chainTime = timestamp;
      chain.push({ added, chainBlock, index, chainTime, accepted });
      await yielder.yieldToEventLoop();
    }
    // The tail is of a later moment than the chain: blocks that refer to blocks beyond it are left out.
    const virtualMergeSet = (update.tail ?? []).flatMap((block) =>
      this.#registry.canRefer(referencesOf(block), block) ? [this.#registry.see(seen, block).key] : [],
    );
    const acceptances = chain.flatMap(({ accepted }) => accepted);
    const settledVariants = await this.#settleVariants(acceptances, chain.length > 0);

    for (const block of seen.blocks.values()) {
      if (block.isNew) this.#writeBlock(seen, block);
      await yielder.yieldToEventLoop();
    }
    for (const { chainBlock, accepted, ...position } of chain) {
      const keys = accepted.map(({ key }) => key);
      write.writeChainBlock(seen.rows, { ...position, key: chainBlock.key }, chainBlock.block, keys);
    }
    const { resolved, touched } = await this.#writeTransactions(seen, acceptances, yielder);
    let state: StateChanges | undefined;
    if (!from.firstCatchUp) {
      const range = { checkpoint: from.chainIndex, fork: fork.chainIndex, forkTime: fork.chainTime, to: index };
      state = new StateChanges(range);
      collectState({ kind: 'address-rows', scripts: touched }, state);
      collectChain(state, chain, { registry: this.#registry, seen, resolved });
    }

    this.#memory.endBatch(seen.firstNewTransaction);
    const sink = chain.at(-1)?.chainBlock;
    const writtenBefore = [...seen.blocks.values()].filter((block) => !block.isNew);
    return {
      from,
      to: {
        blockId: sink?.key ?? fork.blockId,
        hash: sink?.block.hash ?? fork.hash,
        blueScore: sink?.block.header.blueScore ?? fork.blueScore,
        chainIndex: index,
        chainTime,
        ...this.#registry.nextKeys,
        firstCatchUp: from.firstCatchUp,
      },
      removed: update.removed,
      rows: seen.rows,
      mergedBefore: writtenBefore.flatMap(toMerged),
      chainBefore: writtenBefore.filter((block) => block.isChainBlock).map((block) => block.key),
      preBootstrapBlocks: seen.preBootstrapBlocks,
      acceptedBefore: acceptances
        .filter(({ key }) => key < seen.firstNewTransaction)
        .map(({ key, chainBlock, acceptedVariant }) => ({
          transaction: key,
          acceptingBlock: chainBlock.key,
          variant: acceptedVariant,
        })),
      preBootstrapTransactions: seen.newTransactions
        .map(({ key }) => key)
        .filter((key) => key < seen.firstNewTransaction),
      settledVariants,
      state,
      virtualMergeSet,
      targetBlueScore: update.targetBlueScore,
      secondsLeft: null,
    };
  }

  /** Pairs each accepted id with the variant that the mergeset carries, in the node's order. */
  #accept(added: AddedChainBlock, chainBlock: SeenBlock, mergeSet: SeenBlock[]): Acceptance[] {
    const carried = new Map<number, SeenTransaction>();
    const severalVariants = new Set<number>();
    for (const { transactions } of mergeSet) {
      for (const transaction of transactions) {
        const other = carried.get(transaction.key);
        if (other === undefined) carried.set(transaction.key, transaction);
        else if (other.variant !== transaction.variant) severalVariants.add(transaction.key);
      }
    }
    return added.acceptedTransactionIds.map((id) => {
      const key = this.#memory.transactions.get(id);
      const transaction = key === undefined ? undefined : carried.get(key);
      if (transaction === undefined) {
        throw new IncompleteUpdateError(
          `chain block ${toHex(added.block.hash)} accepts ${toHex(id)}, which it does not merge`,
        );
      }
      const isAmbiguous = severalVariants.has(transaction.key);
      if (isAmbiguous) this.#ambiguousVariants.add(toAmbiguous(transaction, added, mergeSet));
      return { ...transaction, chainBlock, acceptedVariant: isAmbiguous ? null : transaction.variant };
    });
  }

  /** Returns the variants of transactions that earlier batches accepted. */
  async #settleVariants(acceptances: readonly Acceptance[], chainMoved: boolean): Promise<SettledVariant[]> {
    const settled = await this.#ambiguousVariants.settle(chainMoved);
    for (const acceptance of acceptances) {
      if (acceptance.acceptedVariant !== null) continue;
      acceptance.acceptedVariant = settled.get(acceptance.key) ?? null;
      settled.delete(acceptance.key);
    }
    return [...settled].map(([transaction, variant]) => ({ transaction, variant }));
  }

  #writeBlock(batch: Seen, seen: SeenBlock): void {
    const { rows } = batch;
    const { key, block, transactions, isChainBlock, mergingBlock, isBlue } = seen;
    const keysOf = (hashes: readonly Hash[]): number[] =>
      hashes.map((hash) => this.#registry.getBlockKey(batch, hash, block));
    const parents = keysOf(block.header.parentsByLevel[0] ?? []);
    const mergeSetBlues = keysOf(block.mergeSetBluesHashes);
    write.writeBlock(rows, block, {
      key,
      // One of the parents, except that the node names a block for genesis that is none.
      selectedParent: this.#memory.findBlock(block.selectedParentHash) ?? null,
      parents,
      mergeSetBlues,
      mergeSetReds: keysOf(block.mergeSetRedsHashes),
      isChainBlock,
      mergingBlock,
      isBlue,
    });
    transactions.forEach((transaction, index) => write.writeBlockTransaction(rows, key, index, transaction));
  }

  /** Returns the inputs of the new transactions, and the script of each new row of address_transactions. */
  async #writeTransactions(
    seen: Seen,
    acceptances: readonly Acceptance[],
    yielder: Yielder,
  ): Promise<{ resolved: ResolvedInput[][]; touched: number[] }> {
    const { rows, lookedUp, newTransactions, firstNewTransaction } = seen;
    const accepted = new Map<number, Acceptance>();
    for (const acceptance of acceptances) {
      if (acceptance.key >= firstNewTransaction) accepted.set(acceptance.key, acceptance);
    }
    const resolved: ResolvedInput[][] = [];
    const touched: number[] = [];
    for (const { key, transaction, outputScripts } of newTransactions) {
      const inputs = resolveInputs(transaction, this.#memory, lookedUp);
      const acceptance = accepted.get(key);
      write.writeTransaction(rows, transaction, {
        key,
        subnetwork: this.#registry.subnetworkKey(seen, transaction.subnetworkId),
        fee: feeOf(transaction, inputs, isCoinbase(transaction)),
        acceptingBlock: acceptance?.chainBlock.key ?? null,
        acceptedVariant: acceptance?.acceptedVariant ?? null,
      });
      write.writeInputs(rows, key, transaction, inputs);
      write.writeOutputs(rows, key, transaction, outputScripts);
      const deltas = deltasOf(transaction, inputs, outputScripts);
      write.writeAddressTransactions(rows, key, deltas);
      touched.push(...deltas.keys());
      // Pre-bootstrap transactions have lower keys, and are never accepted again.
      if (key >= firstNewTransaction) resolved.push(inputs);
      if (key % YIELD_EVERY_TRANSACTIONS === 0) await yielder.yieldToEventLoop();
    }
    return { resolved, touched };
  }
}

function* blocksOf({ added, tail }: ChainUpdate): Iterable<RpcBlock> {
  for (const { mergeSet } of added) yield* mergeSet;
  const sink = added.at(-1);
  if (sink !== undefined) yield sink.block;
  if (tail !== undefined) yield* tail;
}

function merge(chainBlock: SeenBlock, mergeSet: SeenBlock[]): void {
  chainBlock.isChainBlock = true;
  const reds = new Set(chainBlock.block.mergeSetRedsHashes.map(toHex));
  for (const merged of mergeSet) {
    merged.mergingBlock = chainBlock.key;
    merged.isBlue = !reds.has(toHex(merged.block.hash));
  }
}

function toMerged({ key, mergingBlock, isBlue }: SeenBlock): MergedBefore[] {
  return mergingBlock === null || isBlue === null ? [] : [{ block: key, mergingBlock, isBlue }];
}

function referencesOf({ header, mergeSetBluesHashes, mergeSetRedsHashes }: RpcBlock): Hash[] {
  return [...(header.parentsByLevel[0] ?? []), ...mergeSetBluesHashes, ...mergeSetRedsHashes];
}

function toAmbiguous(
  { key, transaction }: SeenTransaction,
  { block, mergeSet: [selectedParent] }: AddedChainBlock,
  mergeSet: SeenBlock[],
): AmbiguousVariant {
  const variants = new Map<string, number>();
  for (const merged of mergeSet) {
    const carried = merged.transactions.find((candidate) => candidate.key === key);
    if (carried !== undefined) variants.set(toHex(merged.block.hash), carried.variant);
  }
  return {
    transaction: key,
    transactionId: toHex(transaction.transactionId),
    chainBlock: toHex(block.hash),
    chainBlockBlueScore: block.header.blueScore,
    parent: toHex((selectedParent as RpcBlock).hash),
    variants,
  };
}
