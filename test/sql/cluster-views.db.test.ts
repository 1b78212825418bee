/**
 * The views of cluster evidence, compared with what the node's DAG tells (test/cookbook/names.ts):
 * why addresses are together, whose tags do not agree, and which merges wait for a person.
 */
import { approveCluster, listClustersAtLimit, replaceSources, toAttribution, upsertTags } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type History, known, readHistory } from '../cookbook/history.ts';
import { clustersAndNames } from '../cookbook/names.ts';
import { cluster } from '../simulation/clusters-harness.ts';
import { atRest, SEED } from '../support/harness.ts';
import { SimulatedDag, startIndexing } from '../support/simulated-dag.ts';

const LIMIT = 4;

let simulatedDag: SimulatedDag;
let database: TestDatabase;
let history: History;

beforeAll(async () => {
  console.log(`SEED=${SEED} (cluster views)`);
  simulatedDag = await SimulatedDag.start(`${SEED} cluster views`);
  const node = new NodeClient({ url: simulatedDag.server.url });
  database = await createTestDatabase();
  simulatedDag.mine(150);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  await node.close();
  history = readHistory(simulatedDag.node);
  await cluster(database, { depth: 0n, sizeLimit: BigInt(LIMIT) });
});
afterAll(async () => {
  simulatedDag.stop();
  await database.drop();
});

type Row = Record<string, unknown>;

const ask = async (query: string): Promise<Row[]> => (await database.pool.query<Row>(query)).rows;
/** Rows that can be compared in any order. */
const lines = (rows: readonly Row[]): string[] =>
  rows
    .map((row) => JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)))
    .sort();

test('it shows the merges of each cluster, and those that the size limit holds', async () => {
  const { clusters, merges, held } = clustersAndNames(history, [], LIMIT);
  const rootOf = new Map(clusters.flatMap(({ root, members }) => [...members].map((member) => [member, root])));
  expect(lines(await ask('select * from kaspa.cluster_merges'))).toEqual(
    lines(
      merges.map((merge, index) => ({
        id: index + 1,
        transaction_id: merge.transaction.id,
        address: merge.address,
        merged_address: merge.mergedAddress,
        cluster: merge.cluster,
        merged_cluster: merge.mergedCluster,
      })),
    ),
  );
  expect(lines(await ask('select * from kaspa.cluster_evidence'))).toEqual(
    lines(
      merges.map((merge, index) => ({
        cluster: rootOf.get(merge.address),
        id: index + 1,
        transaction_id: merge.transaction.id,
        accepted_at: new Date(known(merge.transaction.acceptedBy).time),
        address: merge.address,
        merged_address: merge.mergedAddress,
        was_held: false,
      })),
    ),
  );
  const rows = await ask('select * from kaspa.held_merges');
  expect(
    lines(
      rows.map(({ cluster: one, other_cluster: other, ...row }) => {
        delete row['id'];
        return { ...row, clusters: [String(one), String(other)].sort() };
      }),
    ),
  ).toEqual(
    lines(
      held.map((merge) => ({
        state: 'held',
        transaction_id: merge.transaction.id,
        accepted_at: new Date(known(merge.transaction.acceptedBy).time),
        address: merge.address,
        other_address: merge.otherAddress,
        transactions: merge.transactions,
        clusters: merge.clusters,
      })),
    ),
  );
  expect(merges.length).toBeGreaterThan(10);
  expect(held.length).toBeGreaterThan(3);
  expect(Math.max(...held.map(({ transactions }) => transactions))).toBeGreaterThan(1);
});

test('it shows one row for each name of a cluster whose tags do not agree', async () => {
  const large = clustersAndNames(history, [], LIMIT).clusters.filter(({ members }) => members.size > 2);
  const [conflicting, agreeing, single] = large.map(({ members }) => [...members]);
  const tags = [
    ...known(conflicting).map((address, index) => ({ address, name: index === 0 ? 'Harbour' : 'Lighthouse' })),
    ...known(agreeing).map((address) => ({ address, name: 'Quay' })),
    { address: known(single?.[0]), name: 'Jetty' },
  ];
  await upsertTags(
    database.pool,
    tags.map((tag) => ({ ...tag, link: '', labels: [] })),
  );
  const { root, members } = known(large[0]);
  expect(lines(await ask('select * from kaspa.cluster_name_conflicts'))).toEqual(
    lines([
      { cluster: root, size: members.size, name: 'Harbour', addresses: 1 },
      { cluster: root, size: members.size, name: 'Lighthouse', addresses: members.size - 1 },
    ]),
  );
  const named = await ask('select cluster, name from kaspa.clusters where name is not null');
  expect(lines(named)).toEqual(
    lines([
      { cluster: known(large[1]).root, name: 'Quay' },
      { cluster: known(large[2]).root, name: 'Jetty' },
    ]),
  );
});

test('it shows each name once where actors do not agree, also the only name of several actors', async () => {
  const large = clustersAndNames(history, [], LIMIT).clusters.filter(({ members }) => members.size > 2);
  const tags = [
    ['Harbour', 'harbour', 'Harbour', '', 'Lighthouse', 'lighthouse'],
    ['Quay', 'quay', 'Quay', 'other quay'],
    ['Jetty', 'jetty', 'The Jetty', 'jetty'],
  ].flatMap((namesAndActors, cluster) => {
    const members = [...known(large[cluster]).members];
    return members.slice(0, namesAndActors.length / 2).map((address, index) => ({
      ...toAttribution({ address, name: known(namesAndActors[2 * index]), link: '', labels: [] }),
      actor: known(namesAndActors[2 * index + 1]),
    }));
  });
  const source = { title: '', creator: '' };
  await replaceSources(database.pool, [
    { ...source, name: 'manual', attributions: [] },
    { ...source, name: 'pack', attributions: tags },
  ]);
  const conflictsOf = (cluster: number, names: Record<string, number>): Row[] => {
    const { root, members } = known(large[cluster]);
    return Object.entries(names).map(([name, addresses]) => ({ cluster: root, size: members.size, name, addresses }));
  };
  expect(lines(await ask('select * from kaspa.cluster_name_conflicts'))).toEqual(
    lines([...conflictsOf(0, { Harbour: 2, Lighthouse: 1 }), ...conflictsOf(1, { Quay: 2 })]),
  );
  expect(await ask('select cluster from kaspa.clusters where name is not null')).toEqual([
    { cluster: known(large[2]).root },
  ]);
});

test('it shows approved merges as evidence of one cluster, until every address is reached', async () => {
  const before = await ask('select id, transaction_id from kaspa.held_merges');
  for (let round = 0; round < 20; round += 1) {
    const atLimit = await listClustersAtLimit(database.kysely);
    if (atLimit.length === 0) break;
    for (const { address = '' } of atLimit) await approveCluster(database.kysely, address, 1_000n);
    await cluster(database, { depth: 0n, sizeLimit: BigInt(LIMIT) });
  }
  const { clusters } = clustersAndNames(history, []);
  const evidence = await ask('select * from kaspa.cluster_evidence');
  expect(evidence).toHaveLength(clusters.reduce((sum, { members }) => sum + members.size - 1, 0));
  const byCluster = Map.groupBy(evidence, (row) => String(row['cluster']));
  const reached = [...byCluster.values()].map((rows) => {
    const addresses = new Set([String(rows[0]?.['address'])]);
    for (const _ of rows) {
      for (const { address, merged_address: merged } of rows) {
        if (addresses.has(String(address))) addresses.add(String(merged));
        if (addresses.has(String(merged))) addresses.add(String(address));
      }
    }
    return [...addresses].sort().join();
  });
  expect(reached.sort()).toEqual(clusters.map(({ members }) => [...members].sort().join()).sort());
  for (const { transaction_id: id, accepted_at: at, address, merged_address: merged } of evidence) {
    const { inputs, acceptedBy } = known(history.transactions.get(String(id)));
    const spent = new Set(inputs.map((utxo) => utxo?.address));
    expect([spent.has(String(address)), spent.has(String(merged))]).toEqual([true, true]);
    expect(at).toEqual(new Date(known(acceptedBy).time));
  }
  const approved = evidence.filter(({ was_held: wasHeld }) => wasHeld);
  const heldIds = new Set(before.map(({ transaction_id: id }) => id));
  expect(approved.length).toBeGreaterThan(3);
  expect(approved.filter(({ transaction_id: id }) => !heldIds.has(id))).toEqual([]);
  expect(await ask(`select state from kaspa.held_merges where state <> 'merged'`)).toEqual([]);
});
