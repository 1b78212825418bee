/**
 * Assigns keys to blocks, transactions, scripts and subnetworks in the order of first writing; keys never change. The registry lives from a read
 * of the checkpoint to the next failure, since the keys of rows that were never committed are assigned again.
 */
import { type Hash, type Network, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';
import { type Memory, scriptKey } from '../memory/memory.ts';
import type { LookedUp } from '../memory/look-up.ts';
import type { Checkpoint } from './batch.ts';
import { type BatchRows, createBatchRows } from '@kasgres/database';
import * as write from './write-rows.ts';

/** A transaction as a block carries it. */
export interface SeenTransaction {
  key: number;
  /** The number of the variant; 0 is the first that was seen. */
  variant: number;
  transaction: RpcTransaction;
}

export interface SeenBlock {
  key: number;
  /** Whether it has no row. */
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

/** The content of one update. */
export interface Seen {
  rows: BatchRows;
  lookedUp: LookedUp;
  firstNewTransaction: number;
  /** By key, in the order in which they were seen. */
  blocks: Map<number, SeenBlock>;
  /** Those of the new blocks that were known as pre-bootstrap. */
  preBootstrapBlocks: number[];
  newTransactions: NewTransaction[];
}

export class Registry {
  readonly memory: Memory;
  readonly #network: Network;
  /** Blocks up to this blue score may refer to pre-bootstrap blocks. */
  readonly #preBootstrapUntil: bigint;
  #nextBlock: number;
  #nextTransaction: number;
  #nextScript: number;
  #nextSubnetwork: number;

  /** @param bootstrapBlueScore of the latest bootstrap block; undefined for genesis, before which there are no blocks */
  constructor(memory: Memory, network: Network, checkpoint: Checkpoint, bootstrapBlueScore: bigint | undefined) {
    this.memory = memory;
    this.#network = network;
    this.#preBootstrapUntil = bootstrapBlueScore === undefined ? -1n : bootstrapBlueScore + network.finalityDepth;
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
      rows: createBatchRows(),
      lookedUp,
      firstNewTransaction: this.#nextTransaction,
      blocks: new Map(),
      preBootstrapBlocks: [],
      newTransactions: [],
    };
  }

  see(seen: Seen, block: RpcBlock): SeenBlock {
    const known = this.memory.blocks.get(block.hash);
    const before = known === undefined ? undefined : seen.blocks.get(known);
    if (before !== undefined) return before;
    const key = known ?? this.#findPreBootstrap(seen, block.hash) ?? this.#nextBlock++;
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

  /** Whether a block can be written: the blocks that it refers to are known, or may be pre-bootstrap. */
  canRefer(hashes: readonly Hash[], child: RpcBlock): boolean {
    return this.#isNearBootstrap(child) || hashes.every((hash) => this.memory.findBlock(hash) !== undefined);
  }

  /**
   * Returns the key of a block that another one refers to. An unknown block counts as pre-bootstrap, since all merged blocks since are known; a
   * block of the tail may also refer to a later one, which leaves the pre-bootstrap ones when it comes.
   * @throws IncompleteUpdateError if the bootstrap block is genesis, or too far below the child
   */
  getBlockKey({ rows }: Seen, hash: Hash, child: RpcBlock): number {
    const known = this.memory.findBlock(hash);
    if (known !== undefined) return known;
    if (!this.#isNearBootstrap(child)) {
      throw new IncompleteUpdateError(`block ${toHex(child.hash)} refers to ${toHex(hash)}, which is not indexed`);
    }
    const key = this.#nextBlock++;
    this.memory.preBootstrapBlocks.set(toHex(hash), key);
    write.writePreBootstrapBlock(rows, key, hash);
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

  #isNearBootstrap(block: RpcBlock): boolean {
    return block.header.blueScore <= this.#preBootstrapUntil;
  }

  /** Returns the key of a block that was known as pre-bootstrap. */
  #findPreBootstrap(seen: Seen, hash: Hash): number | undefined {
    const key = this.memory.preBootstrapBlocks.get(toHex(hash));
    if (key === undefined) return undefined;
    this.memory.preBootstrapBlocks.delete(toHex(hash));
    seen.preBootstrapBlocks.push(key);
    return key;
  }

  #seeTransaction(seen: Seen, transaction: RpcTransaction): SeenTransaction {
    const { memory } = this;
    const known = memory.transactions.get(transaction.transactionId);
    if (known !== undefined) {
      if (seen.lookedUp.isPreBootstrap(known) && memory.preBootstrapHashes.get(known) === undefined) {
        return this.#writePreBootstrap(seen, known, transaction);
      }
      return { key: known, variant: this.#variantOf(seen, known, transaction), transaction };
    }
    const key = this.#nextTransaction++;
    memory.transactions.set(transaction.transactionId, key);
    memory.utxos.add(transaction.hash);
    const outputScripts = transaction.outputs.map(({ amount, scriptPublicKey }) => {
      const script = this.#seeScript(seen, scriptPublicKey);
      memory.utxos.addOutput(amount, script);
      return script;
    });
    const now = { key, variant: 0, transaction, outputScripts };
    seen.newTransactions.push(now);
    return now;
  }

  /** Writes a pre-bootstrap transaction that a block carries again, under the key that its UTXOs have. */
  #writePreBootstrap(seen: Seen, key: number, transaction: RpcTransaction): SeenTransaction {
    this.memory.preBootstrapHashes.set(key, Uint8Array.from(transaction.hash));
    const outputScripts = transaction.outputs.map(({ scriptPublicKey }) => this.#seeScript(seen, scriptPublicKey));
    const now = { key, variant: 0, transaction, outputScripts };
    seen.newTransactions.push(now);
    return now;
  }

  /** Returns the number of a variant, and writes it if it is new. */
  #variantOf({ rows, lookedUp }: Seen, key: number, transaction: RpcTransaction): number {
    const { variants } = this.memory;
    const first = this.memory.findHash(key) ?? lookedUp.findHash(key);
    if (first === undefined) throw new Error(`transaction ${toHex(transaction.transactionId)} was not looked up`);
    if (Buffer.compare(first, transaction.hash) === 0) return 0;
    const further = variants.get(key) ?? [];
    const known = further.findIndex((hash) => Buffer.compare(hash, transaction.hash) === 0);
    if (known >= 0) return known + 1;
    variants.set(key, [...further, Uint8Array.from(transaction.hash)]);
    const variant = further.length + 1;
    write.writeVariant(rows, key, variant, transaction);
    return variant;
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
