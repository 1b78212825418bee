/**
 * Covenants and programs of a real node, whose indexer follows from the first block and is killed three times, with competing blocks: the index has
 * what is true by the accepted transactions, and equals a fresh one (invariants 4 and 5).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@kasgres/devnet';
import type { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { expectInvariants, snapshotOfFreshIndex } from '../support/harness.ts';
import { findKaspad } from '../support/kaspad.ts';
import { startIndex, startIndexing, startPeer, untilIndexed } from './harness.ts';
import { CovenantLoad, type CovenantFacts } from './load/covenant-load.ts';

const { COVENANT_SEEDS = '1,2,3' } = process.env;
const ROUNDS = 200;
const KILLS = 3;
const MOST_MS_TO_KILL = 4_000;

describe.skipIf(findKaspad() === undefined)('an index of covenants', () => {
  test.for(COVENANT_SEEDS.split(','))('it has what is true, with the seed %s', async (seed) => {
    const peer = await startPeer();
    const random = new Random(seed, 'kills');
    const index = await startIndex([peer]);
    const load = new CovenantLoad(peer.node, seed);
    const loading = (async () => {
      await load.warmUp();
      for (let round = 0; round < ROUNDS; round += 1) await load.round();
      await load.settle();
    })();
    loading.catch(() => undefined);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(1_000 + random.below(MOST_MS_TO_KILL));
      await index.indexer.kill();
      index.indexer = startIndexing(index.database, [peer]);
    }
    await loading;
    await untilIndexed(index, peer);
    const { pool } = index.database;
    expect(await readIndexed(pool)).toEqual(await load.facts());
    await expectInvariants(pool, peer.node);
    expect(differencesOf(await snapshotOfFreshIndex(peer.kaspad.url, peer.node), await takeSnapshot(pool))).toEqual([]);
  });
});

async function readIndexed(pool: Pick<Pool, 'query'>): Promise<CovenantFacts> {
  const { rows: events } = await pool.query<{ covenantId: string; transactionId: string; kind: string }>(
    `select covenant_id as "covenantId", transaction_id as "transactionId", kind from kaspa.covenant_events order by chain_index, position`,
  );
  const { rows: utxos } = await pool.query<{ key: string; covenantId: string; amount: bigint }>(
    `select transaction_id || ':' || index as key, covenant_id as "covenantId", amount_sompi as amount from kaspa.covenant_utxos`,
  );
  const { rows: programs } = await pool.query<{ hash: string }>('select hash from kaspa.programs where not is_bare');
  return {
    events: new Map(
      [...Map.groupBy(events, ({ covenantId }) => covenantId)].map(([covenantId, ofCovenant]) => [
        covenantId,
        ofCovenant.map(({ transactionId, kind }) => ({ transactionId, kind })),
      ]),
    ),
    utxos: new Map(utxos.map(({ key, ...utxo }) => [key, utxo])),
    programs: new Set(programs.map(({ hash }) => hash)),
  };
}
