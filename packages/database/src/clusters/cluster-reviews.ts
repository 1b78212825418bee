/**
 * Reviews of clusters that have reached their size limit. A merge beyond the limit is held. An
 * approval raises the limit, and the indexer then carries out the approved merges in order, or
 * holds them again.
 */
import { toHex } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { LIMIT_IDLE_TIME } from '../connection/in-transaction.ts';
import { transactionIdIs } from '../schema/transaction-ids.ts';

interface ClusterAtLimit {
  /** Address of the root; undefined for a script without one. */
  address: string | undefined;
  size: bigint;
  /** The approved limit; undefined for the configured one. */
  sizeLimit: bigint | undefined;
  heldMerges: bigint;
  /** Number of transactions that tie these clusters. */
  transactions: bigint;
  /** Size with all held merges. */
  sizeWithHeld: bigint;
  /**
   * Transaction id of the first held merge whose transaction is indexed; undefined if RETENTION
   * removed all.
   */
  transactionId: string | undefined;
}

/**
 * Held merges with the clusters of their two scripts. A script without a cluster counts as a
 * cluster of size 1.
 */
const HELD = sql`
  held as (
    select h.id, h.transaction_id, h.transactions,
           coalesce(cluster_of(h.script_id), h.script_id) as one,
           coalesce(cluster_of(h.other_script_id), h.other_script_id) as other
      from held_merges h where h.state = 'held'
  ),
  sides as (
    select id, transaction_id, transactions, one as cluster_id, other as other_id from held
    union all
    select id, transaction_id, transactions, other, one from held
  ),
  sized as (
    select sides.*, coalesce(own.size, 1) as size,
      coalesce(others.size, 1) as other_size, own.size_limit
      from sides left join clusters own on own.id = sides.cluster_id
        left join clusters others on others.id = sides.other_id
  )`;

/**
 * Returns clusters ordered by their number of held merges. Each merge counts for the larger of its
 * clusters.
 */
export async function listClustersAtLimit(db: Kysely<Database>): Promise<ClusterAtLimit[]> {
  const { rows } = await sql<{
    address: string | null;
    size: bigint;
    size_limit: bigint | null;
    held: bigint;
    transactions: bigint;
    size_with_held: bigint;
    transaction_id: Buffer | null;
  }>`
    with ${HELD},
    larger as (select distinct * from sized
      where (size, cluster_id) > (other_size, other_id) or cluster_id = other_id),
    parts as (select cluster_id, other_id, max(other_size) as other_size from larger group by 1, 2)
    select s.address, max(l.size) as size, max(l.size_limit) as size_limit, count(*) as held,
           sum(l.transactions)::bigint as transactions,
           max(l.size) + (select sum(other_size) from parts p
             where p.cluster_id = l.cluster_id)::bigint as size_with_held,
           (array_agg(t.transaction_id
             order by l.id) filter (where t.id is not null))[1] as transaction_id
      from larger l join scripts s on s.id = l.cluster_id
        left join transactions t on t.id = l.transaction_id
     group by l.cluster_id, s.address
       order by held desc, size desc, s.address collate "C"`.execute(db);
  return rows.map((row) => ({
    address: row.address ?? undefined,
    size: row.size,
    sizeLimit: row.size_limit ?? undefined,
    heldMerges: row.held,
    transactions: row.transactions,
    sizeWithHeld: row.size_with_held,
    transactionId: row.transaction_id?.toString('hex'),
  }));
}

interface Approval {
  size: bigint;
  sizeLimit: bigint;
  /** Number of held merges that the indexer will try. */
  approved: number;
}

/**
 * Raises the limit of the cluster of an address and approves its held merges.
 * @param upTo undefined for a limit that allows all held merges
 * @returns undefined if the address is in no cluster
 */
export function approveCluster(
  db: Kysely<Database>,
  address: string,
  upTo: bigint | undefined,
): Promise<Approval | undefined> {
  return db.transaction().execute(async (transaction) => {
    await lockClusters(transaction);
    const found = await sql<{ id: bigint; size: bigint; size_with_held: bigint }>`
      with ${HELD}
      select c.id, c.size, c.size + coalesce((
               select sum(other_size) from (select distinct other_id, other_size from sized
                 where cluster_id = c.id and other_id <> c.id) parts
             ), 0)::bigint as size_with_held
        from scripts s join clusters c on c.id = cluster_of(s.id)
          where s.address = ${address}`.execute(transaction);
    const [cluster] = found.rows;
    if (cluster === undefined) return undefined;
    const sizeLimit = upTo ?? cluster.size_with_held;
    await sql`update clusters set size_limit = ${sizeLimit} where id = ${cluster.id}`.execute(transaction);
    const approved = await sql`
      update held_merges set state = 'approved'
       where state = 'held'
         and (cluster_of(script_id) = ${cluster.id}
           or cluster_of(other_script_id) = ${cluster.id})`.execute(transaction);
    return { size: cluster.size, sizeLimit, approved: Number(approved.numAffectedRows ?? 0n) };
  });
}

/**
 * Rejects the merges of clusters that a transaction was the first to tie, permanently. Later
 * transactions that tie the same clusters are held again.
 * @returns the number of rejected merges
 */
export function rejectHeldMerges(db: Kysely<Database>, transactionId: Uint8Array): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    await lockClusters(transaction);
    const { numAffectedRows } = await sql`
      update held_merges h set state = 'rejected'
        from transactions t
       where ${sql.raw(transactionIdIs('t', `decode('${toHex(transactionId)}', 'hex')`))}
         and h.transaction_id = t.id
         and h.state in ('held', 'approved')`.execute(transaction);
    return Number(numAffectedRows ?? 0n);
  });
}

/** The indexer locks the checkpoint before each step of clustering, too. */
async function lockClusters(db: Kysely<Database>): Promise<void> {
  await sql.raw(LIMIT_IDLE_TIME).execute(db);
  await sql`select from checkpoint for update`.execute(db);
}
