/** Writes a generated chain with the indexer's own prepare and apply, without a node. */
import { setImmediate } from 'node:timers/promises';
import type { Connection } from '@kasgres/database';
import {
  type AddedChainBlock,
  AmbiguousVariants,
  apply,
  bootstrapAtGenesis,
  type Checkpoint,
  EMPTY_CHECKPOINT,
  findCheckpoint,
  finishFirstCatchUp,
  Memory,
  Preparer,
  Registry,
} from '@kasgres/indexer/testing';
import { createLogger } from '@kasgres/runtime';
import { CandidateTransactions } from '@kasgres/state';
import type { PoolClient } from 'pg';
import type { RequestChain } from './chain.ts';

export const TRANSACTIONS_PER_BATCH = 10_000;
/** Large enough that nothing is evicted, so nothing has to be looked up. */
const MEMORY_TRANSACTIONS = 40_000_000;

type Chain = Pick<RequestChain, 'network' | 'genesis' | 'chainBlocks'>;

/** Prepares each batch while the previous one is applied, as the indexer does. */
export class ChainWriter implements AsyncDisposable {
  readonly #clients: readonly [PoolClient, PoolClient];
  readonly #memory: Memory;
  readonly #preparer: Preparer;
  #checkpoint: Checkpoint;
  #applying: Promise<void> = Promise.resolve();

  /**
   * Begins at genesis if the database is empty, in a first catch-up. Otherwise it continues as the
   * indexer after a restart, with an empty cache.
   * @param memoryTransactions cached transactions
   */
  static async open(
    { pool }: Connection,
    chain: Pick<Chain, 'network' | 'genesis'>,
    memoryTransactions = MEMORY_TRANSACTIONS,
  ): Promise<ChainWriter> {
    const clients = [await pool.connect(), await pool.connect()] as const;
    const found = await findCheckpoint(clients[0]);
    const writer = new ChainWriter(clients, chain, found, memoryTransactions);
    if (found === undefined) await writer.#bootstrap(chain);
    return writer;
  }

  private constructor(
    clients: readonly [PoolClient, PoolClient],
    { network }: Pick<Chain, 'network'>,
    found: Checkpoint | undefined,
    memoryTransactions: number,
  ) {
    this.#clients = clients;
    this.#checkpoint = found ?? EMPTY_CHECKPOINT;
    this.#memory = new Memory(memoryTransactions, this.#checkpoint.nextTransactionId, found === undefined);
    const registry = new Registry(this.#memory, network, this.#checkpoint, undefined);
    const candidates = found === undefined ? new CandidateTransactions(false) : undefined;
    this.#preparer = new Preparer(registry, new AmbiguousVariants(oneVariantEach), candidates);
  }

  /** The number of transactions that are written or prepared. */
  get transactions(): number {
    return this.#checkpoint.nextTransactionId - 1;
  }

  /** Writes these blocks as one batch. Returns as soon as the previous batch is written. */
  async write(added: AddedChainBlock[]): Promise<void> {
    const [writer, reader] = this.#clients;
    if (this.#checkpoint.firstCatchUp && !this.#memory.isComplete)
      throw new Error(`a chain must have at most ${MEMORY_TRANSACTIONS} transactions`);
    const targetBlueScore = added.at(-1)?.block.header.blueScore ?? 0n;
    const update = { removed: [], added, tail: undefined, atTip: false, targetBlueScore };
    const batch = await this.#preparer.prepare(reader, update, this.#checkpoint, this.#checkpoint);
    this.#checkpoint = batch.to;
    await this.#applying;
    this.#applying = apply(writer, batch);
    // The rejection is handled where `#applying` is awaited.
    this.#applying.catch(() => undefined);
  }

  /** Waits until everything is written. */
  async flush(): Promise<void> {
    await this.#applying;
  }

  async finishFirstCatchUp(): Promise<void> {
    await this.flush();
    await finishFirstCatchUp(this.#clients, { candidates: this.#preparer.takeCandidates() });
    this.#checkpoint = { ...this.#checkpoint, firstCatchUp: false };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#applying.catch(() => undefined);
    for (const client of this.#clients) client.release();
  }

  async #bootstrap({ network, genesis }: Pick<Chain, 'network' | 'genesis'>): Promise<void> {
    const log = createLogger({ name: 'bench', level: 'warn' });
    this.#checkpoint = await bootstrapAtGenesis({ client: this.#clients[0], network, log }, this.#preparer, genesis);
  }
}

/** A generated chain has one variant of each transaction. */
async function oneVariantEach(): Promise<undefined> {
  return undefined;
}

/**
 * Takes chain blocks until they accept this many transactions. Returns fewer at the end of the
 * chain.
 */
export async function takeBatch(
  blocks: Iterator<AddedChainBlock, unknown>,
  transactions: number,
): Promise<AddedChainBlock[]> {
  const added: AddedChainBlock[] = [];
  for (let accepted = 0; accepted < transactions; ) {
    const next = blocks.next();
    if (next.done === true) break;
    added.push(next.value);
    accepted += next.value.acceptedTransactionIds.length;
    // Lets the previous batch be written meanwhile.
    await setImmediate();
  }
  return added;
}

/**
 * Indexes the whole chain in a first catch-up.
 * @param progress is called with the number of transactions written so far
 */
export async function indexChain(
  database: Connection,
  chain: Chain,
  progress: (transactions: number) => void,
): Promise<void> {
  await using writer = await ChainWriter.open(database, chain);
  const blocks = chain.chainBlocks();
  for (;;) {
    const added = await takeBatch(blocks, TRANSACTIONS_PER_BATCH);
    if (added.length === 0) break;
    await writer.write(added);
    progress(writer.transactions);
  }
  await writer.finishFirstCatchUp();
}
