/**
 * Bootstraps at the pruning point of real nodes: of one that pruned itself, of one with the state
 * of a peer, of one that moves its pruning point meanwhile; and never with a UTXO set that does not
 * match the header's commitment (invariants 4 and 10).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { UtxoSetServer } from '@kasgres/devnet';
import { blueScoreOfMove } from '@kasgres/indexer/testing';
import { fromHex, getNetwork, toHex, type Utxo } from '@kasgres/kaspa';
import { NodeClient, NodeRpcError, readUtxoSet } from '@kasgres/node';
import { checkUtxoCommitment } from '@kasgres/verification';
import { holdAt, release, prepareSteps, untilOneWaits } from '../database-faults/held-steps.ts';
import { differencesOf, stateOf, takeSnapshot } from '../invariants/snapshot.ts';
import { untilAtRest } from '../support/harness.ts';
import { findKaspad, Kaspad } from '../support/kaspad.ts';
import { Load } from './load/load.ts';
import { type Program, startIndexer, startIndexerWithSmallBatches } from '../support/programs.ts';
import {
  BLOCKS_UNTIL_PRUNED,
  FINALITY_DEPTH,
  PRUNING_DEPTH,
  SMALL_WARM_UP_BLOCKS,
  smallPruning,
  smallPruningDepths,
  smallPruningLoad,
} from './pruning.ts';
import {
  blueScoreOf,
  expectRight,
  expectSound,
  expectStateOfNode,
  type Index,
  joinSlowly,
  linkTo,
  loadThroughOutages,
  more,
  p2pOf,
  type Peer,
  pruningPointOf,
  startIndex,
  startIndexing,
  restartPeer,
  startPeer,
  until,
  untilIndexed,
  untilSameSink,
  untilLogged,
  watchCheckpoint,
} from './harness.ts';

const PAYMENTS_PER_BLOCK = 6;
const GENESIS = toHex(getNetwork('simnet').genesisHash);
/** So slow that the pruning point moves before its UTXO set is loaded. */
const SLOW_SET = { bytesPerSecond: 20_000 };
/** So slow that the indexer meets a node with its pruning point and few blocks above. */
const SLOW_SYNC = { bytesPerSecond: 200_000 };
const WRITE = 'bootstrap: UTXOs';
const CATCH_UP = 'batch';
/** A pruning point that has not moved for this time is final. */
const AT_REST_MS = 3_000;
/** The exit code for problems that an operator must solve. */
const FATAL = 1;

const SELECT_INPUTS = `
  select count(*)::int as inputs from transaction_inputs i
    join pre_bootstrap_transactions e on e.id = i.previous_transaction_id`;
const SELECT_START = `
  select encode(b.hash, 'hex') as hash, s.utxo_count from bootstrap_blocks s
    join blocks b on b.id = s.block_id order by s.chain_index`;
const COUNT_VISIBLE = `
  select (select count(*) from chain_blocks) + (select count(*) from blocks) + (select count(*)
    from bootstrap_blocks)
    + (select count(*) from bootstrap_utxos) + (select count(*) from utxos) + (select count(*)
      from checkpoint) as rows`;

describe.skipIf(findKaspad() === undefined)('a bootstrap at a pruning point', () => {
  let peer: Peer;
  let load: Load;
  /** An index from genesis, which gets every block before it is pruned. */
  let whole: { database: TestDatabase; indexer: Program };

  beforeAll(async () => {
    const kaspad = await Kaspad.start({ overrides: smallPruning });
    const node = new NodeClient({ url: kaspad.url, streams: 2, maxPauseMs: 200 });
    await node.waitUntilConnected();
    peer = { kaspad, node, name: new URL(kaspad.url).host };
    const database = await createTestDatabase();
    load = await Load.begin(node, {
      seed: 'pruning start',
      paymentsPerBlock: PAYMENTS_PER_BLOCK,
      params: smallPruningLoad,
    });
    await load.warmUp(SMALL_WARM_UP_BLOCKS);
    whole = { database, indexer: startIndexer({ nodeUrl: kaspad.url, databaseUrl: database.url }) };
    await load.run({ blocks: BLOCKS_UNTIL_PRUNED });
    await untilAtRest(database.pool, node, whole.indexer);
  });

  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      process.stdout.write(`The index from genesis said last:\n${whole.indexer.output()}\n`);
      process.stdout.write(`Refused by the node:\n${peer.kaspad.refusals.join('\n')}\n`);
    });
  });

  afterAll(async () => {
    await whole?.indexer.stop();
    await whole?.database.drop();
    await peer?.node.close();
    await peer?.kaspad.stop();
  });

  test('has the UTXOs and inputs of an index from genesis, and of the node', async () => {
    const index = await startIndex([peer], p2pOf(peer));
    await untilIndexed(index, peer);
    await expectStartAt(index, await pruningPointOf(peer));
    await more(load, 40);
    await expectRight(index, peer);
    await expectStateRight(index, peer);
  });

  test('works with a node that has its state from a peer', async () => {
    const synced = await startPeer({ overrides: smallPruning });
    await synced.kaspad.join(peer.kaspad.p2pUrl);
    await untilSameSink(synced, peer);
    expect(await pruningPointOf(synced)).toBe(await pruningPointOf(peer));
    const index = await startIndex([synced], p2pOf(synced));
    await untilIndexed(index, synced);
    await expectStartAt(index, await pruningPointOf(synced));
    await more(load, 40);
    await untilSameSink(synced, peer);
    await expectRight(index, synced);
    await expectStateRight(index, synced);
  });

  test('never shows an altered UTXO set, and succeeds with the right one', async () => {
    const pruningPointHash = await pruningPointOf(peer);
    const utxos = await readAll(peer, pruningPointHash);
    const server = await UtxoSetServer.start({
      network: 'simnet',
      set: () => ({ pruningPointHash: fromHex(pruningPointHash), utxos }),
      faults: (chunk) => (chunk === 1 ? { kind: 'altered' } : undefined),
    });
    try {
      const index = await startIndex([peer], { ...smallPruningDepths, NODE_P2P_URL: server.url });
      expect(await index.indexer.exited, index.indexer.output()).toBe(FATAL);
      expect(index.indexer.output()).toMatch(/is not the one that the header of \w+ commits to.*Point NODE_P2P_URL at/);
      const { rows } = await index.database.pool.query<{ rows: bigint }>(COUNT_VISIBLE);
      expect(rows[0]?.rows).toBe(0n);

      index.indexer = startIndexing(index.database, [peer], p2pOf(peer));
      await untilIndexed(index, peer);
      await expectStartAt(index, pruningPointHash);
      await expectRight(index, peer);
    } finally {
      server.close();
    }
  });

  test('starts from scratch when the pruning point moves during the load', async () => {
    const link = await linkTo(peer, SLOW_SET);
    const before = await pruningPointOf(peer);
    const index = await startIndex([peer], { ...smallPruningDepths, NODE_P2P_URL: link.url });
    await until(async () => {
      await more(load, 10);
      return (await pruningPointOf(peer)) !== before;
    }, 'the pruning point does not move');
    const after = await pruningPointOf(peer);
    link.bytesPerSecond = Infinity;
    await untilIndexed(index, peer);
    await expectStartAt(index, after);
    await expectRight(index, peer);
    await expectStateRight(index, peer);
  });

  test.each(['stop', 'record'])(
    'is discarded and repeated when the pruning point moves during the write, with ON_GAP=%s',
    async (onGap) => {
      const before = await pruningPointOf(peer);
      const index = await startHeld(WRITE, { ON_GAP: onGap });
      const after = await movePruningPoint(before);
      await release(index, WRITE);
      await untilLogged(index, 'discarded the index to bootstrap again');
      await expectBootstrappedAt(index, after);
    },
  );

  test('is discarded and repeated when the pruning point moves in the first catch-up, also after SIGKILL', async () => {
    const before = await pruningPointOf(peer);
    const index = await startHeld(CATCH_UP, {});
    expect((await bootstrapsOf(index)).map(({ hash }) => hash)).toEqual([before]);
    const after = await movePruningPoint(before);
    await index.indexer.kill();
    await release(index, CATCH_UP);

    // It discards the index, and is killed while it loads the next set.
    const link = await linkTo(peer, SLOW_SET);
    index.indexer = startIndexing(index.database, [peer], { ...p2pOf(peer), NODE_P2P_URL: link.url });
    await untilLogged(index, 'loads a UTXO set');
    await index.indexer.kill();
    const { rows } = await index.database.pool.query<{ rows: bigint }>(COUNT_VISIBLE);
    expect(rows[0]?.rows).toBe(0n);

    index.indexer = startIndexing(index.database, [peer], p2pOf(peer));
    await expectBootstrappedAt(index, after);
  });

  test('waits if the pruning point is about to move', async () => {
    const before = await pruningPointOf(peer);
    const { block } = await peer.node.call('getBlock', { hash: before, includeTransactions: false });
    const network = { finalityDepth: BigInt(FINALITY_DEPTH), pruningDepth: BigInt(PRUNING_DEPTH) };
    const move = blueScoreOfMove(block?.header?.blueScore ?? 0n, network);
    while ((await blueScoreOf(peer)) < move - 20n) await more(load, 1);
    expect(await pruningPointOf(peer)).toBe(before);
    const index = await startIndex([peer], p2pOf(peer));
    const mining = new AbortController();
    onTestFinished(() => mining.abort());
    await untilLogged(index, 'waiting for the node to move its pruning point');
    const mined = loadThroughOutages(load, mining.signal, 50);
    await untilLogged(index, 'the pruning point has moved');
    mining.abort();
    await mined;
    expect(index.indexer.output().split('the pruning point has moved')[0]).not.toContain('loads a UTXO set');
    const after = await pruningPointOf(peer);
    expect(after).not.toBe(before);
    await expectBootstrappedAt(index, after);
  });

  test('reads a UTXO set that the node is still advancing more than three times', async () => {
    const pruningPointHash = await pruningPointOf(peer);
    const utxos = await readAll(peer, pruningPointHash);
    let reads = 0;
    const server = await UtxoSetServer.start({
      network: 'simnet',
      set: () => ({ pruningPointHash: fromHex(pruningPointHash), utxos }),
      faults: (chunk) => {
        if (chunk === 0) reads += 1;
        return chunk === 1 && reads <= 3 ? { kind: 'altered' } : undefined;
      },
    });
    try {
      const index = await startIndex([peer], { ...p2pOf(peer), NODE_P2P_URL: server.url });
      await untilIndexed(index, peer);
      expect(reads).toBe(4);
      await expectStartAt(index, pruningPointHash);
    } finally {
      server.close();
    }
  });

  test('follows a node that is first at genesis, and then gets its state from a peer', async () => {
    const synced = await startPeer({ overrides: smallPruning });
    const index = await startIndex([synced], p2pOf(synced));
    await untilLogged(index, 'began an index at genesis');
    await joinSlowly(synced, peer, SLOW_SYNC);
    await untilSameSink(synced, peer);
    await more(load, 20);
    await untilSameSink(synced, peer);
    await untilIndexed(index, synced);
    await expectStartAt(index, await pruningPointOf(synced));
    const { rows } = await index.database.pool.query('select from gaps');
    expect(rows).toEqual([]);
    await expectRight(index, synced);
  });

  test('is not repeated for a wiped node that gets the state, and all our blocks, from a peer', async () => {
    const other = await startPeer({ overrides: smallPruning });
    await other.kaspad.join(peer.kaspad.p2pUrl);
    await untilSameSink(other, peer);
    await untilIndexed(whole, peer);
    await peer.kaspad.wipe();
    await restartPeer(peer);
    await untilLogged(whole, 'The node is behind this database');
    const watch = watchCheckpoint(whole);
    await joinSlowly(peer, other, SLOW_SYNC);
    await untilSameSink(peer, other);
    await more(load, 20);
    await untilIndexed(whole, peer);
    await watch.expectNoReorg();
    expect(await bootstrapsOf(whole)).toMatchObject([{ hash: GENESIS }]);
    await expectSound(whole);
    await expectStateRight(whole, peer);
  });

  /** Creates an index whose indexer waits at a step (test/database-faults/held-steps.ts). */
  async function startHeld(step: string, env: Record<string, string>): Promise<Index> {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    await prepareSteps({ database });
    await holdAt({ database }, step);
    const programEnv = { nodeUrl: peer.kaspad.url, databaseUrl: database.url };
    const index = { database, indexer: startIndexerWithSmallBatches(programEnv, { ...p2pOf(peer), ...env }) };
    onTestFinished(() => index.indexer.stop());
    onTestFailed(() => {
      process.stdout.write(`The indexer said last:\n${index.indexer.output()}\n`);
    });
    await untilOneWaits({ database }, step);
    return index;
  }

  /**
   * Mines until the node has moved its pruning point and pruned the blocks after the former one.
   */
  async function movePruningPoint(before: string): Promise<string> {
    await until(async () => {
      await more(load, 10);
      return await isPruned(before);
    }, `${before} is not pruned`);
    // A node prunes in the background, and may be a step behind.
    for (let now = await pruningPointOf(peer); ; ) {
      await sleep(AT_REST_MS);
      const next = await pruningPointOf(peer);
      if (next === now) return now;
      now = next;
    }
  }

  async function isPruned(hash: string): Promise<boolean> {
    try {
      const request = { startHash: fromHex(hash), includeAcceptedTransactionIds: false };
      await peer.node.getVirtualChainFromBlock(request);
      return false;
    } catch (error) {
      if (error instanceof NodeRpcError) return true;
      throw error;
    }
  }

  async function expectBootstrappedAt(index: Index, pruningPoint: string): Promise<void> {
    await untilIndexed(index, peer);
    await expectStartAt(index, pruningPoint);
    const { rows } = await index.database.pool.query('select from gaps');
    expect(rows).toEqual([]);
    await expectRight(index, peer);
    await expectStateRight(index, peer);
  }

  /** Expects the state of the index from genesis and of the node. */
  async function expectStateRight(index: Index, of: Peer): Promise<void> {
    const { pool } = index.database;
    await expectStateOfNode(index, of, [load]);
    await expectSound(index);
    if (of !== peer || index === whole) return;
    await untilIndexed(whole, of);
    const wholeState = stateOf(await takeSnapshot(whole.database.pool));
    expect(differencesOf(wholeState, stateOf(await takeSnapshot(pool)))).toEqual([]);
  }
});

async function bootstrapsOf({ database }: Index): Promise<{ hash: string; utxo_count: bigint }[]> {
  return (await database.pool.query<{ hash: string; utxo_count: bigint }>(SELECT_START)).rows;
}

/** Expects one bootstrap block, with UTXOs, some of which are spent above it. */
async function expectStartAt(index: Index, pruningPoint: string): Promise<void> {
  expect(pruningPoint).not.toBe(GENESIS);
  const starts = await bootstrapsOf(index);
  expect(starts.map(({ hash }) => hash)).toEqual([pruningPoint]);
  expect(starts[0]?.utxo_count).toBeGreaterThan(1_000n);
  expect(await checkUtxoCommitment(index.database.pool)).toEqual([]);
  const { rows } = await index.database.pool.query<{ inputs: number }>(SELECT_INPUTS);
  expect(rows[0]?.inputs).toBeGreaterThan(100);
}

async function readAll({ kaspad }: Peer, pruningPointHash: string): Promise<Utxo[]> {
  const utxos: Utxo[] = [];
  const options = { url: kaspad.p2pUrl, network: 'simnet', pruningPointHash: fromHex(pruningPointHash) } as const;
  for await (const chunk of readUtxoSet(options)) utxos.push(...chunk.utxos);
  return utxos;
}
