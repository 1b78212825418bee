/** Writes a generated chain by the indexer's own prepare and apply, in a first catch-up from genesis to its end; no node takes part. */
import { setImmediate } from 'node:timers/promises';
import type { Connection } from '@kasgres/database';
import { createLogger } from '@kasgres/runtime';
import { apply } from '../../packages/indexer/src/apply/apply.ts';
import { finishFirstCatchUp } from '../../packages/indexer/src/apply/first-catch-up.ts';
import type { AddedChainBlock } from '../../packages/indexer/src/chain-update.ts';
import { Memory } from '../../packages/indexer/src/memory/memory.ts';
import { AmbiguousVariants } from '../../packages/indexer/src/prepare/ambiguous-variants.ts';
import { Preparer } from '../../packages/indexer/src/prepare/preparer.ts';
import { bootstrapAtGenesis, EMPTY_CHECKPOINT } from '../../packages/indexer/src/bootstrap/bootstrap.ts';
import type { RequestChain } from './chain.ts';

const TRANSACTIONS_A_BATCH = 10_000;
/** Nothing is forgotten, so nothing has to be looked up. */
const LIMITS = {
  blocks: 2_000_000,
  transactions: 40_000_000,
  outputs: 80_000_000,
  scripts: 40_000_000,
  subnetworks: 1_000_000,
  variants: 1_000_000,
};

type Chain = Pick<RequestChain, 'network' | 'genesis' | 'chainBlocks'>;

/** @param progress hears how many transactions were written so far */
export async function indexChain(
  { pool }: Connection,
  chain: Chain,
  progress: (transactions: number) => void,
): Promise<void> {
  const [writer, reader] = await Promise.all([pool.connect(), pool.connect()]);
  try {
    const { network, genesis } = chain;
    const memory = new Memory(LIMITS, EMPTY_CHECKPOINT.nextTransactionId, true);
    const preparer = new Preparer(memory, network, new AmbiguousVariants(oneBodyEach), EMPTY_CHECKPOINT, undefined);
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
      // Met when it is awaited.
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

/** No transaction of a generated chain has two. */
async function oneBodyEach(): Promise<undefined> {
  return undefined;
}

async function* batchesOf(chain: Chain): AsyncGenerator<AddedChainBlock[]> {
  let added: AddedChainBlock[] = [];
  let transactions = 0;
  for (const block of chain.chainBlocks()) {
    added.push(block);
    transactions += block.acceptedTransactionIds.length;
    if (transactions >= TRANSACTIONS_A_BATCH) {
      yield added;
      added = [];
      transactions = 0;
    }
    // The batch before is being written meanwhile.
    await setImmediate();
  }
  if (added.length > 0) yield added;
}
