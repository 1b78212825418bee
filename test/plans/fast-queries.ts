/** The queries that docs/sql.md calls fast, and whether Postgres reads whole tables for them. */
import type { Pool } from 'pg';
import { explain, findFullReads, SMALL_TABLES } from './explain.ts';
import { SOME_PROGRAM, SOME_TEMPLATE } from './covenant-rows.ts';
import { memberOfLarge, PAID_BY_ALL } from './large-index-rows.ts';
import { addressOf } from './large-index.ts';
import type { Landmarks } from './requests.ts';

const FEW_BUFFERS = 100;

const from = (condition: string, views: string): string[] =>
  views.split(' ').map((view) => `select * from kaspa.${view} where ${condition}`);

interface Ranges {
  /** The large index has about five chain blocks an hour. */
  hours: number;
  chainBlocks: number;
}

/** Returns the queries that docs/sql.md calls fast. */
export function fastQueries(
  { transactionIds, covenantIds, fullBlock, chainBlock, ten }: Landmarks,
  { hours, chainBlocks }: Ranges,
): string[] {
  const [transactionId = ''] = transactionIds;
  const [covenantId = ''] = covenantIds;
  const until = new Date(Date.UTC(2026, 2, 1, hours)).toISOString();
  const ofHours = (column: string): string => `${column} >= '2026-03-01' and ${column} < '${until}'`;
  return [
    ...from(
      `transaction_id = '${transactionId}'`,
      'transactions accepted_transactions inputs outputs block_transactions address_transactions covenant_events',
    ),
    ...from(`transaction_id in ('${transactionIds.slice(0, 20).join(`', '`)}')`, 'transactions'),
    ...from(`hash = '${fullBlock}'`, 'blocks'),
    ...from(`hash = '${chainBlock}'`, 'chain_blocks'),
    ...from(`block_hash = '${chainBlock}'`, 'block_parents'),
    ...from(`parent_hash = '${chainBlock}'`, 'block_parents'),
    ...from(`block_hash = '${fullBlock}'`, 'mergesets block_transactions'),
    ...from(`chain_block_hash = '${chainBlock}'`, 'mergesets'),
    ...from(`accepting_block_hash = '${chainBlock}'`, 'accepted_transactions'),
    ...from(
      `address = '${addressOf(ten)}'`,
      'addresses address_transactions address_hours inputs outputs utxos tags attributions',
    ),
    ...from(`cluster = '${addressOf(memberOfLarge(0))}'`, 'clusters cluster_members'),
    ...from(`covenant_id = '${covenantId}'`, 'covenants covenant_events covenant_utxos'),
    ...from(`hash = '${SOME_PROGRAM}'`, 'programs'),
    ...from(`template = '${SOME_TEMPLATE}'`, 'programs program_templates covenants'),
    ...from(`protocol = 'kns' and tick = 'T99'`, 'inscriptions'),
    ...from('balance_sompi > 0 order by balance_sompi desc limit 100', 'addresses'),
    ...from(`address = '${addressOf(PAID_BY_ALL)}' limit 100`, 'address_transactions'),
    ...from(ofHours('time'), 'blocks chain_blocks'),
    ...from(ofHours('chain_time'), 'chain_blocks'),
    ...from(ofHours('accepted_at'), 'accepted_transactions'),
    ...from(`chain_index between 20000 and ${20_000 + chainBlocks}`, 'accepted_transactions mergesets covenant_events'),
    'select * from kaspa.blocks order by time desc limit 10',
    'select * from kaspa.chain_blocks order by time desc limit 10',
    'select * from kaspa.chain_blocks order by index desc limit 10',
    'select * from kaspa.accepted_transactions order by accepted_at desc limit 10',

    `select sum(o.amount_kas) from kaspa.accepted_transactions a
      join kaspa.outputs o using (transaction_key) where ${ofHours('a.accepted_at')}`,
    `select x.address_key, sum(x.change_kas) from kaspa.accepted_transactions a
      join kaspa.address_transactions x using (transaction_key)
      where ${ofHours('a.accepted_at')} group by 1`,
    `select x.address, sum(x.change_kas) from kaspa.accepted_transactions a
      join kaspa.address_transactions x using (transaction_key)
      where ${ofHours('a.accepted_at')} group by 1`,
    `select i.* from kaspa.accepted_transactions a join kaspa.inputs i using (transaction_id)
      where ${ofHours('a.accepted_at')} limit 50`,
  ];
}

/**
 * Returns the tables that grow and are read from end to end, with the queries that do so in a
 * session of one of the pools.
 */
export async function findFullReadsOf(queries: readonly string[], pools: readonly Pool[]): Promise<string[]> {
  const found: string[] = [];
  for (const text of queries) {
    const query = { text, values: [] };
    for (const pool of pools) {
      const tables = (await findFullReads(pool, query)).filter((table) => !SMALL_TABLES.has(table));
      // A merge join may name a whole index and end at its first entries.
      if (tables.length > 0 && (await explain(pool, query)).buffers > FEW_BUFFERS)
        found.push(`${tables.join()}: ${text}`);
    }
  }
  return found;
}
