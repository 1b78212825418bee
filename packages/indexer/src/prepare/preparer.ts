/**
 * Turns a chain update into the batch that writes it: gives keys to what is new, resolves inputs, works out what is merged
 * and accepted, and fills the COPY buffers. Asks Postgres only through recall, and the node only through ambiguous-bodies;
 * everything else is computed. One preparer lives from a read of the checkpoint to the next failure.
 */
import { isCoinbase, type Network, toHex, type Hash } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { ClientBase } from 'pg';
import type { AddedChainBlock, ChainUpdate } from '../chain-update.ts';
import { IncompleteUpdateError } from '../errors.ts';
import { type Memory, scriptKey } from '../memory/memory.ts';
import { recall, Recalled } from '../memory/recall.ts';
import type { AmbiguousBodies, AmbiguousBody } from './ambiguous-bodies.ts';
import type { AcceptedEarlier, Batch, Checkpoint, MergedEarlier, SettledBody } from './batch.ts';
import { Ledger } from './ledger.ts';
import { feeOf, type ResolvedInput, resolveInputs } from './resolve.ts';
import { createRows, type Rows } from './rows.ts';
import * as write from './write-rows.ts';

interface SeenTransaction {
  key: number;
  body: number;
  transaction: RpcTransaction;
}

interface SeenBlock {
  key: number;
  isNew: boolean;
  block: RpcBlock;
  transactions: SeenTransaction[];
  isChainBlock: boolean;
  mergingBlock: number | null;
  isBlue: boolean | null;
}

interface Acceptance {
  key: number;
  transaction: RpcTransaction;
  chainBlock: SeenBlock;
  body: number | null;
}

/** What one update becomes, while it is worked on. */
interface Work {
  rows: Rows;
  recalled: Recalled;
  firstNewTransaction: number;
  blocks: Map<number, SeenBlock>;
  newTransactions: SeenTransaction[];
  /** Scripts of the outputs of each new transaction. */
  outputScripts: number[][];
  resolved: ResolvedInput[][];
  acceptances: Acceptance[];
}

export class Preparer {
  readonly #memory: Memory;
  readonly #network: Network;
  readonly #ambiguousBodies: AmbiguousBodies;
  #nextBlock: number;
  #nextTransaction: number;
  #nextScript: number;
  #nextSubnetwork: number;

  constructor(memory: Memory, network: Network, ambiguousBodies: AmbiguousBodies, checkpoint: Checkpoint) {
    this.#memory = memory;
    this.#network = network;
    this.#ambiguousBodies = ambiguousBodies;
    this.#nextBlock = checkpoint.nextBlockId;
    this.#nextTransaction = checkpoint.nextTransactionId;
    this.#nextScript = checkpoint.nextScriptId;
    this.#nextSubnetwork = checkpoint.nextSubnetworkId;
  }

  /**
   * @param from the checkpoint that the batch will find
   * @param fork the chain block that remains when `update.removed` is undone; the checkpoint's own without a reorg
   */
  async prepare(
    client: ClientBase,
    update: ChainUpdate,
    from: Checkpoint,
    fork: { blockId: number; hash: Hash; blueScore: bigint; chainIndex: number },
  ): Promise<Batch> {
    this.#ambiguousBodies.drop(update.removed);
    const work: Work = {
      rows: createRows(),
      recalled: await recall(client, this.#memory, blocksOf(update)),
      firstNewTransaction: this.#nextTransaction,
      blocks: new Map(),
      newTransactions: [],
      outputScripts: [],
      resolved: [],
      acceptances: [],
    };

    const chainRows = update.added.map((added) => {
      const mergeSet = added.mergeSet.map((block) => this.#see(work, block));
      const chainBlock = this.#see(work, added.block);
      this.#merge(chainBlock, mergeSet);
      return { chainBlock, accepted: this.#accept(work, added, chainBlock, mergeSet) };
    });
    const virtualMergeSet = (update.tail ?? []).flatMap((block) =>
      this.#isConnected(block) ? [this.#see(work, block).key] : [],
    );
    const settledBodies = await this.#settleBodies(work);

    for (const seen of work.blocks.values()) if (seen.isNew) this.#writeBlock(work, seen);
    chainRows.forEach(({ chainBlock, accepted }, i) => {
      write.writeChainBlock(work.rows, fork.chainIndex + 1 + i, chainBlock.key, chainBlock.block, accepted);
    });
    const acceptedEarlier = this.#writeTransactions(work);
    const ledger = from.firstCatchUp ? new Ledger() : this.#keepLedger(work);

    this.#memory.endBatch(work.firstNewTransaction);
    const sink = chainRows.at(-1)?.chainBlock;
    const earlier = [...work.blocks.values()].filter((seen) => !seen.isNew);
    return {
      from,
      to: {
        blockId: sink?.key ?? fork.blockId,
        hash: sink?.block.hash ?? fork.hash,
        blueScore: sink?.block.header.blueScore ?? fork.blueScore,
        chainIndex: fork.chainIndex + chainRows.length,
        nextBlockId: this.#nextBlock,
        nextTransactionId: this.#nextTransaction,
        nextScriptId: this.#nextScript,
        nextSubnetworkId: this.#nextSubnetwork,
        firstCatchUp: from.firstCatchUp,
      },
      removed: update.removed,
      rows: work.rows,
      mergedEarlier: earlier.flatMap(mergedEarlier),
      chainEarlier: earlier.filter((seen) => seen.isChainBlock).map((seen) => seen.key),
      acceptedEarlier,
      settledBodies,
      spent: ledger.spent,
      balanceChanges: ledger.balanceChanges,
      virtualMergeSet,
      targetBlueScore: update.targetBlueScore,
      secondsLeft: null,
    };
  }

  /** Gives the block and its transactions their keys, unless they have them. */
  #see(work: Work, block: RpcBlock): SeenBlock {
    const known = this.#memory.blocks.get(block.hash);
    const seenNow = known === undefined ? undefined : work.blocks.get(known);
    if (seenNow !== undefined) return seenNow;
    const key = known ?? this.#nextBlock++;
    if (known === undefined) this.#memory.blocks.set(block.hash, key);
    const seen: SeenBlock = {
      key,
      isNew: known === undefined,
      block,
      transactions: block.transactions.map((transaction) => this.#seeTransaction(work, transaction)),
      isChainBlock: false,
      mergingBlock: null,
      isBlue: null,
    };
    work.blocks.set(key, seen);
    return seen;
  }

  #seeTransaction(work: Work, transaction: RpcTransaction): SeenTransaction {
    const memory = this.#memory;
    const known = memory.transactions.get(transaction.transactionId);
    if (known !== undefined) return { key: known, body: this.#bodyOf(work, known, transaction), transaction };
    const key = this.#nextTransaction++;
    memory.transactions.set(transaction.transactionId, key);
    memory.coins.add(transaction.hash);
    const scripts = transaction.outputs.map(({ amount, scriptPublicKey }) => {
      const script = this.#scriptOf(work, scriptKey(scriptPublicKey), scriptPublicKey);
      memory.coins.addOutput(amount, script);
      return script;
    });
    const seen = { key, body: 0, transaction };
    work.newTransactions.push(seen);
    work.outputScripts.push(scripts);
    return seen;
  }

  /** The number of this body among those of its id; a body that is new gets a row. */
  #bodyOf(work: Work, key: number, transaction: RpcTransaction): number {
    const first = this.#memory.coins.findHash(key) ?? work.recalled.findHash(key);
    if (first === undefined) throw new Error(`transaction ${toHex(transaction.transactionId)} was not recalled`);
    if (sameBytes(first, transaction.hash)) return 0;
    const further = this.#memory.furtherBodies.get(key) ?? [];
    this.#memory.furtherBodies.set(key, further);
    const known = further.findIndex((hash) => sameBytes(hash, transaction.hash));
    if (known >= 0) return known + 1;
    const body = further.push(Uint8Array.from(transaction.hash));
    write.writeFurtherBody(work.rows, key, body, transaction);
    return body;
  }

  #scriptOf(work: Work, name: string, scriptPublicKey: RpcTransaction['outputs'][number]['scriptPublicKey']): number {
    const known = this.#memory.scripts.get(name);
    if (known !== undefined) return known;
    const key = this.#nextScript++;
    this.#memory.scripts.set(name, key);
    write.writeScript(work.rows, key, scriptPublicKey, this.#network);
    return key;
  }

  #merge(chainBlock: SeenBlock, mergeSet: SeenBlock[]): void {
    chainBlock.isChainBlock = true;
    const reds = new Set(chainBlock.block.mergeSetRedsHashes.map(toHex));
    for (const merged of mergeSet) {
      merged.mergingBlock = chainBlock.key;
      merged.isBlue = !reds.has(toHex(merged.block.hash));
    }
  }

  /** Pairs each accepted id with the body that the mergeset carries. @returns the keys, in the node's order */
  #accept(work: Work, added: AddedChainBlock, chainBlock: SeenBlock, mergeSet: SeenBlock[]): number[] {
    const carried = new Map<number, SeenTransaction>();
    const severalBodies = new Set<number>();
    for (const { transactions } of mergeSet) {
      for (const seen of transactions) {
        const other = carried.get(seen.key);
        if (other === undefined) carried.set(seen.key, seen);
        else if (other.body !== seen.body) severalBodies.add(seen.key);
      }
    }
    return added.acceptedTransactionIds.map((id) => {
      const key = this.#memory.transactions.get(id);
      const seen = key === undefined ? undefined : carried.get(key);
      if (seen === undefined) {
        throw new IncompleteUpdateError(
          `chain block ${toHex(added.block.hash)} accepts ${toHex(id)}, which it does not merge`,
        );
      }
      const isAmbiguous = severalBodies.has(seen.key);
      if (isAmbiguous) this.#ambiguousBodies.add(ambiguousBody(seen, added, mergeSet));
      const body = isAmbiguous ? null : seen.body;
      work.acceptances.push({ key: seen.key, transaction: seen.transaction, chainBlock, body });
      return seen.key;
    });
  }

  /** @returns bodies of transactions that earlier batches accepted */
  async #settleBodies(work: Work): Promise<SettledBody[]> {
    const settled = await this.#ambiguousBodies.settle();
    for (const acceptance of work.acceptances) {
      if (acceptance.body !== null) continue;
      acceptance.body = settled.get(acceptance.key) ?? null;
      settled.delete(acceptance.key);
    }
    return [...settled].map(([transaction, body]) => ({ transaction, body }));
  }

  #writeBlock(work: Work, seen: SeenBlock): void {
    const { block } = seen;
    write.writeBlock(work.rows, block, {
      key: seen.key,
      selectedParent: this.#memory.blocks.get(block.selectedParentHash) ?? null,
      parents: (block.header.parentsByLevel[0] ?? []).map((hash) => this.#blockKey(hash, block)),
      mergeSetBlues: block.mergeSetBluesHashes.map((hash) => this.#blockKey(hash, block)),
      mergeSetReds: block.mergeSetRedsHashes.map((hash) => this.#blockKey(hash, block)),
      isChainBlock: seen.isChainBlock,
      mergingBlock: seen.mergingBlock,
      isBlue: seen.isBlue,
    });
    seen.transactions.forEach(({ key, body }, index) =>
      write.writeBlockTransaction(work.rows, seen.key, index, key, body),
    );
  }

  /** A block of the tail is of a later moment than the chain: it may refer to what is not here yet, and then waits. */
  #isConnected(block: RpcBlock): boolean {
    const references = [
      ...(block.header.parentsByLevel[0] ?? []),
      ...block.mergeSetBluesHashes,
      ...block.mergeSetRedsHashes,
    ];
    return references.every((hash) => this.#memory.blocks.get(hash) !== undefined);
  }

  #blockKey(hash: Hash, child: RpcBlock): number {
    const key = this.#memory.blocks.get(hash);
    if (key === undefined) {
      throw new IncompleteUpdateError(`block ${toHex(child.hash)} refers to ${toHex(hash)}, which is not indexed`);
    }
    return key;
  }

  /** Rows of the new transactions. @returns the acceptances of those written before */
  #writeTransactions(work: Work): AcceptedEarlier[] {
    const acceptedNew = new Map<number, Acceptance>();
    const acceptedEarlier: AcceptedEarlier[] = [];
    for (const acceptance of work.acceptances) {
      if (acceptance.key >= work.firstNewTransaction) acceptedNew.set(acceptance.key, acceptance);
      else {
        acceptedEarlier.push({
          transaction: acceptance.key,
          acceptingBlock: acceptance.chainBlock.key,
          body: acceptance.body,
        });
      }
    }
    work.newTransactions.forEach(({ key, transaction }, i) => {
      const inputs = resolveInputs(transaction, this.#memory, work.recalled);
      const scripts = work.outputScripts[i] as number[];
      const acceptance = acceptedNew.get(key);
      work.resolved.push(inputs);
      write.writeTransaction(work.rows, transaction, {
        key,
        subnetwork: this.#subnetworkOf(work, transaction.subnetworkId),
        fee: feeOf(transaction, inputs, isCoinbase(transaction)),
        acceptingBlock: acceptance?.chainBlock.key ?? null,
        acceptedBody: acceptance?.body ?? null,
      });
      write.writeInputs(work.rows, key, transaction, inputs);
      scripts.forEach((script, index) => write.writeOutput(work.rows, key, transaction, index, script));
      write.writeAddressTransactions(work.rows, key, transaction, inputs, scripts);
    });
    return acceptedEarlier;
  }

  #subnetworkOf(work: Work, subnetworkId: Uint8Array): number {
    const name = toHex(subnetworkId);
    const known = this.#memory.subnetworks.get(name);
    if (known !== undefined) return known;
    const key = this.#nextSubnetwork++;
    this.#memory.subnetworks.set(name, key);
    write.writeSubnetwork(work.rows, key, subnetworkId);
    return key;
  }

  /** Follows the coins through the accepted transactions, in the order of acceptance. */
  #keepLedger(work: Work): Ledger {
    const ledger = new Ledger();
    for (const { key, transaction, chainBlock } of work.acceptances) {
      const inputs =
        work.resolved[key - work.firstNewTransaction] ?? resolveInputs(transaction, this.#memory, work.recalled);
      transaction.inputs.forEach(({ previousOutpoint }, i) => {
        const { transaction: previous, coin } = inputs[i] as ResolvedInput;
        if (previous === undefined || coin === undefined) {
          throw new Error(
            `transaction ${toHex(transaction.transactionId)} is accepted but spends an unknown coin of ${toHex(previousOutpoint.transactionId)}`,
          );
        }
        ledger.spend(previous, previousOutpoint.index, coin);
      });
      transaction.outputs.forEach(({ amount, scriptPublicKey }, index) => {
        const script = this.#memory.scripts.get(scriptKey(scriptPublicKey)) as number;
        const blockDaaScore = chainBlock.block.header.daaScore;
        ledger.make({ transaction: key, index, script, amount, blockDaaScore, isCoinbase: isCoinbase(transaction) });
      });
    }
    for (const coin of ledger.made) write.writeUtxo(work.rows, coin);
    return ledger;
  }
}

function* blocksOf({ added, tail }: ChainUpdate): Iterable<RpcBlock> {
  for (const { mergeSet } of added) yield* mergeSet;
  const sink = added.at(-1);
  if (sink !== undefined) yield sink.block;
  if (tail !== undefined) yield* tail;
}

function mergedEarlier({ key, mergingBlock, isBlue }: SeenBlock): MergedEarlier[] {
  return mergingBlock === null || isBlue === null ? [] : [{ block: key, mergingBlock, isBlue }];
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

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
