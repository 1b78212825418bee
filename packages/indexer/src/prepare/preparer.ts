/**
 * Turns a chain update into the batch that writes it: sees every block, works out what is merged and accepted, resolves inputs,
 * follows the UTXOs, and fills the COPY buffers. Asks Postgres only through lookUp, and the node only through
 * ambiguous-bodies; everything else is computed.
 */
import { type Hash, isCoinbase, type Network, toHex } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import type { ClientBase } from 'pg';
import type { AddedChainBlock, ChainUpdate } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import type { Memory } from '../memory/memory.ts';
import { lookUp } from '../memory/look-up.ts';
import type { ChainBlockTotals } from '../rollups/chain-block-totals.ts';
import type { AmbiguousBodies, AmbiguousBody } from './ambiguous-bodies.ts';
import { BalanceChanges } from './balance-changes.ts';
import type { Batch, Checkpoint, MergedEarlier, SettledBody } from './batch.ts';
import { Breather } from './breather.ts';
import { type Acceptance, followUtxos, totalsOfMerged } from './follow-utxos.ts';
import { Ledger } from './ledger.ts';
import { Registry, type Seen, type SeenBlock, type SeenTransaction } from './registry.ts';
import { feeOf, movesOf, type ResolvedInput, resolveInputs } from './resolve.ts';
import * as write from './write-rows.ts';

const TRANSACTIONS_A_BREATH = 64;

/** The chain block that remains when an update's `removed` is undone; the checkpoint's own without a reorg. */
export type Fork = Pick<Checkpoint, 'blockId' | 'hash' | 'blueScore' | 'chainIndex' | 'chainTime'>;

export class Preparer {
  readonly #memory: Memory;
  readonly #registry: Registry;
  readonly #ambiguousBodies: AmbiguousBodies;

  /** @param bootstrapBlueScore of the latest start; undefined: nothing is before it, since it is genesis */
  constructor(
    memory: Memory,
    network: Network,
    ambiguousBodies: AmbiguousBodies,
    checkpoint: Checkpoint,
    bootstrapBlueScore: bigint | undefined,
  ) {
    this.#memory = memory;
    this.#registry = new Registry(memory, network, checkpoint, bootstrapBlueScore);
    this.#ambiguousBodies = ambiguousBodies;
  }

  /** @param from the checkpoint that the batch will find */
  async prepare(client: ClientBase, update: ChainUpdate, from: Checkpoint, fork: Fork): Promise<Batch> {
    this.#ambiguousBodies.drop(update.removed);
    const seen = this.#registry.begin(await lookUp(client, this.#memory, blocksOf(update)));
    const breather = new Breather();
    const acceptances: Acceptance[] = [];
    const chain: { chainBlock: SeenBlock; accepted: number[] }[] = [];
    for (const added of update.added) {
      const mergeSet = added.mergeSet.map((block) => this.#registry.see(seen, block));
      const chainBlock = this.#registry.see(seen, added.block);
      merge(chainBlock, mergeSet);
      const accepted = this.#accept(added, chainBlock, mergeSet);
      acceptances.push(...accepted);
      chain.push({ chainBlock, accepted: accepted.map(({ key }) => key) });
      await breather.breathe();
    }
    // The tail is of a later moment than the chain: what refers to blocks that are not here yet waits.
    const virtualMergeSet = (update.tail ?? []).flatMap((block) =>
      this.#registry.canRefer(referencesOf(block), block) ? [this.#registry.see(seen, block).key] : [],
    );
    const settledBodies = await this.#settleBodies(acceptances, chain.length > 0);

    for (const block of seen.blocks.values()) {
      if (block.isNew) this.#writeBlock(seen, block);
      await breather.breathe();
    }
    let { chainTime } = fork;
    const chainTotals = new Map<number, ChainBlockTotals>();
    chain.forEach(({ chainBlock, accepted }, i) => {
      const { timestamp } = chainBlock.block.header;
      if (timestamp > chainTime) chainTime = timestamp;
      const place = { index: fork.chainIndex + 1 + i, key: chainBlock.key, chainTime };
      write.writeChainBlock(seen.rows, place, chainBlock.block, accepted);
      if (!from.firstCatchUp) chainTotals.set(place.key, totalsOfMerged(place, update.added[i] as AddedChainBlock));
    });
    const { resolved, touched } = await this.#writeTransactions(seen, acceptances, breather);
    const balanceChanges = new BalanceChanges();
    const ledger = new Ledger(balanceChanges);
    if (!from.firstCatchUp) {
      for (const script of touched) balanceChanges.addTransaction(script);
      followUtxos({ ledger, balanceChanges, chainTotals }, { registry: this.#registry, seen, resolved }, acceptances);
    }

    this.#memory.endBatch(seen.firstNewTransaction);
    const sink = chain.at(-1)?.chainBlock;
    const earlier = [...seen.blocks.values()].filter((block) => !block.isNew);
    return {
      from,
      to: {
        blockId: sink?.key ?? fork.blockId,
        hash: sink?.block.hash ?? fork.hash,
        blueScore: sink?.block.header.blueScore ?? fork.blueScore,
        chainIndex: fork.chainIndex + chain.length,
        chainTime,
        ...this.#registry.nextKeys,
        firstCatchUp: from.firstCatchUp,
      },
      removed: update.removed,
      rows: seen.rows,
      mergedEarlier: earlier.flatMap(mergedEarlier),
      chainEarlier: earlier.filter((block) => block.isChainBlock).map((block) => block.key),
      foundEarlier: seen.foundEarlier,
      acceptedEarlier: acceptances
        .filter(({ key }) => key < seen.firstNewTransaction)
        .map(({ key, chainBlock, acceptedBody }) => ({
          transaction: key,
          acceptingBlock: chainBlock.key,
          body: acceptedBody,
        })),
      writtenEarlier: seen.newTransactions.map(({ key }) => key).filter((key) => key < seen.firstNewTransaction),
      settledBodies,
      spent: ledger.spent,
      balanceChanges,
      forkTime: fork.chainTime,
      chainTotals: [...chainTotals.values()],
      virtualMergeSet,
      targetBlueScore: update.targetBlueScore,
      secondsLeft: null,
    };
  }

  /** Pairs each accepted id with the body that the mergeset carries, in the node's order. */
  #accept(added: AddedChainBlock, chainBlock: SeenBlock, mergeSet: SeenBlock[]): Acceptance[] {
    const carried = new Map<number, SeenTransaction>();
    const severalBodies = new Set<number>();
    for (const { transactions } of mergeSet) {
      for (const transaction of transactions) {
        const other = carried.get(transaction.key);
        if (other === undefined) carried.set(transaction.key, transaction);
        else if (other.body !== transaction.body) severalBodies.add(transaction.key);
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
      const isAmbiguous = severalBodies.has(transaction.key);
      if (isAmbiguous) this.#ambiguousBodies.add(ambiguousBody(transaction, added, mergeSet));
      return { ...transaction, chainBlock, acceptedBody: isAmbiguous ? null : transaction.body };
    });
  }

  /** @returns bodies of transactions that earlier batches accepted */
  async #settleBodies(acceptances: Acceptance[], chainMoved: boolean): Promise<SettledBody[]> {
    const settled = await this.#ambiguousBodies.settle(chainMoved);
    for (const acceptance of acceptances) {
      if (acceptance.acceptedBody !== null) continue;
      acceptance.acceptedBody = settled.get(acceptance.key) ?? null;
      settled.delete(acceptance.key);
    }
    return [...settled].map(([transaction, body]) => ({ transaction, body }));
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
      // One of the parents; what the node calls genesis' is none.
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

  /** @returns the inputs of the new transactions, and the scripts that they touch: each as often as it has a new row */
  async #writeTransactions(
    seen: Seen,
    acceptances: Acceptance[],
    breather: Breather,
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
        acceptedBody: acceptance?.acceptedBody ?? null,
      });
      write.writeInputs(rows, key, transaction, inputs);
      write.writeOutputs(rows, key, transaction, outputScripts);
      const moves = movesOf(transaction, inputs, outputScripts);
      write.writeAddressTransactions(rows, key, moves);
      touched.push(...moves.keys());
      // Those from before a start have keys of their own, and are never accepted again.
      if (key >= firstNewTransaction) resolved.push(inputs);
      if (key % TRANSACTIONS_A_BREATH === 0) await breather.breathe();
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

function mergedEarlier({ key, mergingBlock, isBlue }: SeenBlock): MergedEarlier[] {
  return mergingBlock === null || isBlue === null ? [] : [{ block: key, mergingBlock, isBlue }];
}

function referencesOf({ header, mergeSetBluesHashes, mergeSetRedsHashes }: RpcBlock): Hash[] {
  return [...(header.parentsByLevel[0] ?? []), ...mergeSetBluesHashes, ...mergeSetRedsHashes];
}

function ambiguousBody(
  { key, transaction }: SeenTransaction,
  { block, mergeSet: [selectedParent] }: AddedChainBlock,
  mergeSet: SeenBlock[],
): AmbiguousBody {
  const bodies = new Map<string, number>();
  for (const merged of mergeSet) {
    const carried = merged.transactions.find((candidate) => candidate.key === key);
    if (carried !== undefined) bodies.set(toHex(merged.block.hash), carried.body);
  }
  return {
    transaction: key,
    transactionId: toHex(transaction.transactionId),
    chainBlock: toHex(block.hash),
    chainBlockBlueScore: block.header.blueScore,
    parent: toHex((selectedParent as RpcBlock).hash),
    bodies,
  };
}
