/** The node under a running indexer ends, is killed, or loses all that it had: the indexer waits, and goes on with it (invariant 5). */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findKaspad } from '../support/kaspad.ts';
import { Random } from './load/random.ts';
import {
  startLoad,
  blueScoreOf,
  restartPeer,
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
/** So slow that the indexer meets a node that has the headers, and few of the bodies. */
const SLOW = { bytesPerSecond: 120_000 };

describe.skipIf(findKaspad() === undefined)('a node that starts anew', () => {
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
    await expectRight(index, peer);
  });

  test('wiped, it has everything again from a peer: the indexer waits, and undoes nothing', async () => {
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

  test('wiped, it is joined by a peer that never got our newest blocks: they are taken back', async () => {
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
    // As long as it has less than we have, the rest may still come.
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

  test('an index begins on a node that is still in its initial download', async () => {
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
