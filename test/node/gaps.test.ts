/**
 * The indexer is away until its node has pruned the blocks after the checkpoint, or has another
 * chain: it stops with an explanation, or records a gap and continues from the node's pruning point
 * (invariants 4 and 11).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeClient } from '@kasgres/node';
import { checkUtxoCommitment } from '@kasgres/verification';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { differencesOf, stateOf, takeSnapshot } from '../invariants/snapshot.ts';
import { snapshotOfFreshIndex } from '../support/harness.ts';
import { findKaspad, Kaspad } from '../support/kaspad.ts';
import { Load } from './load/load.ts';
import { BLOCKS_UNTIL_PRUNED, SMALL_WARM_UP_BLOCKS, smallPruning, smallPruningLoad } from './pruning.ts';
import {
  expectSound,
  expectStateOfNode,
  type Index,
  more,
  moreEmpty,
  p2pOf,
  type Peer,
  pruningPointOf,
  sinkOf,
  startIndex,
  startIndexing,
  startPeer,
  until,
  untilIndexed,
} from './harness.ts';

const PAYMENTS_PER_BLOCK = 6;
const BLOCKS_BEFORE_THE_GAP = 500;
/** Blocks with payments; empty ones follow until the checkpoint is pruned. */
const BLOCKS_WHILE_AWAY = 150;
/** A pruning point that has not moved for this time is final. */
const AT_REST_MS = 3_000;
/** The exit code for problems that an operator must solve. */
const FATAL = 1;

interface Gap {
  after: string;
  before: string;
  reason: string;
}

const SELECT_GAPS = `
  select encode(after_block_hash, 'hex') as after, encode(before_block_hash, 'hex') as before,
    reason from gaps order by recorded_at`;
const SELECT_BOOTSTRAPS = `
  select s.chain_index, encode(b.hash, 'hex') as hash from bootstrap_blocks s
    join blocks b on b.id = s.block_id order by s.chain_index`;

describe.skipIf(findKaspad() === undefined)('an indexer that was away for too long', () => {
  let peer: Peer;
  let load: Load;

  beforeAll(async () => {
    const kaspad = await Kaspad.start({ overrides: smallPruning });
    const node = new NodeClient({ url: kaspad.url, streams: 2, maxPauseMs: 200 });
    await node.waitUntilConnected();
    peer = { kaspad, node, name: new URL(kaspad.url).host };
    load = await Load.begin(node, { seed: 'gaps', paymentsPerBlock: PAYMENTS_PER_BLOCK, params: smallPruningLoad });
    await load.warmUp(SMALL_WARM_UP_BLOCKS);
    await load.run({ blocks: BLOCKS_BEFORE_THE_GAP });
  });

  afterAll(async () => {
    await peer?.node.close();
    await peer?.kaspad.stop();
  });

  test('stops with advice, and with ON_GAP=record records a gap and continues, twice', async () => {
    const index = await startIndex([peer], p2pOf(peer));
    await untilIndexed(index, peer);
    const first = await awayUntilPruned(index);

    // ON_GAP=stop is the default.
    index.indexer = startIndexing(index.database, [peer], p2pOf(peer));
    expect(await index.indexer.exited, index.indexer.output()).toBe(FATAL);
    expect(index.indexer.output()).toMatch(/no longer knows block \w+.*ON_GAP=record/);
    expect(await gapsOf(index)).toEqual([]);

    await recordGap(index);
    const genesis = (await bootstrapsOf(index))[0]?.hash;
    expect(await gapsOf(index)).toMatchObject([{ after: first.checkpoint, before: first.pruningPoint }]);
    expect((await bootstrapsOf(index)).map(({ hash }) => hash)).toEqual([genesis, first.pruningPoint]);
    await expectStateRight(index, peer);

    const second = await awayUntilPruned(index);
    await recordGap(index);
    expect(await gapsOf(index)).toMatchObject([
      { after: first.checkpoint, before: first.pruningPoint },
      { after: second.checkpoint, before: second.pruningPoint },
    ]);
    expect((await bootstrapsOf(index)).map(({ hash }) => hash)).toEqual([
      genesis,
      first.pruningPoint,
      second.pruningPoint,
    ]);
    await expectStateRight(index, peer);
  });

  test('never shows half of a gap if it is killed at random moments of the bootstrap after it', async () => {
    const index = await startIndex([peer], p2pOf(peer));
    await untilIndexed(index, peer);
    const { checkpoint, pruningPoint } = await awayUntilPruned(index);
    for (const afterMs of [900, 1_100, 1_300, 1_500, 1_700]) {
      index.indexer = startIndexing(index.database, [peer], { ...p2pOf(peer), ON_GAP: 'record' });
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await index.indexer.kill();
      const [gaps, starts] = [await gapsOf(index), await bootstrapsOf(index)];
      expect([0, 1]).toContain(gaps.length);
      expect(starts).toHaveLength(gaps.length + 1);
    }
    await recordGap(index);
    expect(await gapsOf(index)).toMatchObject([{ after: checkpoint, before: pruningPoint }]);
    await expectStateRight(index, peer);
  });

  test('records a gap to a node with another chain', async () => {
    const index = await startIndex([peer], p2pOf(peer));
    await untilIndexed(index, peer);
    await index.indexer.stop();
    const other = await startPeer({ overrides: smallPruning });
    const otherLoad = await Load.begin(other.node, {
      seed: 'another chain',
      paymentsPerBlock: PAYMENTS_PER_BLOCK,
      params: smallPruningLoad,
    });
    await otherLoad.warmUp(BLOCKS_UNTIL_PRUNED);
    await more(otherLoad, 100);
    // An index can continue only above its bootstrap block.
    const start = (await bootstrapsOf(index)).at(-1)?.hash ?? '';
    await pruneAbove(other, otherLoad, await blueScoreAt(peer, start));

    index.indexer = startIndexing(index.database, [other], p2pOf(other));
    expect(await index.indexer.exited, index.indexer.output()).toBe(FATAL);
    expect(index.indexer.output()).toContain('ON_GAP=record');
    index.indexer = startIndexing(index.database, [other], { ...p2pOf(other), ON_GAP: 'record' });
    await untilIndexed(index, other);
    expect(await gapsOf(index)).toMatchObject([{ before: await pruningPointOf(other) }]);
    await expectStateRight(index, other, otherLoad);
  });

  /** Mines until the pruning point is above the checkpoint. */
  async function awayUntilPruned(index: Index): Promise<{ checkpoint: string; pruningPoint: string }> {
    await index.indexer.stop();
    const checkpoint = await sinkOf(peer);
    await more(load, BLOCKS_WHILE_AWAY);
    await pruneAbove(peer, load, await blueScoreAt(peer, checkpoint));
    return { checkpoint, pruningPoint: await pruningPointAtRest() };
  }

  /** Waits for the node's pruning, which runs in the background and may take several steps. */
  async function pruningPointAtRest(): Promise<string> {
    let [before, now] = ['', await pruningPointOf(peer)];
    while (before !== now) {
      await new Promise((resolve) => setTimeout(resolve, AT_REST_MS));
      [before, now] = [now, await pruningPointOf(peer)];
    }
    return now;
  }

  async function recordGap(index: Index): Promise<void> {
    index.indexer = startIndexing(index.database, [peer], { ...p2pOf(peer), ON_GAP: 'record' });
    await untilIndexed(index, peer);
  }

  /** Expects the state of a fresh index and of the node after some more blocks. */
  async function expectStateRight(index: Index, of: Peer, itsLoad = load): Promise<void> {
    const { pool } = index.database;
    await more(itsLoad, 20);
    await untilIndexed(index, of);
    const fresh = await snapshotOfFreshIndex(of.kaspad.url, of.node, p2pOf(of));
    expect(differencesOf(stateOf(fresh), stateOf(await takeSnapshot(pool)))).toEqual([]);
    expect(await checkInvariant3(pool, of.node)).toEqual([]);
    await expectStateOfNode(index, of, [itsLoad]);
    expect(await checkUtxoCommitment(pool)).toEqual([]);
    await expectSound(index);
  }
});

async function blueScoreAt({ node }: Peer, hash: string): Promise<bigint> {
  const { block } = await node.call('getBlock', { hash, includeTransactions: false });
  return block?.header?.blueScore ?? 0n;
}

/** Mines empty blocks until the pruning point is above a blue score. */
async function pruneAbove(node: Peer, itsLoad: Load, blueScore: bigint): Promise<void> {
  await until(async () => {
    await moreEmpty(itsLoad, 40);
    return (await blueScoreAt(node, await pruningPointOf(node))) > blueScore;
  }, `nothing above blue score ${blueScore} is pruned`);
}

async function gapsOf({ database }: Index): Promise<Gap[]> {
  return (await database.pool.query<Gap>(SELECT_GAPS)).rows;
}

async function bootstrapsOf({ database }: Index): Promise<{ chain_index: bigint; hash: string }[]> {
  return (await database.pool.query<{ chain_index: bigint; hash: string }>(SELECT_BOOTSTRAPS)).rows;
}
