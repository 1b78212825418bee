/**
 * Each transaction may name another subnetwork (a lane), so an index keeps only some of them in
 * memory and looks up the others.
 */
import { toHex, type TransactionInput } from '@kasgres/kaspa';
import { checkInvariant4 } from '@kasgres/verification';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { atRest, expectRight, createHarness } from '../support/harness.ts';
import { mineRewards, payInLane } from '../support/lane-payments.ts';
import { startIndexing, type SimulatedDag } from '../support/simulated-dag.ts';

const LANES = 40;
/** Memory for two subnetworks and two variants. */
const SMALL_MEMORY = { memoryTransactions: '64', batchTransactions: '20' };

test('an index with room for two subnetworks in memory indexes forty, each under one key, also after restarts', async () => {
  const harness = await createHarness('lanes');
  const { simulatedDag, database, node } = harness;
  mineRewards(simulatedDag, LANES);
  for (let round = 0; round < 3; round += 1) {
    const indexer = startIndexing(simulatedDag, database.url, SMALL_MEMORY);
    if (round > 0) await atRest(database, node, indexer);
    for (let lane = 0; lane < LANES; lane += 1) payInLane(simulatedDag, lane);
    await atRest(database, node, indexer);
    await indexer.stop();
  }
  const { rows } = await database.pool.query<{ payments: number; lanes: number }>(
    `select count(*)::integer as payments, count(distinct s.subnetwork_id)::integer as lanes
       from transactions t join subnetworks s on s.id = t.subnetwork_id
      where lane_namespace(s.subnetwork_id) is not null`,
  );
  expect(rows).toEqual([{ payments: 3 * LANES, lanes: LANES }]);
  await expectRight(harness);
});

test('sums, first and last times of lanes follow the chain through reorgs', async () => {
  const harness = await createHarness('sums of lanes');
  const { simulatedDag, database, node } = harness;
  mineRewards(simulatedDag, LANES);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  for (let round = 0; round < 10; round += 1) {
    // Lane 0 is on every branch, the others are on some: a reorg removes all of a lane, or its last
    // transactions, or replaces them.
    payInLane(simulatedDag, 0);
    payInLane(simulatedDag, 1 + (round % 5));
    simulatedDag.mine(1);
    await atRest(database, node, indexer);
    expect(await lanesOf(database.pool)).toEqual(expectedLanes(simulatedDag));
    if (round % 2 === 1) simulatedDag.reorganise(1 + round);
    await atRest(database, node, indexer);
    expect(await lanesOf(database.pool)).toEqual(expectedLanes(simulatedDag));
    expect(await checkInvariant4(database.pool)).toEqual([]);
  }
  await indexer.stop();
  expect((await lanesOf(database.pool)).length).toBeGreaterThan(2);
  await expectRight(harness);
});

const sum = (outputs: readonly { amount: bigint }[]): bigint =>
  outputs.reduce((total, { amount }) => total + amount, 0n);

interface Lane {
  namespace: string;
  transactions: number;
  gas: string;
  fees: string;
  firstSeen: string;
  lastSeen: string;
}

async function lanesOf(pool: Pool): Promise<Lane[]> {
  const { rows } = await pool.query<Lane>(
    `select lane_namespace(n.subnetwork_id) as namespace,
       transaction_count::integer as transactions, gas::text, fees::text,
       first_seen::text as "firstSeen", last_seen::text as "lastSeen"
     from lanes l join subnetworks n on n.id = l.subnetwork_id order by 1`,
  );
  return rows;
}

/** Sums up the chain of the node. */
function expectedLanes({ node }: SimulatedDag): Lane[] {
  const lanes = new Map<string, Lane>();
  const spent = ({ previousOutpoint: { transactionId, index } }: TransactionInput) =>
    node.dag.findTransaction(toHex(transactionId))?.outputs[index] ?? { amount: 0n };
  let chainTime = 0n;
  for (const { header, accepted = [] } of node.dag.chainBlocks) {
    if (header.timestamp > chainTime) chainTime = header.timestamp;
    for (const { subnetworkId, gas, inputs, outputs } of accepted.map(({ transaction }) => transaction)) {
      const id = toHex(subnetworkId);
      if (/^0[01]0+$/.test(id)) continue;
      const namespace = id.slice(0, 8);
      const time = String(chainTime);
      const lane = lanes.get(namespace) ?? {
        namespace,
        transactions: 0,
        gas: '0',
        fees: '0',
        firstSeen: time,
        lastSeen: time,
      };
      lanes.set(namespace, {
        ...lane,
        transactions: lane.transactions + 1,
        gas: String(BigInt(lane.gas) + gas),
        fees: String(BigInt(lane.fees) + sum(inputs.map(spent)) - sum(outputs)),
        lastSeen: time,
      });
    }
  }
  return [...lanes.values()].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
}
