/**
 * The node of a running indexer stops, is killed, or loses its data: the indexer waits, and
 * continues with it (invariant 5).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findKaspad } from '../support/kaspad.ts';
import { Random } from '@kasgres/devnet';
import {
  startLoad,
  blueScoreOf,
  restartPeer,
  retryVariants,
  expectNoProgress,
  expectRight,
  isolate,
  joinSlowly,
  loadThroughOutages,
  more,
  sinkOf,
  startIndex,
  startPair,
  startPeer,
  until,
  untilIndexed,
  untilSameSink,
  untilLogged,
  watchCheckpoint,
} from './harness.ts';

const RESTARTS = 4;
const LONGEST_MS = 1_500;
/** So slow that the indexer meets a node with all headers and few blocks. */
const SLOW = { bytesPerSecond: 120_000 };

describe.skipIf(findKaspad() === undefined)('an indexer whose node restarts', () => {
  test.for([
    ['SIGINT', 'ended'],
    ['SIGKILL', 'killed'],
  ] as const)(`%s: ${RESTARTS} times in the middle of the load`, async ([signal]) => {
    const random = new Random(`restarts ${signal}`);
    const peer = await startPeer();
    const load = await startLoad(peer, `restarted ${signal}`, 150);
    const index = await startIndex([peer]);
    await untilIndexed(index, peer);
    const done = new AbortController();
    const loading = loadThroughOutages(load, done.signal);
    for (let restarts = 0; restarts < RESTARTS; restarts += 1) {
      await sleep(random.below(LONGEST_MS));
      await peer.kaspad.halt(signal);
      await sleep(random.below(LONGEST_MS));
      await restartPeer(peer);
    }
    done.abort();
    await loading;
    await more(load, 30);
    await retryVariants(index, peer, load);
    await expectRight(index, peer);
  });

  test('waits for a wiped node that gets everything from a peer, and reverts nothing', async () => {
    const [peer, other] = await startPair();
    const load = await startLoad(peer, 'wiped', 250);
    const index = await startIndex([peer]);
    await untilSameSink(peer, other);
    await untilIndexed(index, peer);

    await peer.kaspad.wipe();
    await restartPeer(peer);
    await untilLogged(index, 'The node is behind this database');
    await expectNoProgress(index, 1_000);
    const watch = watchCheckpoint(index);
    await joinSlowly(peer, other, SLOW);
    await untilLogged(index, 'has no more than the header of block');
    await untilSameSink(peer, other);
    await more(load, 30);
    await untilIndexed(index, peer);
    await watch.expectNoReorg();
    await expectRight(index, peer);
  });

  test('reverts its newest blocks if the wiped node gets its state from a peer without them', async () => {
    const [peer, other] = await startPair();
    const load = await startLoad(peer, 'orphaned', 150);
    const index = await startIndex([peer]);
    await untilSameSink(peer, other);
    await isolate(other);
    await more(load, 40);
    await untilIndexed(index, peer);
    const orphaned = { sink: await sinkOf(peer), blueScore: await blueScoreOf(peer) };

    await peer.kaspad.wipe();
    await restartPeer(peer);
    await peer.kaspad.join(other.kaspad.p2pUrl);
    await untilSameSink(peer, other);
    // While the node has less work than the index, the rest may still come.
    await expectNoProgress(index, 2_000);
    const newLoad = await startLoad(peer, 'after the orphans', 0);
    await until(async () => {
      await more(newLoad, 5);
      return (await blueScoreOf(peer)) > orphaned.blueScore + 20n;
    }, 'the load does not get beyond what was lost');
    await expectRight(index, peer);
    const { rows } = await index.database.pool.query<{ is_chain_block: boolean }>(
      `select is_chain_block from blocks where hash = decode($1, 'hex')`,
      [orphaned.sink],
    );
    expect(rows).toEqual([{ is_chain_block: false }]);
  });

  test('bootstraps an index at a node that is still in its initial download', async () => {
    const [peer, other] = [await startPeer(), await startPeer()];
    const load = await startLoad(other, 'initial download', 250);
    const index = await startIndex([peer]);
    await joinSlowly(peer, other, SLOW);
    await untilSameSink(peer, other);
    await more(load, 20);
    await untilSameSink(peer, other);
    await expectRight(index, peer);
  });
});
