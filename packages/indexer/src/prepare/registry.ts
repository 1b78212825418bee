/**
 * Gives keys: a block, transaction, script or subnetwork that was never seen gets the next one, and what was seen keeps its own.
 * Keys are given in the order of first writing and never change. The registry lives from a read of the checkpoint to the next
 * failure, since keys that were given to rows that never landed are given again.
 */
import { type Hash, type Network, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';
import { type Memory, scriptKey } from '../memory/memory.ts';
import type { LookedUp } from '../memory/look-up.ts';
import type { Checkpoint } from './batch.ts';
import { createRows, type Rows } from './rows.ts';
import * as write from './write-rows.ts';

/** A transaction as a block carries it. */
export interface SeenTransaction {
  key: number;
  /** Which of the bodies of its id this is; 0 is the first that was seen. */
  body: number;
  transaction: RpcTransaction;
}

export interface SeenBlock {
  key: number;
  /** Whether its row is yet to be written. */
  isNew: boolean;
  block: RpcBlock;
  transactions: SeenTransaction[];
  isChainBlock: boolean;
  mergingBlock: number | null;
  isBlue: boolean | null;
}

export interface NewTransaction extends SeenTransaction {
  /** One for each output. */
  outputScripts: number[];
}

/** What one update brings. */
export interface Seen {
  rows: Rows;
  lookedUp: LookedUp;
  firstNewTransaction: number;
  /** By key, in the order in which they were seen. */
  blocks: Map<number, SeenBlock>;
  /** Those of the new blocks that were known as earlier than a start. */
  foundEarlier: number[];
  newTransactions: NewTransaction[];
}

export class Registry {
  readonly memory: Memory;
  readonly #network: Network;
  /** Blocks up to this blue score may refer to blocks before the start. */
  readonly #earlierUntil: bigint;
  #nextBlock: number;
  #nextTransaction: number;
  #nextScript: number;
  #nextSubnetwork: number;

  /** @param bootstrapBlueScore of the latest start; undefined: nothing is before it, since it is genesis */
  constructor(memory: Memory, network: Network, checkpoint: Checkpoint, bootstrapBlueScore: bigint | undefined) {
    this.memory = memory;
    this.#network = network;
    this.#earlierUntil = bootstrapBlueScore === undefined ? -1n : bootstrapBlueScore + network.finalityDepth;
    this.#nextBlock = checkpoint.nextBlockId;
    this.#nextTransaction = checkpoint.nextTransactionId;
    this.#nextScript = checkpoint.nextScriptId;
    this.#nextSubnetwork = checkpoint.nextSubnetworkId;
  }

  get nextKeys(): Pick<Checkpoint, 'nextBlockId' | 'nextTransactionId' | 'nextScriptId' | 'nextSubnetworkId'> {
    return {
      nextBlockId: this.#nextBlock,
      nextTransactionId: this.#nextTransaction,
      nextScriptId: this.#nextScript,
      nextSubnetworkId: this.#nextSubnetwork,
    };
  }

  begin(lookedUp: LookedUp): Seen {
    return {
      rows: createRows(),
      lookedUp,
      firstNewTransaction: this.#nextTransaction,
      blocks: new Map(),
      foundEarlier: [],
      newTransactions: [],
    };
  }

  see(seen: Seen, block: RpcBlock): SeenBlock {
    const known = this.memory.blocks.get(block.hash);
    const before = known === undefined ? undefined : seen.blocks.get(known);
    if (before !== undefined) return before;
    const key = known ?? this.#findEarlier(seen, block.hash) ?? this.#nextBlock++;
    if (known === undefined) this.memory.blocks.set(block.hash, key);
    const now: SeenBlock = {
      key,
      isNew: known === undefined,
      block,
      transactions: block.transactions.map((transaction) => this.#seeTransaction(seen, transaction)),
      isChainBlock: false,
      mergingBlock: null,
      isBlue: null,
    };
    seen.blocks.set(key, now);
    return now;
  }

  /** Whether a block could be written: what it refers to is here, or may be before the start. */
  canRefer(hashes: readonly Hash[], child: RpcBlock): boolean {
    return this.#isNearStart(child) || hashes.every((hash) => this.memory.findBlock(hash) !== undefined);
  }

  /**
   * Of a block that another one refers to. What is missing is before the start: everything that was merged since is here.
   * (Only a block of the tail may refer to one that is yet to come; it gives up its place among the earlier ones then.)
   * @throws IncompleteUpdateError when nothing is before the start, or the child is too far from it
   */
  getBlockKey({ rows }: Seen, hash: Hash, child: RpcBlock): number {
    const known = this.memory.findBlock(hash);
    if (known !== undefined) return known;
    if (!this.#isNearStart(child)) {
      throw new IncompleteUpdateError(`block ${toHex(child.hash)} refers to ${toHex(hash)}, which is not indexed`);
    }
    const key = this.#nextBlock++;
    this.memory.preBootstrapBlocks.set(toHex(hash), key);
    write.writeEarlierBlock(rows, key, hash);
    return key;
  }

  getScriptKey(scriptPublicKey: ScriptPublicKey): number {
    return this.memory.scripts.get(scriptKey(scriptPublicKey)) as number;
  }

  subnetworkKey(seen: Seen, subnetworkId: Uint8Array): number {
    const name = toHex(subnetworkId);
    const known = this.memory.subnetworks.get(name);
    if (known !== undefined) return known;
    const key = this.#nextSubnetwork++;
    this.memory.subnetworks.set(name, key);
    write.writeSubnetwork(seen.rows, key, subnetworkId);
    return key;
  }

  #isNearStart(block: RpcBlock): boolean {
    return block.header.blueScore <= this.#earlierUntil;
  }

  /** The key that an earlier block has already. */
  #findEarlier(seen: Seen, hash: Hash): number | undefined {
    const key = this.memory.preBootstrapBlocks.get(toHex(hash));
    if (key === undefined) return undefined;
    this.memory.preBootstrapBlocks.delete(toHex(hash));
    seen.foundEarlier.push(key);
    return key;
  }

  #seeTransaction(seen: Seen, transaction: RpcTransaction): SeenTransaction {
    const { memory } = this;
    const known = memory.transactions.get(transaction.transactionId);
    if (known !== undefined) {
      if (seen.lookedUp.isPreBootstrap(known) && memory.preBootstrapHashes.get(known) === undefined) {
        return this.#writeEarlier(seen, known, transaction);
      }
      return { key: known, body: this.#bodyOf(seen, known, transaction), transaction };
    }
    const key = this.#nextTransaction++;
    memory.transactions.set(transaction.transactionId, key);
    memory.utxos.add(transaction.hash);
    const outputScripts = transaction.outputs.map(({ amount, scriptPublicKey }) => {
      const script = this.#seeScript(seen, scriptPublicKey);
      memory.utxos.addOutput(amount, script);
      return script;
    });
    const now = { key, body: 0, transaction, outputScripts };
    seen.newTransactions.push(now);
    return now;
  }

  /** A transaction from before the start that a block carries again: it gets its row under the key that its UTXOs have. */
  #writeEarlier(seen: Seen, key: number, transaction: RpcTransaction): SeenTransaction {
    this.memory.preBootstrapHashes.set(key, Uint8Array.from(transaction.hash));
    const outputScripts = transaction.outputs.map(({ scriptPublicKey }) => this.#seeScript(seen, scriptPublicKey));
    const now = { key, body: 0, transaction, outputScripts };
    seen.newTransactions.push(now);
    return now;
  }

  /** The number of this body among those of its id; a body that is new gets a row. */
  #bodyOf({ rows, lookedUp }: Seen, key: number, transaction: RpcTransaction): number {
    const { variants } = this.memory;
    const first = this.memory.findHash(key) ?? lookedUp.findHash(key);
    if (first === undefined) throw new Error(`transaction ${toHex(transaction.transactionId)} was not looked up`);
    if (Buffer.compare(first, transaction.hash) === 0) return 0;
    const further = variants.get(key) ?? [];
    const known = further.findIndex((hash) => Buffer.compare(hash, transaction.hash) === 0);
    if (known >= 0) return known + 1;
    variants.set(key, [...further, Uint8Array.from(transaction.hash)]);
    const body = further.length + 1;
    write.writeFurtherBody(rows, key, body, transaction);
    return body;
  }

  #seeScript({ rows }: Seen, scriptPublicKey: ScriptPublicKey): number {
    const name = scriptKey(scriptPublicKey);
    const known = this.memory.scripts.get(name);
    if (known !== undefined) return known;
    const key = this.#nextScript++;
    this.memory.scripts.set(name, key);
    write.writeScript(rows, key, scriptPublicKey, this.#network);
    return key;
  }
}
