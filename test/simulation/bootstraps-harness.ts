/** Simulated DAGs whose nodes prune, and indexes that are bootstrapped there. */
import type { Connection } from '@kasgres/database';
import {
  type DagBlock,
  type DagTransaction,
  SimulatedNode,
  type SimulatedNodeOptions,
  type SimulationOptions,
  spentKeysOf,
} from '@kasgres/devnet';
import { getNetwork, toHex, type Utxo } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { expect } from 'vitest';
import { hardPruningPoints } from '@kasgres/devnet/testing';
import { checkUtxoCommitment } from '@kasgres/verification';
import { onTestEnd, atRest, expectRight, createHarness, type Harness } from '../support/harness.ts';
import { stateOf, storedState, sumOf, utxosAtSink } from '../support/oracle.ts';
import { type RunningIndexer, startIndexing, SimulatedDag } from '../support/simulated-dag.ts';

type Db = Pick<Connection['pool'], 'query'>;

/** The least number of chain blocks above a pruning point. */
const MIN_ABOVE = 15;

/**
 * Without late red blocks and deep reorgs, no block merges deeper than the `FINALITY_DEPTH` of an
 * index with `RETENTION`, which would stop.
 */
export const SHALLOW_MERGES = { redRate: 0, reorgDepth: [1, 4] } as const;

/** Creates a simulated DAG whose headers commit to its UTXO set, so that its node can prune. */
export function createPruningHarness(
  name: string,
  options: Partial<SimulatedNodeOptions> = {},
  simulation: Partial<SimulationOptions> = {},
): Promise<Harness> {
  return createHarness(name, undefined, { commitsToUtxos: true, ...options }, simulation);
}

/** Creates another node with the blocks of the first one. */
export async function peerOf(harness: Harness, simulation: Partial<SimulationOptions> = {}): Promise<Harness> {
  const simulatedDag = await SimulatedDag.start('peer', undefined, { commitsToUtxos: true }, simulation);
  onTestEnd(async () => simulatedDag.stop());
  const node = new NodeClient({ url: simulatedDag.server.url });
  onTestEnd(() => node.close());
  simulatedDag.receiveBlocksOf(harness.simulatedDag);
  return { ...harness, simulatedDag, node };
}

/**
 * The pruning point of a node on another branch. In the last case the node merges our blocks, too.
 */
export type Pruning = 'at the fork' | 'on its branch' | 'on its branch, with our blocks merged';

/**
 * Creates a peer with a heavier chain that forks off below finality.
 * @param before runs while the peer lacks the new blocks of the harness
 */
export async function forkBelowFinality(
  harness: Harness,
  prunes: Pruning,
  before: () => Promise<void>,
): Promise<Harness> {
  const { simulatedDag } = harness;
  const peer = await peerOf(harness);
  const fork = peer.simulatedDag.node.dag.chainBlocks.at(-12);
  if (fork === undefined) throw new Error('no chain');
  simulatedDag.mine(60);
  await before();
  peer.simulatedDag.mineBeyond(simulatedDag, 120);
  // The peer's own chain has more work.
  const merge = (): void => peer.simulatedDag.receiveBlocksOf(simulatedDag);
  if (prunes === 'at the fork') {
    merge();
    peer.simulatedDag.node.prune(fork.hash);
  } else
    pruneAbove(peer.simulatedDag, 30, fork, prunes === 'on its branch, with our blocks merged' ? merge : undefined);
  return peer;
}

/**
 * Lowers the finality depth of simnet while `work` runs, so that the simulation can reorganise
 * below it.
 */
export async function withLowFinality(work: () => Promise<void>): Promise<void> {
  const simnet = getNetwork('simnet');
  const { finalityDepth } = simnet;
  simnet.finalityDepth = 20n;
  await work().finally(() => {
    simnet.finalityDepth = finalityDepth;
  });
}

/**
 * Mines until there is a chain block that is a hard bootstrap block, at least `chainBlocks` above
 * another one, and prunes the node up to it.
 * @param above genesis by default
 * @param before runs right before the node prunes
 */
export function pruneAbove(
  simulatedDag: SimulatedDag,
  chainBlocks: number,
  above?: DagBlock,
  before: () => void = () => undefined,
): DagBlock {
  const { node } = simulatedDag;
  const { dag } = node;
  // A reorg may remove it meanwhile.
  const least = Number((above ?? dag.root).chainIndex) + chainBlocks;
  for (;;) {
    simulatedDag.mine(10);
    const found = hardPruningPoints(dag).find(({ chainIndex }) => {
      const index = Number(chainIndex);
      return index >= least && index < dag.chainBlocks.length - MIN_ABOVE;
    });
    if (found === undefined) continue;
    before();
    node.prune(found.hash);
    return found;
  }
}

/**
 * Mines until the own time of a chain block is in the hour before that of its parent on the chain,
 * and prunes the node up to the parent.
 */
export function pruneBeforeEarlierHour(simulatedDag: SimulatedDag, chainBlocks: number): DagBlock {
  const { node } = simulatedDag;
  const { dag } = node;
  for (;;) {
    simulatedDag.mine(10);
    const found = dag.chainBlocks.find((block, index) => {
      const next = dag.chainBlocks[index + 1];
      const isInside = index >= chainBlocks && index < dag.chainBlocks.length - MIN_ABOVE;
      return isInside && next !== undefined && hourOf(next) < hourOf(block);
    });
    if (found === undefined) continue;
    node.prune(found.hash);
    return found;
  }
}

function hourOf({ header }: DagBlock): bigint {
  return header.timestamp / 3_600_000n;
}

/** Prunes the node up to one of its youngest chain blocks. */
export function pruneBelowTip({ node }: SimulatedDag): void {
  const { dag } = node;
  const young = dag.chainBlocks.at(-3);
  if (young === undefined) throw new Error('no chain block is old enough');
  node.prune(young.hash);
}

/** Runs an indexer until it is at rest. */
export async function followToTheTip(harness: Harness, variables: Record<string, string> = {}): Promise<void> {
  const indexer = startIndexing(harness.simulatedDag, harness.database.url, variables);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
}

/**
 * Expects the UTXOs and balances of the oracle in an index that was bootstrapped at a pruning
 * point, and their commitments.
 */
export async function expectStateOfSimulatedDag({ simulatedDag, node, database }: Harness): Promise<void> {
  const { pool } = database;
  for (const set of ['bootstrap_utxos', 'utxos'] as const) expect(await checkUtxoCommitment(pool, set)).toEqual([]);
  const utxos = utxosOf(simulatedDag);
  expect(await storedState(pool)).toEqual(stateOf(utxos));
  const { rows } = await pool.query<{ circulating_sompi: bigint; hash: Buffer; unresolved: bigint }>(
    `select c.circulating_sompi, b.hash, (
       select count(*) from transaction_inputs i join transactions t on t.id = i.transaction_id
       where t.accepting_index is not null
         and (i.amount is null or i.script_id is null or i.previous_transaction_id is null)
     ) as unresolved
     from checkpoint c join blocks b on b.id = c.block_id`,
  );
  const { sink } = await node.call('getSink', {});
  expect(rows.map(({ hash, ...row }) => ({ ...row, sink: toHex(hash) }))).toEqual([
    { circulating_sompi: sumOf(utxos), unresolved: 0n, sink },
  ]);
}

/** Also expects the rows of a fresh index. Only an index with one bootstrap block has them. */
export async function expectRightFromBootstrap(harness: Harness): Promise<void> {
  await expectStateOfSimulatedDag(harness);
  await expectRight(harness);
}

export async function bootstrapsOf(db: Db): Promise<{ chainIndex: number; hash: string; utxos: number }[]> {
  const { rows } = await db.query<{ chainIndex: number; hash: string; utxos: number }>(
    `select s.chain_index::int as "chainIndex", encode(b.hash, 'hex') as hash, s.utxo_count::int as utxos
       from bootstrap_blocks s join blocks b on b.id = s.block_id order by s.chain_index`,
  );
  return rows;
}

export async function gapsOf(db: Db): Promise<{ after: string; before: string; reason: string }[]> {
  const { rows } = await db.query<{ after: string; before: string; reason: string }>(
    `select encode(after_block_hash, 'hex') as after, encode(before_block_hash, 'hex') as before, reason
       from gaps order by recorded_at`,
  );
  return rows;
}

/**
 * Counts the rows of each table that describes the chain; a running load of a UTXO set does not.
 */
export async function visibleRows(db: Db): Promise<Record<string, number>> {
  const { rows } = await db.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')
        and not relispartition
        and relname not in ('migrations', 'notification_secret', 'deferred_indexes', 'subnetworks',
          'loaded_utxos', 'utxo_set_load', 'generations')
      order by relname`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const counted = await db.query<{ count: bigint }>(`select count(*) from ${name}`);
    if (counted.rows[0]?.count !== 0n) counts[name] = Number(counted.rows[0]?.count);
  }
  return counts;
}

/** Returns how many UTXOs of the next bootstrap block are loaded. */
export async function loadedUtxos(db: Db): Promise<number> {
  const { rows } = await db.query<{ utxos: bigint }>('select utxos from utxo_set_load');
  return Number(rows[0]?.utxos ?? 0);
}

/** Stops the indexer, which may have failed. */
export async function stopIgnoringErrors(indexer: RunningIndexer): Promise<void> {
  await indexer.stop().catch(() => undefined);
}

/** Computes the UTXOs with a node that has every block and has not pruned. */
function utxosOf({ node, bodies }: SimulatedDag): Utxo[] {
  const archive = new SimulatedNode({ params: node.consensus.params, now: node.now, commitsToUtxos: true });
  archive.restore(bodies);
  expect(archive.dag.sink.hash).toBe(node.dag.sink.hash);
  return utxosAtSink(archive.dag).all();
}

/**
 * Returns the transactions that the index accepted before the gap and the chain after it may accept
 * again: their UTXOs are unspent.
 */
export async function acceptable(
  { pool }: Pick<Connection, 'pool'>,
  ours: SimulatedDag,
  theirs: SimulatedDag,
): Promise<DagTransaction[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select encode(t.transaction_id, 'hex') as id
       from chain_blocks c cross join lateral unnest(c.accepted_transactions) accepted (id)
         join transactions t on t.id = accepted.id
      where c.index < (select max(chain_index) from bootstrap_blocks) and t.subnetwork_id <> 1`,
  );
  const known = new Set(rows.map(({ id }) => id));
  const { utxos } = theirs.node.consensus;
  return ours.node.dag.chainBlocks
    .flatMap(({ accepted = [] }) => accepted.map(({ transaction }) => transaction))
    .filter((transaction) => {
      const areThere = spentKeysOf(transaction).every((key) => utxos.find(key) !== undefined);
      return known.has(toHex(transaction.transactionId)) && areThere;
    });
}
