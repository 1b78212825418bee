/**
 * Clustering of a test's index, its stored clusters, and the oracle of clusters and change links.
 */
import type { Connection } from '@kasgres/database';
import type { TestDatabase } from '@kasgres/database/testing';
import { clusteringOptions, createMetrics, envSchema, keepClustering, openClusteringDatabase } from '@kasgres/indexer';
import { toHex, type Transaction, transactionHash } from '@kasgres/kaspa';
import { createLogger, createRegistry } from '@kasgres/runtime';
import { checkInvariant12 } from '@kasgres/verification';
import { expect } from 'vitest';
import { differencesOf, type Snapshot } from '../invariants/snapshot.ts';
import type { SimulatedDag } from '../support/simulated-dag.ts';

export { cluster, type Options } from '../support/cluster.ts';

/**
 * Starts the follower as the indexer's program does.
 * @param variables as in the environment of the program
 */
export function startClustering({ url }: Pick<TestDatabase, 'url'>, variables: Record<string, string> = {}) {
  const controller = new AbortController();
  const database = openClusteringDatabase(url, 1_000);
  const log = createLogger({ name: 'clustering', level: process.env['LOG_LEVEL'] === undefined ? 'silent' : 'info' });
  const metrics = createMetrics(createRegistry('clustering under test')).clustering;
  const options = clusteringOptions(
    envSchema.parse({ NODE_URL: 'grpc://127.0.0.1:1', DATABASE_URL: url, ...variables }),
  );
  const ended = keepClustering({ database, options, log, metrics }, controller.signal);
  return {
    metrics,
    stop: async (): Promise<void> => {
      controller.abort();
      await ended;
      await database.close();
    },
  };
}

/** Rows with scripts and ids instead of keys. */
const SECTIONS: Record<string, string> = {
  position: `
    select json_build_array(p.chain_index, b.hash, p.next_merge_id, p.next_held_merge_id)
      from clustering p join blocks b on b.id = p.block_id`,
  clusters: `
    select json_build_array(s.script, c.size, c.balance, c.size_limit, c.name, c.link, c.labels)
    from clusters c join scripts s on s.id = c.id`,
  members: `
    select json_build_array(s.script, parent.script, m.merge_id, next.script, previous.script)
    from cluster_members m join scripts s on s.id = m.script_id
      left join scripts parent on parent.id = m.parent_id
    join scripts next on next.id = m.next_id join scripts previous on previous.id = m.previous_id`,
  merges: `
    select json_build_array(m.id, m.chain_index, t.transaction_id, stays.script, merged.script,
      s.script, o.script, m.held_merge_id)
    from cluster_merges m join transactions t on t.id = m.transaction_id
    join scripts stays on stays.id = m.cluster_id
      join scripts merged on merged.id = m.merged_cluster_id
    join scripts s on s.id = m.script_id join scripts o on o.id = m.merged_script_id`,
  'held merges': `
    select json_build_array(h.id, h.chain_index, t.transaction_id, s.script, o.script, h.state,
      h.settled_chain_index, h.transactions)
    from held_merges h join transactions t on t.id = h.transaction_id
    join scripts s on s.id = h.script_id join scripts o on o.id = h.other_script_id`,
  'repeated held merges': `
    select json_build_array(r.chain_index, r.held_merge_id, r.transactions)
      from held_merge_repeats r`,
  'change links': `
    select json_build_array(t.transaction_id, s.script, o.script, l.chain_index)
    from change_links l join transactions t on t.id = l.transaction_id
    join scripts s on s.id = l.script_id join scripts o on o.id = l.change_script_id`,
  'cluster names': `
    select json_build_array(s.script, n.name, n.addresses) from cluster_names n
      join scripts s on s.id = n.cluster_id`,
  'tagged scripts': `
    select json_build_array(s.script) from balances b join scripts s on s.id = b.script_id
    where b.is_tagged and (b.utxo_count <> 0
      or b.script_id in (select script_id from cluster_members))`,
};

export async function clusterSnapshot(db: Pick<Connection['pool'], 'query'>): Promise<Snapshot> {
  const snapshot: Snapshot = new Map();
  for (const [section, sql] of Object.entries(SECTIONS)) {
    const { rows } = await db.query<{ row: string }>(`select json_build_array::text as row from (${sql}) section`);
    snapshot.set(section, rows.map(({ row }) => row).sort());
  }
  return snapshot;
}

/** Expects the same clusters from the same merges, and that `one` satisfies invariant 12. */
export async function expectSameClusters(one: TestDatabase, other: TestDatabase): Promise<void> {
  expect(await checkInvariant12(one.pool)).toEqual([]);
  expect(differencesOf(await clusterSnapshot(other.pool), await clusterSnapshot(one.pool))).toEqual([]);
}

/** Returns the clusters as sorted sets of scripts in hex. */
export async function storedClusters({ pool }: Pick<Connection, 'pool'>): Promise<string[][]> {
  const { rows } = await pool.query<{ scripts: string[] }>(
    `select array_agg(encode(s.script, 'hex') order by encode(s.script, 'hex') collate "C") as scripts
       from cluster_members m join scripts s on s.id = m.script_id group by cluster_of(m.script_id)
         order by 1`,
  );
  return inOrder(rows.map(({ scripts }) => scripts));
}

interface SpendingTransaction {
  /** Distinct, in hex. */
  inputScripts: string[];
  /** The input scripts of single keys. */
  keyScripts: string[];
  hasCovenant: boolean;
  /** The last bytes of the signature scripts of single keys. */
  hashTypes: number[];
  /** The paid scripts by amount. */
  paid: Map<bigint, Set<string>>;
}

/** Returns the spending transactions that the node's chain accepts down to a depth. */
export function acceptedSpending({ node }: SimulatedDag, depth: bigint): SpendingTransaction[] {
  const { chainBlocks, sink } = node.dag;
  const deep = chainBlocks.filter(({ header }) => header.blueScore <= sink.header.blueScore - depth);
  return spendingOf(
    deep.flatMap(({ accepted = [] }) => accepted.map(({ transaction }) => transaction)),
    (id) => node.dag.findTransaction(id),
  );
}

function spendingOf(
  accepted: readonly Transaction[],
  find: (id: string) => Transaction | undefined,
): SpendingTransaction[] {
  return accepted.flatMap((transaction) => {
    if (transaction.inputs.length === 0) return [];
    const spent = transaction.inputs.map(({ previousOutpoint, signatureScript }) => {
      const made = find(toHex(previousOutpoint.transactionId));
      const output = made?.outputs[previousOutpoint.index];
      if (output === undefined) throw new Error('an accepted input spends an unknown output');
      const script = toHex(output.scriptPublicKey.script);
      return { script, hasCovenant: output.covenant !== undefined, hashType: signatureScript[65] ?? 0 };
    });
    const paid = new Map<bigint, Set<string>>();
    for (const { amount, scriptPublicKey } of transaction.outputs) {
      paid.set(amount, (paid.get(amount) ?? new Set()).add(toHex(scriptPublicKey.script)));
    }
    const inputScripts = [...new Set(spent.map(({ script }) => script))];
    return {
      inputScripts,
      keyScripts: inputScripts.filter(isOfOneKey),
      hasCovenant: spent.some(({ hasCovenant }) => hasCovenant),
      hashTypes: spent.filter(({ script }) => isOfOneKey(script)).map(({ hashType }) => hashType),
      paid,
    };
  });
}

/** Tells whether a script is P2PK with a Schnorr or an ECDSA key. */
function isOfOneKey(script: string): boolean {
  return /^(20.{64}ac|21.{66}ab)$/u.test(script);
}

/** Unites the sets that have a script in common, the slow way. */
export function united(sets: readonly (readonly string[])[]): string[][] {
  let groups: Set<string>[] = [];
  for (const set of sets) {
    if (set.length < 2) continue;
    const touched = groups.filter((group) => set.some((script) => group.has(script)));
    groups = groups.filter((group) => !touched.includes(group));
    groups.push(new Set([...set, ...touched.flatMap((group) => [...group])]));
  }
  return inOrder(groups.map((group) => [...group].sort()));
}

/** Computes the clusters of a chain by the documented rules (docs/clustering.md). */
export function expectedClusters(simulatedDag: SimulatedDag, depth: bigint): string[][] {
  return clustersOf(acceptedSpending(simulatedDag, depth));
}

/**
 * Computes the clusters of the indexed segments of the chain.
 * @param simulatedDags have all indexed blocks
 * @param forgets leaves out the transactions that spend UTXOs known only to a previous bootstrap
 * block
 */
export async function expectedClustersOfIndex(
  { pool }: Pick<Connection, 'pool'>,
  simulatedDags: readonly Pick<SimulatedDag, 'bodies'>[],
  { depth, forgets = false }: { depth: bigint; forgets?: boolean },
): Promise<string[][]> {
  const made = new Map<string, Transaction>();
  // Variants of a transaction have the same outputs, but may have other hash types.
  const variants = new Map<string, Transaction>();
  for (const { transactions } of simulatedDags.flatMap(({ bodies }) => bodies)) {
    for (const transaction of transactions) {
      made.set(toHex(transaction.transactionId), transaction);
      variants.set(toHex(transactionHash(transaction)), transaction);
    }
  }
  const { rows } = await pool.query<{ hash: string }>(
    `select encode(coalesce(variant.hash, t.hash), 'hex') as hash
       from chain_blocks c
       join blocks b on b.id = c.block_id
      cross join lateral unnest(c.accepted_transactions) accepted (id)
       join transactions t on t.id = accepted.id
       left join transaction_variants variant on variant.transaction_id = t.id
         and variant.variant = t.accepted_variant
      where b.blue_score <= (select sink.blue_score from checkpoint
        join blocks sink on sink.id = block_id) - $1
        and not ($2 and exists (
          select from transaction_inputs i
           where i.transaction_id = t.id
             and i.previous_transaction_id not in (select id from transactions)
             and not exists (select from bootstrap_utxos u
               where u.transaction_id = i.previous_transaction_id
                 and u.index = i.previous_index)))`,
    [depth, forgets],
  );
  return clustersOf(
    spendingOf(
      rows.map(({ hash }) => variants.get(hash)).filter((found) => found !== undefined),
      (id) => made.get(id),
    ),
  );
}

function clustersOf(spending: readonly SpendingTransaction[]): string[][] {
  const tied = spending.filter(({ inputScripts, hasCovenant, hashTypes, paid }) => {
    const equal = Math.max(0, ...[...paid.values()].map(({ size }) => size));
    const isCollaborative = equal >= 3 && inputScripts.length >= 3 && 2 * inputScripts.length >= equal;
    return !hasCovenant && !isCollaborative && hashTypes.every((type) => type === 1);
  });
  return united(tied.map(({ keyScripts }) => keyScripts));
}

/** Returns transaction and change script of each change link, in hex. */
export async function storedChangeLinks({ pool }: Pick<Connection, 'pool'>): Promise<string[]> {
  const { rows } = await pool.query<{ link: string }>(
    `select encode(t.transaction_id, 'hex') || ' ' || encode(s.script, 'hex') as link
       from change_links l join transactions t on t.id = l.transaction_id
         join scripts s on s.id = l.change_script_id`,
  );
  return rows.map(({ link }) => link).sort();
}

/** Computes the change links by the documented rule. */
export function expectedChangeLinks({ node }: SimulatedDag, depth: bigint): string[] {
  const { chainBlocks, sink } = node.dag;
  const firstSeen = new Map<string, bigint>();
  const links: string[] = [];
  let time = 0n;
  for (const { header, accepted = [] } of chainBlocks) {
    time = header.timestamp > time ? header.timestamp : time;
    for (const { transaction } of accepted) {
      for (const { scriptPublicKey } of transaction.outputs) {
        const script = toHex(scriptPublicKey.script);
        if (!firstSeen.has(script)) firstSeen.set(script, time);
      }
    }
    if (header.blueScore > sink.header.blueScore - depth) continue;
    for (const { transaction } of accepted) {
      const [spending] = spendingOf([transaction], (id) => node.dag.findTransaction(id));
      if (spending === undefined || spending.hasCovenant || spending.hashTypes.some((type) => type !== 1)) continue;
      const { inputScripts, keyScripts } = spending;
      const paid = transaction.outputs.map(({ scriptPublicKey }) => toHex(scriptPublicKey.script));
      const areNew = paid.map((script) => firstSeen.get(script) === time);
      const isFit =
        keyScripts.length === inputScripts.length &&
        paid.length === 2 &&
        paid.every((script) => isOfOneKey(script) && !inputScripts.includes(script));
      if (isFit && areNew[0] !== areNew[1])
        links.push(`${toHex(transaction.transactionId)} ${paid[areNew[0] === true ? 0 : 1]}`);
    }
  }
  return links.sort();
}

function inOrder(sets: string[][]): string[][] {
  return sets.sort((one, other) => ((one[0] ?? '') < (other[0] ?? '') ? -1 : 1));
}

/**
 * The quality of clusters by pairs of scripts with known owners. Precision is the share of the
 * pairs in one cluster that have one owner. Sensitivity is the share of the knowable pairs that are
 * in one cluster. A pair is knowable if accepted transactions, each with the inputs of one owner,
 * connect the two scripts.
 * @param inputs scripts of the inputs of each accepted transaction
 */
export function figuresOf(
  clusters: readonly (readonly string[])[],
  ownerOf: (script: string) => unknown,
  inputs: readonly (readonly string[])[],
): { precision: number; sensitivity: number; knowable: number } {
  const groups = united(inputs.filter((scripts) => new Set(scripts.map(ownerOf)).size === 1));
  const clusterOf = new Map(clusters.flatMap((cluster, index) => cluster.map((script) => [script, index] as const)));
  const knowable = groups.reduce((sum, { length }) => sum + pairs(length), 0);
  const found = groups.reduce((sum, group) => sum + countBy(group, (script) => clusterOf.get(script) ?? script), 0);
  const together = clusters.reduce((sum, { length }) => sum + pairs(length), 0);
  const rightly = clusters.reduce((sum, cluster) => sum + countBy(cluster, ownerOf), 0);
  return { precision: rightly / together, sensitivity: found / knowable, knowable };
}

/** Counts the pairs with the same key. */
function countBy(scripts: readonly string[], keyOf: (script: string) => unknown): number {
  return [...Map.groupBy(scripts, keyOf).values()].reduce((sum, { length }) => sum + pairs(length), 0);
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2;
}
