/**
 * Invariant 13 on a real node: the indexer removes the oldest part of the chain while it follows
 * the node through reorgs.
 */
import { createTestDatabase } from '@kasgres/database/testing';
import { expect, onTestFinished, test } from 'vitest';
import { expectBootstrappedAtFirst, firstIndex } from '../simulation/retention-oracle.ts';
import { expectInvariants, untilAtRest } from '../support/harness.ts';
import { findKaspad } from '../support/kaspad.ts';
import { more, startIndex, startIndexing, startLoad, startPeer, untilIndexed } from './harness.ts';

const RETENTION = { FINALITY_DEPTH: '200', PRUNING_DEPTH: '250', RETENTION: '400', CLUSTER_DEPTH: '50' };
const CUTS = 3;

test.skipIf(findKaspad() === undefined)(
  'an index with retention equals one that was bootstrapped at its first block',
  async () => {
    const peer = await startPeer();
    const load = await startLoad(peer, 'retention', 300);
    const index = await startIndex([peer], RETENTION);
    await untilIndexed(index, peer);
    let first = 0;
    for (let cuts = 0; cuts < CUTS; ) {
      await more(load, 40);
      await untilIndexed(index, peer);
      const now = await firstIndex(index.database);
      if (now > first) cuts += 1;
      first = now;
    }
    await expectInvariants(index.database.pool, peer.node);

    const whole = await createTestDatabase();
    onTestFinished(() => whole.drop());
    const indexer = startIndexing(whole, [peer], { CLUSTER_DEPTH: RETENTION.CLUSTER_DEPTH });
    await untilAtRest(whole.pool, peer.node, indexer);
    await indexer.stop();
    await index.indexer.stop();
    await expectBootstrappedAtFirst(index.database, whole);
    const { rows } = await index.database.pool.query<{ detached: number }>(
      `select count(*)::int as detached from pg_class where relname ~ '^blocks_(kept_)?[0-9]+$' and not relispartition`,
    );
    expect(rows).toEqual([{ detached: 0 }]);
  },
);
