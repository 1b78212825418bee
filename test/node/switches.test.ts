/** Several nodes in NODE_URL: the one that is followed dies, and the next is ahead, behind, on another branch or of another network (invariants 5 and 10). */
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

/** Long enough that every node in turn is asked several times. */
const PATIENCE_MS = 3_000;

describe.skipIf(findKaspad() === undefined)('the node that is followed dies, and the next', () => {
  test('is ahead, in turn: it is followed', async () => {
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

  test('is behind: it is waited for until it has caught up', async () => {
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

  test('is behind: the first is taken again', async () => {
    const [first, second] = await startPair();
    const load = await startLoad(first, 'behind for good', 150);
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

  test('has a heavier branch, and both are joined then: a reorganisation', async () => {
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
    // The first merges its own branch, which the second gets to know so.
    await more(load, 20);
    await more(secondLoad, 20);
    await untilSameSink(first, second);
    await expectRight(index, first);
    await expectRight(index, second);
  });

  test('has a heavier branch, and stays the only one: what it does not know is taken back', async () => {
    const [first, second] = await startPair();
    const load = await startLoad(first, 'branch for good', 150);
    const index = await startIndex([first, second]);
    await untilSameSink(first, second);
    await isolate(second);
    await more(load, 30);
    await untilIndexed(index, first);
    await startLoad(second, 'branch for good, second', 60);
    expect(await blueScoreOf(second)).toBeGreaterThan(await blueScoreOf(first));
    await first.kaspad.halt('SIGKILL');
    await expectRight(index, second);
  });

  test('is of another network: it is refused, and nothing of it lands', async () => {
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
