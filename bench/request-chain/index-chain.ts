/** Writes a generated chain with the indexer's own prepare and apply, in a first catch-up without a node, and clusters it. */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import type { Connection } from '@kasgres/database';
import { openClusteringDatabase } from '@kasgres/indexer';
import { getNetwork } from '@kasgres/kaspa';
import { createLogger } from '@kasgres/runtime';
import { clusterStep, flagStep } from '@kasgres/state';
import { apply } from '../../packages/indexer/src/apply/apply.ts';
import { finishFirstCatchUp } from '../../packages/indexer/src/apply/first-catch-up.ts';
import type { AddedChainBlock } from '../../packages/indexer/src/chain-update.ts';
import { Memory } from '../../packages/indexer/src/memory/memory.ts';
import { AmbiguousVariants } from '../../packages/indexer/src/prepare/ambiguous-variants.ts';
import { Preparer } from '../../packages/indexer/src/prepare/preparer.ts';
import { Registry } from '../../packages/indexer/src/prepare/registry.ts';
import { bootstrapAtGenesis, EMPTY_CHECKPOINT } from '../../packages/indexer/src/bootstrap/bootstrap.ts';
import type { RequestChain } from './chain.ts';

const TRANSACTIONS_PER_BATCH = 10_000;
/** Large enough that nothing is evicted, so nothing has to be looked up. */
const MEMORY_TRANSACTIONS = 40_000_000;

type Chain = Pick<RequestChain, 'network' | 'genesis' | 'chainBlocks'>;

/** @param progress is called with the number of transactions written so far */
export async function indexChain(
  { pool }: Connection,
  chain: Chain,
  progress: (transactions: number) => void,
): Promise<void> {
  const [writer, reader] = await Promise.all([pool.connect(), pool.connect()]);
  try {
    const { network, genesis } = chain;
    const memory = new Memory(MEMORY_TRANSACTIONS, EMPTY_CHECKPOINT.nextTransactionId, true);
    const registry = new Registry(memory, network, EMPTY_CHECKPOINT, undefined);
    const preparer = new Preparer(registry, new AmbiguousVariants(oneVariantEach));
    const log = createLogger({ name: 'bench', level: 'warn' });
    let checkpoint = await bootstrapAtGenesis({ client: writer, network, log }, preparer, genesis);
    let applying = Promise.resolve();
    for await (const added of batchesOf(chain)) {
      const targetBlueScore = added.at(-1)?.block.header.blueScore ?? 0n;
      const update = { removed: [], added, tail: undefined, atTip: false, targetBlueScore };
      const batch = await preparer.prepare(reader, update, checkpoint, checkpoint);
      checkpoint = batch.to;
      await applying;
      applying = apply(writer, batch);
      // The rejection is handled where `applying` is awaited.
      applying.catch(() => undefined);
      progress(checkpoint.nextTransactionId);
    }
    await applying;
    await finishFirstCatchUp([writer, reader]);
  } finally {
    writer.release();
    reader.release();
  }
}

/** A generated chain has one variant of each transaction. */
async function oneVariantEach(): Promise<undefined> {
  return undefined;
}

async function* batchesOf(chain: Chain): AsyncGenerator<AddedChainBlock[]> {
  let added: AddedChainBlock[] = [];
  let transactions = 0;
  for (const block of chain.chainBlocks()) {
    added.push(block);
    transactions += block.acceptedTransactionIds.length;
    if (transactions >= TRANSACTIONS_PER_BATCH) {
      yield added;
      added = [];
      transactions = 0;
    }
    // Lets the previous batch be written meanwhile.
    await setImmediate();
  }
  if (added.length > 0) yield added;
}

/** About as many as the indexer clusters in one step on an idle machine. */
const TRANSACTIONS_PER_STEP = 2_000;
/** The indexer's default. */
const SIZE_LIMIT = 1_000_000n;

export interface Clustered {
  transactions: number;
  merges: number;
  held: number;
  seconds: number;
}

/** Clusters the whole index, in the steps that the indexer makes. */
export async function clusterChain(url: string): Promise<Clustered> {
  const database = openClusteringDatabase(url);
  const client = await database.pool.connect();
  const options = { depth: getNetwork('simnet').settledDepth, sizeLimit: SIZE_LIMIT, change: false };
  const clustered = { transactions: 0, merges: 0, held: 0, seconds: 0 };
  const startedAt = performance.now();
  try {
    for (let isBusy = true; isBusy; ) {
      const step = await clusterStep(client, options, TRANSACTIONS_PER_STEP);
      const isMarking = await flagStep(client);
      clustered.transactions += step.transactions;
      clustered.merges += step.merges;
      clustered.held += step.held;
      isBusy = step.isBusy || isMarking;
    }
  } finally {
    client.release();
    await database.close();
  }
  return { ...clustered, seconds: (performance.now() - startedAt) / 1_000 };
}
