/**
 * Turns a chain update into a batch. It queries Postgres only through memory/, and the node only
 * through ambiguous-variants.
 */
import { setImmediate } from 'node:timers/promises';
import type { BlockKey, ScriptKey, TransactionKey } from '@kasgres/database';
import { getNetwork, type Hash, isCoinbase, type Network, toHex } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { type CandidateTransactions, collectState, getOrInsert, StateChanges } from '@kasgres/state';
import type { ClientBase } from 'pg';
import type { AddedChainBlock, ChainUpdate } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import { lookUp, referencesOf } from '../memory/look-up.ts';
import type { AmbiguousVariants } from './ambiguous-variants.ts';
import type { Batch, Checkpoint, Fork } from './batch.ts';
import { type Acceptance, type AddedChain, checkInputs, collectChain } from './collect.ts';
import type { Registry, Seen, SeenBlock, SeenTransaction } from './registry.ts';
import { feeOf, type ResolvedInput, resolveInputs, scriptsOf } from './resolve.ts';
import { writeBlock, writeInputs, writeOutputs, writeTransaction } from './write-rows.ts';

const YIELD_EVERY_TRANSACTIONS = 64;
const YIELD_EVERY_MS = 4;

/**
 * By block, the scripts touched by transactions that were first seen in it, repeated for each
 * transaction.
 */
type Touched = Map<BlockKey, ScriptKey[]>;

export class Preparer {
  readonly #registry: Registry;
  readonly #ambiguousVariants: AmbiguousVariants;
  #candidates: CandidateTransactions | undefined;

  /** @param candidates of a first catch-up, if they are those of its chain up to the checkpoint */
  constructor(registry: Registry, ambiguousVariants: AmbiguousVariants, candidates?: CandidateTransactions) {
    this.#registry = registry;
    this.#ambiguousVariants = ambiguousVariants;
    this.#candidates = candidates;
  }

  /** Returns the candidates of the first catch-up. They are needed once, and then forgotten. */
  takeCandidates(): CandidateTransactions | undefined {
    const candidates = this.#candidates;
    this.#candidates = undefined;
    return candidates;
  }

  /**
   * @param from the checkpoint that the batch will find
   * @param fork the chain block below `removed`; the checkpoint's without a reorg
   * @throws IncompleteUpdateError if the update does not fit the chain below or itself
   */
  async prepare(client: ClientBase, update: ChainUpdate, from: Checkpoint, fork: Fork): Promise<Batch> {
    checkFollows(update, fork);
    this.#ambiguousVariants.drop(update.removed);
    const seen = this.#registry.begin(await lookUp(client, this.#registry, blocksOf(update)));
    const yieldToEventLoop = createYielder();
    const chain: AddedChain[] = [];
    const acceptedKeys = new Set<number>();
    let { chainIndex: index, chainTime } = fork;
    for (const added of update.added) {
      const mergeSet = added.mergeSet.map((block) => this.#registry.see(seen, block));
      const chainBlock = this.#registry.see(seen, added.block);
      merge(chainBlock, mergeSet);
      index += 1;
      const accepted = this.#accept(added, index, mergeSet, acceptedKeys);
      const { timestamp } = added.block.header;
      if (timestamp > chainTime) chainTime = timestamp;
      const highestTransaction = this.#registry.lastTransaction;
      chain.push({ added, chainBlock, index, chainTime, highestTransaction, accepted });
      await yieldToEventLoop();
    }
    // The tail is of a later moment than the chain: blocks that refer to blocks beyond it are left
    // out.
    const virtualMergeSet = (update.tail ?? []).flatMap((block) =>
      this.#registry.canRefer(referencesOf(block), block) ? [this.#registry.see(seen, block).key] : [],
    );
    const acceptances = chain.flatMap(({ accepted }) => accepted);
    const settledVariants = await this.#settleVariants(acceptances, update);

    for (const block of seen.blocks.values()) {
      if (block.isNew) this.#writeBlock(seen, block);
      await yieldToEventLoop();
    }
    for (const { chainBlock, accepted, ...position } of chain) {
      const { hash, header } = chainBlock.block;
      seen.rows.chain_blocks.write({
        index: position.index,
        block_id: chainBlock.key,
        daa_score: header.daaScore,
        timestamp: header.timestamp,
        accepted_transactions: accepted.map(({ key }) => key),
        chain_time: position.chainTime,
        highest_transaction: position.highestTransaction,
        lowest_transaction: accepted.reduce<TransactionKey>(
          (lowest, { key }) => (key < lowest ? key : lowest),
          position.highestTransaction,
        ),
        hash,
        blue_score: header.blueScore,
      });
    }
    const touched: Touched | undefined = from.firstCatchUp ? undefined : new Map();
    const resolved = await this.#writeTransactions(seen, acceptances, { touched, yieldToEventLoop });
    if (this.#candidates !== undefined) findCandidates(this.#candidates, acceptances, seen.rows);
    const known = { registry: this.#registry, seen, resolved };
    let state: StateChanges | undefined;
    if (touched === undefined) checkInputs(acceptances, known);
    else {
      state = new StateChanges({
        checkpoint: from.chainIndex,
        fork: fork.chainIndex,
        forkTime: fork.chainTime,
        to: index,
        firstTransaction: seen.firstNewTransaction,
      });
      for (const { isNew, transactions } of seen.blocks.values()) {
        if (isNew) collectState({ kind: 'contained', transactions: transactions.map(({ key }) => key) }, state);
      }
      collectState({ kind: 'settled', variants: settledVariants }, state);
      collectState({ kind: 'spending', transactions: seen.newTransactions.map(({ key }) => key) }, state);
      for (const [block, scripts] of touched) {
        if (seen.blocks.get(block)?.mergingBlock === null) {
          seen.rows.unmerged_touches.write({ block_id: block, script_ids: scripts });
        } else collectState({ kind: 'touched', scripts }, state);
      }
      collectChain(state, chain, known);
    }

    const { firstNewTransaction } = seen;
    this.#registry.memory.endBatch(firstNewTransaction);
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
      oldestRemoved: index - removedDepthOf(this.#registry.network),
      rows: seen.rows,
      mergedBefore: writtenBefore.flatMap(({ key, mergingBlock, isBlue }) =>
        mergingBlock === null || isBlue === null ? [] : [{ block: key, mergingBlock, isBlue }],
      ),
      chainBefore: writtenBefore.filter((block) => block.isChainBlock).map((block) => block.key),
      preBootstrapBlocks: seen.preBootstrapBlocks,
      acceptedBefore: acceptances
        .filter(({ key }) => key < firstNewTransaction)
        .map(({ key: transaction, chainIndex, acceptedVariant: variant }) => ({
          transaction,
          chainIndex,
          variant,
        })),
      preBootstrapTransactions: seen.newTransactions.map(({ key }) => key).filter((key) => key < firstNewTransaction),
      settledVariants,
      state,
      virtualMergeSet,
      targetBlueScore: update.targetBlueScore,
      secondsLeft: null,
    };
  }

  /** @param known keys that this batch accepts in lower chain blocks; gets those of this one */
  #accept(added: AddedChainBlock, chainIndex: number, mergeSet: SeenBlock[], known: Set<number>): Acceptance[] {
    const carried = new Map<number, SeenTransaction>();
    const severalVariants = new Map<number, Map<number, RpcTransaction>>();
    for (const { transactions } of mergeSet) {
      for (const transaction of transactions) {
        const other = carried.get(transaction.key);
        if (other === undefined) carried.set(transaction.key, transaction);
        else if (other.variant !== transaction.variant) {
          const create = () => new Map([[other.variant, other.transaction]]);
          getOrInsert(severalVariants, transaction.key, create).set(transaction.variant, transaction.transaction);
        }
      }
    }
    const acceptances = added.acceptedTransactionIds.map((id): Acceptance => {
      const key = this.#registry.memory.transactions.get(id);
      const transaction = key === undefined ? undefined : carried.get(key);
      if (transaction === undefined) {
        throw new IncompleteUpdateError(
          `chain block ${toHex(added.block.hash)} accepts ${toHex(id)}, which it does not merge`,
        );
      }
      if (known.has(transaction.key)) {
        throw new IncompleteUpdateError(
          `chain block ${toHex(added.block.hash)} accepts ${toHex(id)}, which was accepted before`,
        );
      }
      known.add(transaction.key);
      const variants = severalVariants.get(transaction.key);
      const acceptedVariant = variants === undefined ? transaction.variant : null;
      return { ...transaction, chainIndex, acceptedVariant, variants };
    });
    const ambiguous = acceptances.filter(({ acceptedVariant }) => acceptedVariant === null);
    if (ambiguous.length > 0) this.#addAmbiguous(ambiguous, added, mergeSet);
    return acceptances;
  }

  /** Reads the mergeset once, however many of its transactions have several variants. */
  #addAmbiguous(acceptances: readonly Acceptance[], { block }: AddedChainBlock, mergeSet: readonly SeenBlock[]): void {
    const variantsOf = new Map(acceptances.map(({ key }) => [key, new Map<string, number>()]));
    for (const merged of mergeSet) {
      const name = toHex(merged.block.hash);
      for (const { key, variant } of merged.transactions) variantsOf.get(key)?.set(name, variant);
    }
    const [selectedParent] = mergeSet as [SeenBlock];
    const ofChainBlock = {
      chainBlock: toHex(block.hash),
      chainBlockBlueScore: block.header.blueScore,
      parent: toHex(selectedParent.block.hash),
    };
    for (const { key, transaction } of acceptances) {
      this.#ambiguousVariants.add({
        ...ofChainBlock,
        transaction: key,
        transactionId: toHex(transaction.transactionId),
        variants: variantsOf.get(key) ?? new Map(),
      });
    }
  }

  async #settleVariants(
    acceptances: readonly Acceptance[],
    { added, atTip }: ChainUpdate,
  ): Promise<Batch['settledVariants']> {
    const settled = await this.#ambiguousVariants.settle(added.length > 0, atTip);
    for (const acceptance of acceptances) {
      if (acceptance.acceptedVariant !== null) continue;
      const variant = settled.get(acceptance.key);
      const transaction = variant === undefined ? undefined : acceptance.variants?.get(variant);
      settled.delete(acceptance.key);
      if (variant === undefined || transaction === undefined) continue;
      acceptance.acceptedVariant = variant;
      acceptance.transaction = transaction;
    }
    return [...settled].map(([transaction, variant]) => ({ transaction, variant }));
  }

  #writeBlock(batch: Seen, seen: SeenBlock): void {
    const { key, block, transactions } = seen;
    const keysOf = (hashes: readonly Hash[]): number[] =>
      hashes.map((hash) => this.#registry.getBlockKey(batch, hash, block));
    // New pre-bootstrap blocks get their keys in this order.
    const parents = keysOf(block.header.parentsByLevel[0] ?? []);
    const mergeSetBlues = keysOf(block.mergeSetBluesHashes);
    const mergeSetReds = keysOf(block.mergeSetRedsHashes);
    // It is one of the parents, except that the node names a block for genesis that is none.
    const selectedParent = this.#registry.memory.findBlock(block.selectedParentHash) ?? null;
    writeBlock(batch.rows, block, { ...seen, selectedParent, parents, mergeSetBlues, mergeSetReds });
    for (const [index, { key: transaction, variant }] of transactions.entries()) {
      batch.rows.block_transactions.write({ block_id: key, index, transaction_id: transaction, variant });
    }
  }

  async #writeTransactions(
    seen: Seen,
    acceptances: readonly Acceptance[],
    { touched, yieldToEventLoop }: { touched: Touched | undefined; yieldToEventLoop: () => Promise<void> },
  ): Promise<ResolvedInput[][]> {
    const { rows, lookedUp, newTransactions, firstNewTransaction } = seen;
    const accepted = new Map<number, Acceptance>();
    for (const acceptance of acceptances) {
      if (acceptance.key >= firstNewTransaction) accepted.set(acceptance.key, acceptance);
    }
    const resolved: ResolvedInput[][] = [];
    for (const { key, transaction, block, outputScripts } of newTransactions) {
      const inputs = resolveInputs(transaction, this.#registry.memory, lookedUp);
      const acceptance = accepted.get(key);
      writeTransaction(rows, transaction, {
        key,
        subnetwork: this.#registry.subnetworkKey(seen, transaction.subnetworkId),
        fee: feeOf(transaction, inputs, isCoinbase(transaction)),
        acceptingIndex: acceptance?.chainIndex ?? null,
        acceptedVariant: acceptance?.acceptedVariant ?? null,
      });
      writeInputs(rows, key, transaction, inputs);
      writeOutputs(rows, key, transaction, outputScripts);
      if (touched) getOrInsert(touched, block, (): ScriptKey[] => []).push(...scriptsOf(inputs, outputScripts));
      // Pre-bootstrap transactions have lower keys, and are never accepted again.
      if (key >= firstNewTransaction) resolved.push(inputs);
      if (key % YIELD_EVERY_TRANSACTIONS === 0) await yieldToEventLoop();
    }
    return resolved;
  }
}

/** A transaction whose accepted variant becomes known later is one of them from the beginning. */
function findCandidates(
  candidates: CandidateTransactions,
  acceptances: readonly Acceptance[],
  rows: Seen['rows'],
): void {
  for (const { key, transaction, acceptedVariant } of acceptances) {
    candidates.see(key, transaction, acceptedVariant, rows);
  }
}

function* blocksOf({ added, tail }: ChainUpdate): Iterable<RpcBlock> {
  for (const { mergeSet } of added) yield* mergeSet;
  const sink = added.at(-1);
  if (sink !== undefined) yield sink.block;
  if (tail !== undefined) yield* tail;
}

/** A bootstrap block has no mergeset. */
function checkFollows({ added: [first] }: ChainUpdate, { hash }: Fork): void {
  const selectedParent = first?.mergeSet[0];
  if (first === undefined || selectedParent === undefined || Buffer.compare(selectedParent.hash, hash) === 0) return;
  throw new IncompleteUpdateError(
    `chain block ${toHex(first.block.hash)} does not follow ${toHex(hash)}, as this index does`,
  );
}

/** @throws IncompleteUpdateError if a lower chain block of the batch merges one of the blocks */
function merge(chainBlock: SeenBlock, mergeSet: SeenBlock[]): void {
  chainBlock.isChainBlock = true;
  const reds = new Set(chainBlock.block.mergeSetRedsHashes.map(toHex));
  for (const merged of mergeSet) {
    if (merged.mergingBlock !== null) {
      throw new IncompleteUpdateError(
        `chain block ${toHex(chainBlock.block.hash)} merges ${toHex(merged.block.hash)}, which was merged before`,
      );
    }
    merged.mergingBlock = chainBlock.key;
    merged.isBlue = !reds.has(toHex(merged.block.hash));
  }
}

/**
 * Returns for how many chain blocks it is kept what removed ones had accepted. FINALITY_DEPTH can
 * only raise this, since the API does not know it and relies on the depth of the network
 * (stream/require-start.ts).
 */
function removedDepthOf({ id, finalityDepth }: Network): number {
  const ofNetwork = getNetwork(id).finalityDepth;
  return 2 * Number(finalityDepth > ofNetwork ? finalityDepth : ofNetwork);
}

/**
 * Lets the event loop send the previous batch and receive pages during the computation, which takes
 * most of a second.
 */
function createYielder(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < YIELD_EVERY_MS) return;
    await setImmediate();
    last = performance.now();
  };
}
