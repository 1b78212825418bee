/**
 * Assigns keys to blocks, transactions, scripts and subnetworks when they are first seen; keys
 * never change. A registry lives from a read of the checkpoint to the next failure, since keys of
 * rows that were never committed are assigned again.
 */
import {
  type BatchRow,
  type BatchRows,
  type BlockKey,
  createBatchRows,
  type ScriptKey,
  type TransactionKey,
} from '@kasgres/database';
import { type Hash, type Network, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';
import type { LookedUp } from '../memory/look-up.ts';
import { type Memory, scriptKey } from '../memory/memory.ts';
import type { Checkpoint } from './batch.ts';
import { envelopeOwners } from './envelope-owners.ts';
import { findMiner } from './miner.ts';
import { writeScript, writeVariant } from './write-rows.ts';

export interface SeenTransaction {
  key: TransactionKey;
  /** 0 for the variant that was seen first. */
  variant: number;
  transaction: RpcTransaction;
}

export interface SeenBlock {
  key: BlockKey;
  /** Whether it has no row. */
  isNew: boolean;
  block: RpcBlock;
  transactions: SeenTransaction[];
  /** Undefined for genesis, and if the block has a row. */
  minerScript: ScriptKey | undefined;
  subsidy: bigint | undefined;
  isChainBlock: boolean;
  mergingBlock: NonNullable<BatchRow<'blocks'>['merging_block_id']> | null;
  isBlue: boolean | null;
}

export interface NewTransaction extends SeenTransaction {
  /** Key of the block in which it was first seen. */
  block: BlockKey;
  outputScripts: ScriptKey[];
}

export interface Seen {
  rows: BatchRows;
  lookedUp: LookedUp;
  firstNewTransaction: number;
  blocks: Map<number, SeenBlock>;
  preBootstrapBlocks: number[];
  newTransactions: NewTransaction[];
}

type NextKeys = Pick<Checkpoint, 'nextBlockId' | 'nextTransactionId' | 'nextScriptId' | 'nextSubnetworkId'>;

export class Registry {
  readonly memory: Memory;
  readonly network: Network;
  /** Blocks up to this blue score may refer to pre-bootstrap blocks. */
  readonly #preBootstrapUntil: bigint;
  readonly #next: NextKeys;

  /**
   * @param bootstrapBlueScore of the latest bootstrap block; undefined for genesis, before which
   * there are no blocks
   */
  constructor(memory: Memory, network: Network, checkpoint: Checkpoint, bootstrapBlueScore: bigint | undefined) {
    this.memory = memory;
    this.network = network;
    this.#preBootstrapUntil = bootstrapBlueScore === undefined ? -1n : bootstrapBlueScore + network.finalityDepth;
    const { nextBlockId, nextTransactionId, nextScriptId, nextSubnetworkId } = checkpoint;
    this.#next = { nextBlockId, nextTransactionId, nextScriptId, nextSubnetworkId };
  }

  get nextKeys(): NextKeys {
    return { ...this.#next };
  }

  /** The highest key of a transaction so far. */
  get lastTransaction(): TransactionKey {
    return this.#next.nextTransactionId - 1;
  }

  begin(lookedUp: LookedUp): Seen {
    return {
      rows: createBatchRows(),
      lookedUp,
      firstNewTransaction: this.#next.nextTransactionId,
      blocks: new Map(),
      preBootstrapBlocks: [],
      newTransactions: [],
    };
  }

  see(seen: Seen, block: RpcBlock): SeenBlock {
    const known = this.memory.blocks.get(block.hash);
    const before = known === undefined ? undefined : seen.blocks.get(known);
    if (before !== undefined) return before;
    const key = known ?? this.#findPreBootstrap(seen, block.hash) ?? this.#next.nextBlockId++;
    if (known === undefined) this.memory.blocks.set(block.hash, key);
    const transactions = block.transactions.map((transaction) => this.#seeTransaction(seen, transaction, key));
    const miner = known === undefined ? findMiner(block) : undefined;
    const now: SeenBlock = {
      key,
      isNew: known === undefined,
      block,
      transactions,
      minerScript: miner && this.#seeScript(seen, miner.scriptPublicKey),
      subsidy: miner?.subsidy,
      isChainBlock: false,
      mergingBlock: null,
      isBlue: null,
    };
    seen.blocks.set(key, now);
    return now;
  }

  canRefer(hashes: readonly Hash[], child: RpcBlock): boolean {
    return this.#isNearBootstrap(child) || hashes.every((hash) => this.memory.findBlock(hash) !== undefined);
  }

  /**
   * Returns the key of a block that another one refers to. An unknown block counts as
   * pre-bootstrap, since all later merged blocks are known. A block of the tail may also refer to a
   * later one, which stops being pre-bootstrap when it arrives.
   * @throws IncompleteUpdateError if the bootstrap block is genesis, or too far below the child
   */
  getBlockKey({ rows }: Seen, hash: Hash, child: RpcBlock): BlockKey {
    const known = this.memory.findBlock(hash);
    if (known !== undefined) return known;
    if (!this.#isNearBootstrap(child)) {
      throw new IncompleteUpdateError(`block ${toHex(child.hash)} refers to ${toHex(hash)}, which is not indexed`);
    }
    const key = this.#next.nextBlockId++;
    this.memory.preBootstrapBlocks.set(toHex(hash), key);
    rows.pre_bootstrap_blocks.write({ id: key, hash });
    return key;
  }

  getScriptKey(scriptPublicKey: ScriptPublicKey): ScriptKey {
    return this.memory.scripts.get(scriptKey(scriptPublicKey)) as ScriptKey;
  }

  subnetworkKey({ rows }: Seen, subnetworkId: Uint8Array): BatchRow<'transactions'>['subnetwork_id'] {
    const name = toHex(subnetworkId);
    const known = this.memory.subnetworks.get(name);
    if (known !== undefined) return known;
    const key = this.#next.nextSubnetworkId++;
    this.memory.subnetworks.set(name, key);
    rows.subnetworks.write({ id: key, subnetwork_id: subnetworkId });
    return key;
  }

  #isNearBootstrap(block: RpcBlock): boolean {
    return block.header.blueScore <= this.#preBootstrapUntil;
  }

  #findPreBootstrap(seen: Seen, hash: Hash): BlockKey | undefined {
    const key = this.memory.preBootstrapBlocks.get(toHex(hash));
    if (key === undefined) return undefined;
    this.memory.preBootstrapBlocks.delete(toHex(hash));
    seen.preBootstrapBlocks.push(key);
    return key;
  }

  #seeTransaction(seen: Seen, transaction: RpcTransaction, block: BlockKey): SeenTransaction {
    const { memory } = this;
    const known = memory.transactions.get(transaction.transactionId);
    if (known !== undefined) {
      const hasRow = !seen.lookedUp.preBootstrap.has(known) || memory.preBootstrapHashes.get(known) !== undefined;
      if (hasRow) return { key: known, variant: this.#variantOf(seen, known, transaction), transaction };
      // A block carries a pre-bootstrap transaction again: it keeps the key that its UTXOs have.
      memory.preBootstrapHashes.set(known, Uint8Array.from(transaction.hash));
    }
    const key = known ?? this.#next.nextTransactionId++;
    if (known === undefined) {
      memory.transactions.set(transaction.transactionId, key);
      memory.utxos.add(transaction.hash);
    }
    const outputScripts = transaction.outputs.map(({ amount, scriptPublicKey }) => {
      const script = this.#seeScript(seen, scriptPublicKey);
      if (known === undefined) memory.utxos.addOutput(amount, script);
      return script;
    });
    for (const owner of envelopeOwners(transaction)) this.#seeScript(seen, owner);
    const now = { key, variant: 0, transaction, block, outputScripts };
    seen.newTransactions.push(now);
    return now;
  }

  #variantOf(seen: Seen, key: TransactionKey, transaction: RpcTransaction): number {
    const { rows, lookedUp } = seen;
    const { variants, lastVariants } = this.memory;
    const first = this.memory.findHash(key) ?? lookedUp.hashes.get(key);
    if (first === undefined) throw new Error(`transaction ${toHex(transaction.transactionId)} was not looked up`);
    if (Buffer.compare(first, transaction.hash) === 0) return 0;
    const known = variants.get(transaction.hash);
    if (known !== undefined) return known;
    const variant = (lastVariants.get(key) ?? 0) + 1;
    variants.set(transaction.hash, variant);
    lastVariants.set(key, variant);
    writeVariant(rows, key, variant, transaction);
    for (const owner of envelopeOwners(transaction)) this.#seeScript(seen, owner);
    return variant;
  }

  #seeScript({ rows }: Seen, scriptPublicKey: ScriptPublicKey): ScriptKey {
    const name = scriptKey(scriptPublicKey);
    const known = this.memory.scripts.get(name);
    if (known !== undefined) return known;
    const key = this.#next.nextScriptId++;
    this.memory.scripts.set(name, key);
    writeScript(rows, key, scriptPublicKey, this.network);
    return key;
  }
}
