/**
 * Covenants and programs of a real node, whose indexer follows from the first block and is killed
 * three times, with competing blocks. Then a second node's branch undoes the last rounds. Before
 * and after it, the index has what is true by the accepted transactions, and equals a fresh one
 * (invariants 4 and 5).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@kasgres/devnet';
import type { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { expectInvariants, snapshotOfFreshIndex } from '../support/harness.ts';
import { findKaspad } from '../support/kaspad.ts';
import { type Index, type Peer, sinkOf, startIndex, startIndexing, startPeer, untilIndexed } from './harness.ts';
import { CovenantLoad, type CovenantFacts } from './load/covenant-load.ts';
import { mineTemplate } from './load/miner.ts';
import { chainAbove, copyBlocks, moveToBranch } from './load/second-node.ts';

const { COVENANT_SEEDS = '1,2,3' } = process.env;
const ROUNDS = 200;
/** The depth of the reorg, in blocks of the chain. */
const DEPTH = 30;
const KILLS = 3;
const MOST_MS_TO_KILL = 4_000;

describe.skipIf(findKaspad() === undefined)('an index of covenants', () => {
  test.for(COVENANT_SEEDS.split(','))('it has what is true, with the seed %s', async (seed) => {
    const [peer, other] = [await startPeer(), await startPeer()];
    const random = new Random(seed, 'kills');
    const index = await startIndex([peer]);
    const load = new CovenantLoad(peer.node, seed);
    const loading = (async () => {
      await load.warmUp();
      for (let round = 0; round < ROUNDS; round += 1) await load.round();
      await load.settle();
      const fork = await copyBlocks(peer.node, other.node, '');
      while ((await chainAbove(peer.node, fork)) < DEPTH) await load.round();
      await load.settle();
      return fork;
    })();
    loading.catch(() => undefined);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(1_000 + random.below(MOST_MS_TO_KILL));
      await index.indexer.kill();
      index.indexer = startIndexing(index.database, [peer]);
    }
    const fork = await loading;
    const before = await load.facts();
    await expectFacts(index, peer, before);

    expect(await reorganise(peer, other, fork)).toBeGreaterThanOrEqual(DEPTH);
    const after = await load.facts();
    expect(after).not.toEqual(before);
    await expectFacts(index, peer, after);
  });
});

/**
 * Gives the node the branch of the other one, which gets more work. Returns how many blocks of its
 * chain that removes.
 */
async function reorganise(peer: Peer, other: Peer, fork: string): Promise<number> {
  while ((await blueWorkOf(other)) <= (await blueWorkOf(peer))) await mineTemplate(other.node);
  return await moveToBranch(peer.node, other.node, fork);
}

/**
 * The difficulty depends on the rate of blocks, so that a branch with more blocks may have less
 * work.
 */
async function blueWorkOf(peer: Peer): Promise<bigint> {
  const { block } = await peer.node.call('getBlock', { hash: await sinkOf(peer), includeTransactions: false });
  return BigInt(`0x${block?.header?.blueWork}`);
}

async function expectFacts(index: Index, peer: Peer, facts: CovenantFacts): Promise<void> {
  await untilIndexed(index, peer);
  const { pool } = index.database;
  expect(await readIndexed(pool)).toEqual(facts);
  await expectInvariants(pool, peer.node);
  expect(differencesOf(await snapshotOfFreshIndex(peer.kaspad.url, peer.node), await takeSnapshot(pool))).toEqual([]);
}

async function readIndexed(pool: Pick<Pool, 'query'>): Promise<CovenantFacts> {
  const { rows: events } = await pool.query<{ covenantId: string; transactionId: string; kind: string }>(
    `select covenant_id as "covenantId", transaction_id as "transactionId", kind
      from kaspa.covenant_events order by chain_index, position`,
  );
  const { rows: utxos } = await pool.query<{ key: string; covenantId: string; amount: bigint }>(
    `select transaction_id || ':' || index as key, covenant_id as "covenantId",
      amount_sompi as amount from kaspa.covenant_utxos`,
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
