/**
 * Several nodes in NODE_URL: the current one dies, and the next is ahead, behind, on another branch
 * or of another network (invariants 5 and 10).
 */
import { describe, expect, test } from 'vitest';
import { findKaspad } from '../support/kaspad.ts';
import {
  startLoad,
  blueScoreOf,
  restartPeer,
  expectNoProgress,
  expectRight,
  isolate,
  more,
  startIndex,
  startPair,
  startPeer,
  until,
  untilIndexed,
  untilSameSink,
  untilLogged,
} from './harness.ts';

/** Long enough for several attempts at every node. */
const PATIENCE_MS = 3_000;

describe.skipIf(findKaspad() === undefined)('an indexer whose node dies', () => {
  test('fails over to the next node, which is ahead, and back', async () => {
    const [first, second] = await startPair();
    const load = await startLoad(first, 'ahead', 150);
    const index = await startIndex([first, second]);
    await untilIndexed(index, first);
    await untilSameSink(first, second);

    await first.kaspad.halt('SIGKILL');
    const secondLoad = await startLoad(second, 'ahead, second', 60);
    await untilIndexed(index, second);
    await expectRight(index, second);

    await restartPeer(first);
    await first.kaspad.join(second.kaspad.p2pUrl);
    await untilSameSink(first, second);
    await more(secondLoad, 20);
    await untilSameSink(first, second);
    await second.kaspad.halt('SIGKILL');
    await more(load, 60);
    await expectRight(index, first);
  });

  test('waits for the next node, which is behind', async () => {
    const [first, second] = await startPair();
    const third = await startPeer();
    await third.kaspad.join(first.kaspad.p2pUrl);
    const load = await startLoad(first, 'behind', 150);
    const index = await startIndex([first, second]);
    await untilSameSink(first, second);
    await isolate(second);
    await more(load, 120);
    await untilSameSink(first, third);
    await untilIndexed(index, first);

    await first.kaspad.halt('SIGKILL');
    await untilLogged(index, 'The node is behind this database');
    await expectNoProgress(index, PATIENCE_MS);
    await second.kaspad.join(third.kaspad.p2pUrl);
    await untilSameSink(second, third);
    await startLoad(second, 'behind, second', 30);
    await expectRight(index, second);
  });

  test('returns to its first node if the next is behind', async () => {
    const [first, second] = await startPair();
    const load = await startLoad(first, 'behind', 150);
    const index = await startIndex([first, second]);
    await untilSameSink(first, second);
    await isolate(second);
    await more(load, 60);
    await untilIndexed(index, first);

    await first.kaspad.halt();
    await untilLogged(index, 'The node is behind this database');
    await expectNoProgress(index, PATIENCE_MS);
    await restartPeer(first);
    await more(load, 40);
    await expectRight(index, first);
  });

  test('reorganises to a heavier branch of the next node, also when the nodes connect', async () => {
    const [first, second] = await startPair();
    const load = await startLoad(first, 'branch', 150);
    const index = await startIndex([first, second]);
    await untilSameSink(first, second);
    await isolate(second);
    await more(load, 30);
    await untilIndexed(index, first);
    const secondLoad = await startLoad(second, 'branch, second', 60);
    expect(await blueScoreOf(second)).toBeGreaterThan(await blueScoreOf(first));

    await first.kaspad.halt('SIGKILL');
    await untilLogged(index, second.name);
    await more(secondLoad, 20);
    await restartPeer(first);
    await first.kaspad.join(second.kaspad.p2pUrl);
    await untilSameSink(first, second);
    // The first node merges its own branch, and so the second gets it.
    await more(load, 20);
    await more(secondLoad, 20);
    await untilSameSink(first, second);
    await expectRight(index, first);
    await expectRight(index, second);
  });

  test('reverts the blocks that the next node, which is on a heavier branch, does not know', async () => {
    const [first, second] = await startPair();
    const load = await startLoad(first, 'branch', 150);
    const index = await startIndex([first, second]);
    await untilSameSink(first, second);
    await isolate(second);
    await more(load, 30);
    await untilIndexed(index, first);
    await startLoad(second, 'branch, second', 60);
    expect(await blueScoreOf(second)).toBeGreaterThan(await blueScoreOf(first));
    await first.kaspad.halt('SIGKILL');
    await expectRight(index, second);
  });

  test('refuses a next node of another network', async () => {
    const [first, other] = [await startPeer(), await startPeer({ network: 'devnet' })];
    const load = await startLoad(first, 'another network', 150);
    const index = await startIndex([first, other]);
    await untilIndexed(index, first);
    await first.kaspad.halt();
    await untilLogged(index, other.name);
    await untilLogged(index, /This database holds simnet, but the node is on devnet/);
    await expectNoProgress(index, PATIENCE_MS);
    await restartPeer(first);
    await more(load, 40);
    await until(async () => index.indexer.output().includes(`"to":"${first.name}"`), 'the first is not taken again');
    await expectRight(index, first);
  });
});
