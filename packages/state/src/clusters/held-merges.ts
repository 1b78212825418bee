/**
 * Merges that a size limit holds: one row for two clusters, with the number of transactions that
 * tie them.
 */
import type { ClientBase } from 'pg';
import { getOrInsert } from '../state-changes.ts';
import { columnsOf } from '../queryable.ts';
import type { Forest, HeldMerge } from './forest.ts';

/** All transactions of a step that tie the same two clusters. */
interface Pair extends HeldMerge {
  /** The number of these transactions by chain block. */
  transactions: Map<bigint, bigint>;
}

/** @returns the key of the next held merge */
export async function writeHeld(client: ClientBase, held: readonly HeldMerge[], nextId: bigint): Promise<bigint> {
  if (held.length === 0) return nextId;
  const pairs = new Map<string, Pair>();
  for (const merge of held) {
    const key = keyOf(merge);
    const { transactions } = getOrInsert(pairs, key, () => ({ ...merge, transactions: new Map<bigint, bigint>() }));
    transactions.set(merge.chainIndex, (transactions.get(merge.chainIndex) ?? 0n) + 1n);
  }
  const ids = await findPending(client, [...pairs.values()]);
  const rows: Row[] = [];
  for (const [key, pair] of pairs) {
    if (ids.has(key)) continue;
    const id = nextId + BigInt(rows.length);
    ids.set(key, id);
    rows.push({ ...pair, id });
    // The first transaction is counted by the row itself.
    const { transactions, chainIndex } = pair;
    transactions.set(chainIndex, (transactions.get(chainIndex) ?? 0n) - 1n);
  }
  if (rows.length > 0) await writeRows(client, rows);
  await writeRepeats(client, pairs, ids);
  return nextId + BigInt(rows.length);
}

type Row = HeldMerge & { id: bigint };

async function writeRows(client: ClientBase, rows: readonly Row[]): Promise<void> {
  await client.query({
    name: 'write-held-merges',
    text: `insert into held_merges (id, chain_index, transaction_id, script_id, other_script_id,
      cluster_id, other_cluster_id, state)
           select *, 'held' from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
             $5::bigint[], $6::bigint[], $7::bigint[])`,
    values: columnsOf(rows, 'id', 'chainIndex', 'transaction', 'script', 'otherScript', 'cluster', 'otherCluster'),
  });
}

export async function settleHeld(client: ClientBase, forest: Forest, chainIndex: bigint): Promise<void> {
  if (forest.settled.length > 0) {
    await client.query(
      `update held_merges set state = 'merged', settled_chain_index = $2 where id = any($1::bigint[])`,
      [forest.settled, chainIndex],
    );
  }
  if (forest.heldAgain.length > 0) {
    await client.query(`update held_merges set state = 'held' where id = any($1::bigint[])`, [forest.heldAgain]);
  }
}

/** @returns the keys of the deleted rows */
export async function undoHeld(client: ClientBase, to: bigint): Promise<bigint[]> {
  await client.query(
    `with undone as (delete from held_merge_repeats where chain_index > $1 returning held_merge_id, transactions)
     update held_merges h set transactions = h.transactions - sums.transactions
       from (select held_merge_id, sum(transactions)::bigint as transactions from undone
         group by held_merge_id) sums
      where h.id = sums.held_merge_id`,
    [to],
  );
  const { rows } = await client.query<{ id: bigint }>('delete from held_merges where chain_index > $1 returning id', [
    to,
  ]);
  // The approval of an operator still holds.
  await client.query(
    `update held_merges set state = 'approved', settled_chain_index = null where settled_chain_index > $1`,
    [to],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the keys of merges that are held already. A rejection is of the transactions before it,
 * so that later ones are held again.
 */
async function findPending(client: ClientBase, pairs: readonly Pair[]): Promise<Map<string, bigint>> {
  const { rows } = await client.query<Pick<HeldMerge, 'cluster' | 'otherCluster'> & { id: bigint }>({
    name: 'find-held-merges',
    text: `select h.id, h.cluster_id as cluster, h.other_cluster_id as "otherCluster"
             from unnest($1::bigint[], $2::bigint[]) pair (cluster_id, other_cluster_id)
             join held_merges h using (cluster_id, other_cluster_id)
               where h.state in ('held', 'approved')`,
    values: columnsOf(pairs, 'cluster', 'otherCluster'),
  });
  return new Map(rows.map((row) => [keyOf(row), row.id]));
}

async function writeRepeats(
  client: ClientBase,
  pairs: ReadonlyMap<string, Pair>,
  ids: ReadonlyMap<string, bigint>,
): Promise<void> {
  const repeats = [...pairs].flatMap(([key, { transactions }]) =>
    [...transactions].map(([chainIndex, count]) => ({ chainIndex, id: ids.get(key), count })),
  );
  await client.query({
    name: 'write-held-merge-repeats',
    text: `with repeats as (
             insert into held_merge_repeats (chain_index, held_merge_id, transactions)
             select * from unnest($1::bigint[], $2::bigint[], $3::bigint[]) repeated (chain_index,
               id, transactions) where transactions > 0
             returning held_merge_id, transactions
           )
           update held_merges h set transactions = h.transactions + sums.transactions
             from (select held_merge_id, sum(transactions)::bigint as transactions from repeats
               group by held_merge_id) sums
            where h.id = sums.held_merge_id`,
    values: columnsOf(repeats, 'chainIndex', 'id', 'count'),
  });
}

function keyOf({ cluster, otherCluster }: Pick<HeldMerge, 'cluster' | 'otherCluster'>): string {
  return `${cluster} ${otherCluster}`;
}
