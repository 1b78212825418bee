/** Worlds that prune, indexes that begin in them, and what is true of their UTXOs by the simulation's own account. */
import type { Connection } from '@kasgres/database';
import { type DagBlock, type DagTransaction, SimulatedNode, type SimulatedNodeOptions } from '@kasgres/devnet';
import { outpointKey } from '../../packages/devnet/src/simulation/consensus/utxo.ts';
import { getNetwork, type ScriptPublicKey, toHex, type Utxo } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { expect } from 'vitest';
import type { SimulationOptions } from '../../packages/devnet/src/simulation/index.ts';
import { PruningPointUtxos } from '../../packages/devnet/src/simulation/node/pruning-point-utxos.ts';
import { hardPruningPoints } from '../../packages/devnet/src/simulation/testing/pruning-points.ts';
import { checkUtxoCommitment } from '@kasgres/cli';
import { onTestEnd, atRest, expectRight, createHarness, type Harness } from '../support/harness.ts';
import { type RunningIndexer, startIndexing, SimulatedDag } from '../support/simulated-dag.ts';

type Db = Pick<Connection['pool'], 'query'>;

/** Chain blocks above a pruning point, at least. */
const LEFT_ABOVE = 15;

/** A simulated DAG whose headers commit to its UTXO set. */
export function setHarnessThatPrunes(
  name: string,
  options: Partial<SimulatedNodeOptions> = {},
  people: Partial<SimulationOptions> = {},
): Promise<Harness> {
  return createHarness(name, undefined, { commitsToUtxos: true, ...options }, people);
}

/** Another node of the network, with the blocks that the first one has by now. */
export async function peerOf(harness: Harness, people: Partial<SimulationOptions> = {}): Promise<Harness> {
  const simulatedDag = await SimulatedDag.start('peer', undefined, { commitsToUtxos: true }, people);
  onTestEnd(async () => simulatedDag.stop());
  const node = new NodeClient({ url: simulatedDag.server.url });
  onTestEnd(() => node.close());
  simulatedDag.receiveBlocksOf(harness.simulatedDag);
  return { ...harness, simulatedDag, node };
}

/** Where the pruning point is of a node that has left our chain, and whether it has our blocks, too: then they are merged after it. */
export type Pruning = 'where it left' | 'on its branch' | 'on its branch, beside ours';

/**
 * The network goes on; then a peer that had a part of that alone has the heavier chain, which left it below finality.
 * @param before what happens while the index is where the peer is not
 */
export async function partBelowFinality(
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
  // It likes its own better.
  const hear = (): void => peer.simulatedDag.receiveBlocksOf(simulatedDag);
  if (prunes === 'where it left') {
    hear();
    peer.simulatedDag.node.prune(fork.hash);
  } else pruneAbove(peer.simulatedDag, 30, fork, prunes === 'on its branch, beside ours' ? hear : undefined);
  return peer;
}

/** Finality is so shallow meanwhile that what the simulation can do is below it. */
export async function withLowFinality(work: () => Promise<void>): Promise<void> {
  const simnet = getNetwork('simnet');
  const { finalityDepth } = simnet;
  simnet.finalityDepth = 20n;
  await work().finally(() => {
    simnet.finalityDepth = finalityDepth;
  });
}

/**
 * The network goes on until there is a chain block that is hard to begin at, so far above another one; then the node prunes up to it.
 * @param above genesis by default
 * @param before what happens right before it prunes
 */
export function pruneAbove(
  simulatedDag: SimulatedDag,
  chainBlocks: number,
  above?: DagBlock,
  before: () => void = () => undefined,
): DagBlock {
  const { node } = simulatedDag;
  const { dag } = node;
  // It may leave the chain on the way.
  const least = Number((above ?? dag.root).chainIndex) + chainBlocks;
  for (;;) {
    simulatedDag.mine(10);
    const found = hardPruningPoints(dag).find(({ chainIndex }) => {
      const index = Number(chainIndex);
      return index >= least && index < dag.chainBlocks.length - LEFT_ABOVE;
    });
    if (found === undefined) continue;
    before();
    node.prune(found.hash);
    return found;
  }
}

/**
 * The network goes on until the own time of a chain block is in an earlier hour than that of the block below it; then the node prunes up to
 * the one below.
 */
export function pruneBeforeEarlierHour(simulatedDag: SimulatedDag, chainBlocks: number): DagBlock {
  const { node } = simulatedDag;
  const { dag } = node;
  for (;;) {
    simulatedDag.mine(10);
    const found = dag.chainBlocks.find((block, index) => {
      const next = dag.chainBlocks[index + 1];
      const isInside = index >= chainBlocks && index < dag.chainBlocks.length - LEFT_ABOVE;
      return isInside && next !== undefined && hourOf(next) < hourOf(block);
    });
    if (found === undefined) continue;
    node.prune(found.hash);
    return found;
  }
}

/** By its own time. */
function hourOf({ header }: DagBlock): bigint {
  return header.timestamp / 3_600_000n;
}

/** The node prunes up to one of its youngest chain blocks. */
export function pruneBelowTip({ node }: SimulatedDag): void {
  const { dag } = node;
  const young = dag.chainBlocks.at(-3);
  if (young === undefined) throw new Error('no chain block is old enough');
  node.prune(young.hash);
}

/** Follows a simulated DAG until the index is at rest there, and stops. */
export async function followToTheTip(harness: Harness, variables: Record<string, string> = {}): Promise<void> {
  const indexer = startIndexing(harness.simulatedDag, harness.database.url, variables);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
}

/** An index that began at a pruning point, or again at one: right by itself, and its UTXOs are those of the simulation. */
export async function expectStateOfSimulatedDag({ simulatedDag, node, database }: Harness): Promise<void> {
  const { pool } = database;
  for (const set of ['start_utxos', 'utxos'] as const) expect(await checkUtxoCommitment(pool, set)).toEqual([]);
  const utxos = utxosAtSink(simulatedDag);
  expect(await indexedUtxos(pool)).toEqual(utxos.map(lineOf).sort());
  expect(await indexedBalances(pool)).toEqual(balancesOf(utxos));
  const { rows } = await pool.query<{ circulating_sompi: bigint; hash: Buffer; unresolved: bigint }>(
    `select c.circulating_sompi, b.hash, (
       select count(*) from transaction_inputs i join transactions t on t.id = i.transaction_id
       where t.accepting_block_id is not null and (i.amount is null or i.script_id is null or i.previous_transaction_id is null)
     ) as unresolved
     from checkpoint c join blocks b on b.id = c.block_id`,
  );
  const { sink } = await node.call('getSink', {});
  expect(rows.map(({ hash, ...row }) => ({ ...row, sink: toHex(hash) }))).toEqual([
    { circulating_sompi: sumOf(utxos), unresolved: 0n, sink },
  ]);
}

/** Also the same as what begins at the node's pruning point now: only an index with one start is. */
export async function expectRightFromItsStart(harness: Harness): Promise<void> {
  await expectStateOfSimulatedDag(harness);
  await expectRight(harness);
}

export interface StartRow {
  chainIndex: number;
  hash: string;
  utxos: number;
}

export async function startsOf(db: Db): Promise<StartRow[]> {
  const { rows } = await db.query<{ chain_index: bigint; hash: Buffer; utxo_count: bigint }>(
    'select s.chain_index, b.hash, s.utxo_count from starts s join blocks b on b.id = s.block_id order by s.chain_index',
  );
  return rows.map((row) => ({
    chainIndex: Number(row.chain_index),
    hash: toHex(row.hash),
    utxos: Number(row.utxo_count),
  }));
}

export interface GapRow {
  after: string;
  before: string;
  reason: string;
}

export async function gapsOf(db: Db): Promise<GapRow[]> {
  const { rows } = await db.query<{ after: Buffer; before: Buffer; reason: string }>(
    'select after_block_hash as after, before_block_hash as before, reason from gaps order by recorded_at',
  );
  return rows.map(({ after, before, reason }) => ({ after: toHex(after), before: toHex(before), reason }));
}

/** How many rows each table has that tells of the chain: a load that is under way does not. */
export async function visibleRows(db: Db): Promise<Record<string, number>> {
  const { rows } = await db.query<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = 'public'
        and table_name not in ('migrations', 'deferred_indexes', 'subnetworks', 'loaded_utxos', 'utxo_set_load')
      group by table_name order by table_name`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const counted = await db.query<{ count: bigint }>(`select count(*) from ${name}`);
    if (counted.rows[0]?.count !== 0n) counts[name] = Number(counted.rows[0]?.count);
  }
  return counts;
}

/** How many UTXOs of a coming start are loaded. */
export async function loadedUtxos(db: Db): Promise<number> {
  const { rows } = await db.query<{ utxos: bigint }>('select utxos from utxo_set_load');
  return Number(rows[0]?.utxos ?? 0);
}

/** Ends the indexer wherever it is. */
export async function stopAnyhow(indexer: RunningIndexer): Promise<void> {
  await indexer.stop().catch(() => undefined);
}

/** By a node that was told every block and pruned nothing. */
function utxosAtSink({ node, bodies }: SimulatedDag): readonly Utxo[] {
  const archive = new SimulatedNode({ params: node.consensus.params, now: node.now, commitsToUtxos: true });
  archive.restore(bodies);
  expect(archive.dag.sink.hash).toBe(node.dag.sink.hash);
  const utxos = new PruningPointUtxos();
  utxos.advance(archive.dag.chainBlocks);
  return utxos.inOrder();
}

function lineOf({ outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId }: Utxo): string {
  const utxo = `${toHex(outpoint.transactionId)}:${outpoint.index}`;
  const covenant = covenantId === undefined ? '' : toHex(covenantId);
  return `${utxo} ${amount} ${nameOf(scriptPublicKey)} ${blockDaaScore} ${isCoinbase} ${covenant}`;
}

function nameOf({ version, script }: ScriptPublicKey): string {
  return `${version}:${toHex(script)}`;
}

async function indexedUtxos(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select concat_ws(' ', encode(coalesce(t.transaction_id, e.transaction_id), 'hex') || ':' || u.index, u.amount,
       s.version || ':' || encode(s.script, 'hex'), u.block_daa_score, case when u.is_coinbase then 'true' else 'false' end,
       coalesce(encode(coalesce(o.covenant_id, b.covenant_id), 'hex'), '')) as line
     from utxos u join scripts s on s.id = u.script_id
     left join transactions t on t.id = u.transaction_id
     left join earlier_transactions e on e.id = u.transaction_id
     left join transaction_outputs o on o.transaction_id = u.transaction_id and o.index = u.index
     left join start_utxos b on b.transaction_id = u.transaction_id and b.index = u.index`,
  );
  return rows.map(({ line }) => line).sort();
}

/** Of each script: its balance, and the number of its coins. */
function balancesOf(utxos: readonly Utxo[]): Record<string, string> {
  const byScript = Map.groupBy(utxos, ({ scriptPublicKey }) => nameOf(scriptPublicKey));
  return Object.fromEntries([...byScript].map(([script, utxos]) => [script, `${sumOf(utxos)} in ${utxos.length}`]));
}

async function indexedBalances(db: Db): Promise<Record<string, string>> {
  const { rows } = await db.query<{ script: string; balance: string }>(
    `select s.version || ':' || encode(s.script, 'hex') as script, b.balance || ' in ' || b.utxo_count as balance
     from balances b join scripts s on s.id = b.script_id where b.balance <> 0 or b.utxo_count <> 0`,
  );
  return Object.fromEntries(rows.map(({ script, balance }) => [script, balance]));
}

function sumOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Returns the transactions that the index accepted before the gap and the chain after it may accept again: their UTXOs are unspent. */
export async function acceptable(
  { pool }: Pick<Connection, 'pool'>,
  ours: SimulatedDag,
  theirs: SimulatedDag,
): Promise<DagTransaction[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select encode(t.transaction_id, 'hex') as id
       from chain_blocks c cross join lateral unnest(c.accepted_transactions) accepted (id) join transactions t on t.id = accepted.id
      where c.index < (select max(chain_index) from starts) and t.subnetwork_id <> 1`,
  );
  const known = new Set(rows.map(({ id }) => id));
  const { utxos } = theirs.node.consensus;
  return ours.node.dag.chainBlocks
    .flatMap(({ accepted = [] }) => accepted.map(({ transaction }) => transaction))
    .filter(({ transactionId, inputs }) => {
      const areThere = inputs.every(({ previousOutpoint }) => utxos.find(outpointKey(previousOutpoint)) !== undefined);
      return known.has(toHex(transactionId)) && areThere;
    });
}
