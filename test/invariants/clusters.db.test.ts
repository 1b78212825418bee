/**
 * The check of invariant 12 finds every manual change of correct clusters. Each change is rolled
 * back.
 */
import { upsertTags } from '@kasgres/database';
import { checkInvariant12 } from '@kasgres/verification';
import { expect, test } from 'vitest';
import { cluster } from '../simulation/clusters-harness.ts';
import { atRest, createHarness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

const LARGEST = '(select id from clusters order by size desc, id limit 1)';
const A_LEAF = `(select max(script_id) from cluster_members m where parent_id = ${LARGEST}
  and not exists (select from cluster_members below where below.parent_id = m.script_id))`;
const LAST_MERGE = '(select max(id) from cluster_merges)';

const STATEMENTS = [
  `update clusters set size = size + 1 where id = ${LARGEST}`,
  `update clusters set balance = balance + 1 where id = ${LARGEST}`,
  `update clusters set name = 'somebody' where id = (select id from clusters where name is null limit 1)`,
  `update clusters set name = null where name is not null`,
  `delete from clusters where id = ${LARGEST}`,
  `insert into clusters (id, size, balance) select max(script_id) + 1, 2, 0 from balances`,
  `update cluster_members set parent_id = null, merge_id = null where script_id = ${A_LEAF}`,
  `update cluster_members set parent_id = script_id where script_id = ${A_LEAF}`,
  `update cluster_members set parent_id = (select min(id) from clusters where id <> ${LARGEST})
    where script_id = ${A_LEAF}`,
  `update cluster_members set merge_id = ${LAST_MERGE} + 1 where script_id = ${A_LEAF}`,
  `update cluster_members set next_id = script_id where script_id = ${A_LEAF}`,
  `update cluster_members set previous_id = script_id where script_id = ${A_LEAF}`,
  // These are separate rings with consistent pointers.
  `update cluster_members set next_id = script_id, previous_id = script_id`,
  // These two rings lead into each other.
  `with swapped as (select a.id as one, b.id as other from clusters a, clusters b where a.id <> b.id limit 1)
   update cluster_members m set
     next_id = case m.script_id when one
       then (select next_id from cluster_members where script_id = other)
       when other then (select next_id from cluster_members where script_id = one)
         else m.next_id end,
     previous_id = case m.previous_id when one then other when other then one else m.previous_id end
   from swapped where m.script_id in (one, other) or m.previous_id in (one, other)`,
  `delete from cluster_members where script_id = ${A_LEAF}`,
  `delete from cluster_merges where id = ${LAST_MERGE}`,
  `update cluster_merges set cluster_id = merged_cluster_id, merged_cluster_id = cluster_id where id = ${LAST_MERGE}`,
  `update cluster_merges set script_id = merged_script_id where id = ${LAST_MERGE}`,
  `update cluster_merges set transaction_id = (select min(id) from transactions) where id = ${LAST_MERGE}`,
  `update cluster_merges set chain_index = chain_index - 1 where id = ${LAST_MERGE}`,
  `update clustering set next_merge_id = next_merge_id - 1`,
  `update clustering set chain_index = 1, block_id = (select block_id from chain_blocks where index = 1)`,
  `update cluster_names set addresses = addresses + 1`,
  `delete from cluster_names`,
  `update tags set name = 'another' where address = (select s.address from tags join scripts s using (address)
     join cluster_members m on m.script_id = s.id limit 1)`,
  `update tags set link = 'https://example.org' where address = (select min(address) from tags)`,
  `update attributions set name = 'another' where address = (select min(address) from tags)`,
  `delete from attributions where address = (select min(address) from tags)`,
  `insert into attributions (source_id, address, name, confidence_level)
   select source_id, address, 'surer', 90 from attributions
     where address = (select min(address) from tags)`,
  `delete from tag_sources`,
  `delete from tag_labels where address = (select min(address) from tags)`,
  `insert into held_merges values (1, 1, 1, (select min(id) from clusters),
    (select max(id) from clusters), 'merged', 1)`,
  `insert into held_merges values (1, 1, 1, (select min(id) from clusters),
    (select max(id) from clusters), 'held', null, 1, 2, 2)`,
  `insert into held_merge_repeats values (1, 1, 1)`,
];

test('the check of invariant 12 finds every manual change of clusters', async () => {
  const { simulatedDag, database, node } = await createHarness('clusters tampered');
  simulatedDag.mine(120);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  const { rows: some } = await database.pool.query<{ address: string }>(
    'select address from scripts where address is not null order by id limit 20',
  );
  const tag = { name: 'the exchange', link: '', labels: ['exchange'] };
  await upsertTags(
    database.pool,
    some.map(({ address }) => ({ ...tag, address })),
  );
  await cluster(database, { depth: 0n });
  const { rows } = await database.pool.query('select from clusters where name is not null');
  expect(rows).not.toEqual([]);

  const client = await database.pool.connect();
  try {
    expect(await checkInvariant12(client)).toEqual([]);
    for (const statement of STATEMENTS) {
      await client.query('begin');
      expect((await client.query(statement)).rowCount, statement).toBeGreaterThan(0);
      expect(await checkInvariant12(client), statement).not.toEqual([]);
      await client.query('rollback');
    }
  } finally {
    client.release();
  }
});
