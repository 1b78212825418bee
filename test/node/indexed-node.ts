/**
 * A real node with a busy history, an index of it and an API: all started here, or the node of
 * NODE_URL (and its index in DATABASE_URL, if an indexer follows that node already).
 */
import { connect, createKey, revokeKey } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { ApiClient } from '../support/api-client.ts';
import { findKaspad, Kaspad } from '../support/kaspad.ts';
import { Load } from './load/load.ts';
import { SecondNode } from './load/second-node.ts';
import { mineTwoVariants } from './load/two-variants.ts';
import { untilAtRest } from '../support/harness.ts';
import { startApi, startIndexer } from '../support/programs.ts';

const given = { nodeUrl: process.env['NODE_URL'], databaseUrl: process.env['DATABASE_URL'] };

export const isExternalNode = given.nodeUrl !== undefined;

export const isWithoutNode = !isExternalNode && findKaspad() === undefined;

const size = {
  seed: process.env['LOAD_SEED'] ?? String(Date.now()),
  blocks: Number(process.env['LOAD_BLOCKS'] ?? 1700),
  paymentsPerBlock: Number(process.env['LOAD_PAYMENTS_PER_BLOCK'] ?? 6),
};
/** The first coinbases are mature by then. */
const WARM_UP_BLOCKS = 1100;
const DEPTHS = [1, 10, 100];
const UNMERGED_BLOCKS = 3;

export type IndexedNode = Awaited<ReturnType<typeof startIndexedNode>>;

export async function startIndexedNode() {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.toReversed()) await step();
  };
  try {
    const kaspad = given.nodeUrl === undefined ? await Kaspad.start() : undefined;
    if (kaspad !== undefined) closing.push(() => kaspad.stop());
    const nodeUrl = kaspad?.url ?? given.nodeUrl ?? '';
    const node = new NodeClient({ url: nodeUrl, streams: 2, maxPauseMs: 200 });
    closing.push(() => node.close());
    await node.waitUntilConnected({ signal: AbortSignal.timeout(10_000) });

    const { url: databaseUrl, pool, kysely } = await openDatabase(closing);
    const indexer = given.databaseUrl === undefined ? startIndexer({ nodeUrl, databaseUrl }) : undefined;
    if (indexer !== undefined) closing.push(() => indexer.stop());
    const indexed = (): Promise<void> => untilAtRest(pool, node, indexer);

    const load = kaspad && (await Load.begin(node, size));
    const history = load && (await createHistory(node, load, indexed));
    await indexed();

    const { id, key } = await createKey(kysely, { name: 'test on a real node', rateRu: 1e9 });
    closing.push(() => revokeKey(kysely, id));
    const { program, url } = await startApi({ nodeUrl, databaseUrl });
    closing.push(() => program.stop());
    let ownLoad = load;
    return {
      node,
      pool,
      api: new ApiClient(url, key),
      /** Undefined for an external node. */
      history,
      /** Returns the load; on an external node it is created at the first call, which mines. */
      load: async () => (ownLoad ??= await beginWithUtxos(node)),
      untilAtRest: indexed,
      apiOutput: () => program.output(),
      /** Restarts the node, unless it is external. Returns whether it did. */
      restartNode: async () => {
        await kaspad?.halt();
        await kaspad?.run();
        await node.waitUntilConnected({ signal: AbortSignal.timeout(10_000) });
        return kaspad !== undefined;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openDatabase(
  closing: (() => Promise<unknown>)[],
): Promise<Awaited<ReturnType<typeof createTestDatabase>>> {
  if (given.databaseUrl === undefined) {
    const database = await createTestDatabase();
    closing.push(() => database.drop());
    return database;
  }
  const connection = connect({ url: given.databaseUrl, applicationName: 'kasgres test' });
  closing.push(() => connection.close());
  return { ...connection, url: given.databaseUrl, drop: async () => {} };
}

/**
 * Reorganises the chain while the index follows. At the end there is a branch that no block merges.
 */
async function createHistory(node: NodeClient, load: Load, untilIndexed: () => Promise<void>) {
  process.stdout.write(`The load comes from LOAD_SEED=${size.seed}.\n`);
  await load.warmUp(WARM_UP_BLOCKS);
  await load.run({ blocks: (WARM_UP_BLOCKS + size.blocks) / 2 });
  const twoVariants = await mineTwoVariants(node, load);
  const second = await SecondNode.start(node, load);
  try {
    const removedBlocks: number[] = [];
    for (const depth of DEPTHS) {
      removedBlocks.push(await second.reorganise(depth, untilIndexed));
      await load.run({ blocks: load.blocks + 30 });
    }
    await load.run({ blocks: size.blocks });
    await second.branchOff(UNMERGED_BLOCKS);
    return { twoVariants, removedBlocks };
  } finally {
    await second.stop();
  }
}

async function beginWithUtxos(node: NodeClient): Promise<Load> {
  const load = await Load.begin(node, size);
  await load.warmUp(WARM_UP_BLOCKS);
  return load;
}
