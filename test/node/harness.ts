/**
 * Real nodes that a test starts, stops, wipes and connects, an index of them, and the checks of
 * that index. All of it stops with the test.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { fromHex, scriptToAddress, type Utxo } from '@kasgres/kaspa';
import { NodeClient, NodeUnavailableError, type protocol } from '@kasgres/node';
import { checkUtxoCommitment } from '@kasgres/verification';
import { expect, onTestFailed, onTestFinished } from 'vitest';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { firstDifference } from '../support/compare/comparison.ts';
import { readDag } from '../support/compare/node-dag.ts';
import { readUtxoState } from '../support/compare/utxos.ts';
import { expectInvariants, snapshotOfFreshIndex, untilAtRest } from '../support/harness.ts';
import { Kaspad, type KaspadOptions } from '../support/kaspad.ts';
import { stateOf, storedState } from '../support/oracle.ts';
import { type Program, startIndexer } from '../support/programs.ts';
import { Load } from './load/load.ts';
import { mineTemplate } from './load/miner.ts';
import { nothingPruned, smallPruning, smallPruningDepths, smallPruningLoad } from './pruning.ts';

const PAYMENTS_PER_BLOCK = 5;
/** Coinbases are mature after this many empty blocks. */
const WARM_UP_BLOCKS = 150;
const WAIT_MS = 300_000;
const PAUSE_MS = 50;
const PIECES_PER_SECOND = 20;
/** Reorgs up to this depth happen at the tip. */
const MAX_TIP_REORG = 3n;

/** A node, and a client that survives its restarts. */
export interface Peer {
  kaspad: Kaspad;
  node: NodeClient;
  /** `host:port`, as in the indexer's log. */
  name: string;
}

export interface Index {
  database: TestDatabase;
  indexer: Program;
}

/** By default the node does not prune. */
export async function startPeer(options: KaspadOptions = { overrides: nothingPruned }): Promise<Peer> {
  const kaspad = await Kaspad.start(options);
  onTestFinished(() => kaspad.stop());
  onTestFailed(() => {
    if (kaspad.refusals.length > 0) process.stdout.write(`Refused by ${kaspad.url}:\n${kaspad.refusals.join('\n')}\n`);
  });
  const node = new NodeClient({ url: kaspad.url, streams: 2, maxPauseMs: 200 });
  onTestFinished(() => node.close());
  await node.waitUntilConnected({ signal: AbortSignal.timeout(WAIT_MS) });
  return { kaspad, node, name: new URL(kaspad.url).host };
}

/** Starts two nodes, of which the second has joined the first. */
export async function startPair(): Promise<[Peer, Peer]> {
  const [first, second] = [await startPeer(), await startPeer()];
  await second.kaspad.join(first.kaspad.p2pUrl);
  return [first, second];
}

export async function restartPeer({ kaspad, node }: Peer): Promise<void> {
  await kaspad.run();
  await node.waitUntilConnected({ signal: AbortSignal.timeout(WAIT_MS) });
}

/** Restarts the node, which forgets its peers. None of them may have joined it. */
export async function isolate(peer: Peer): Promise<void> {
  await peer.kaspad.halt();
  await restartPeer(peer);
}

/** Connects `peer` to `other`, whose data comes at the rate of the link. */
export async function joinSlowly(peer: Peer, other: Peer, link: Omit<PeerLink, 'url'>): Promise<void> {
  await peer.kaspad.join((await linkTo(other, link)).url);
}

/**
 * A connection to a peer that limits the rate of its data, so that a synchronisation takes as long
 * as needed.
 */
export interface PeerLink {
  /** A node joins this address instead of the peer's. */
  url: string;
  bytesPerSecond: number;
}

/** Opens a link until the end of the test. Its rate may be changed. */
export async function linkTo({ kaspad }: Peer, { bytesPerSecond }: Omit<PeerLink, 'url'>): Promise<PeerLink> {
  const { hostname, port } = new URL(kaspad.p2pUrl);
  const link = { url: '', bytesPerSecond };
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    sockets.push(client, upstream);
    pipeline(client, upstream).catch(() => undefined);
    pipeline(upstream, slowly, client).catch(() => undefined);
  });
  async function* slowly(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const data of source) {
      for (let rest = data; rest.length > 0; ) {
        const length = Math.min(rest.length, Math.ceil(link.bytesPerSecond / PIECES_PER_SECOND));
        yield rest.subarray(0, length);
        rest = rest.subarray(length);
        if (link.bytesPerSecond !== Infinity) await sleep(1_000 / PIECES_PER_SECOND);
      }
    }
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  link.url = `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return link;
}

/** Returns the environment of an indexer that may have to start at the node's pruning point. */
export function p2pOf({ kaspad }: Pick<Peer, 'kaspad'>): Record<string, string> {
  return { NODE_P2P_URL: kaspad.p2pUrl, ...(kaspad.overrides === smallPruning && smallPruningDepths) };
}

export async function untilSameSink(first: Peer, second: Peer): Promise<void> {
  await until(async () => (await sinkOf(first)) === (await sinkOf(second)), 'the nodes do not agree');
}

export async function sinkOf({ node }: Peer): Promise<string> {
  return (await node.call('getSink', {})).sink;
}

export async function pruningPointOf({ node }: Peer): Promise<string> {
  return (await node.call('getBlockDagInfo', {})).pruningPointHash;
}

export async function blueScoreOf({ node }: Peer): Promise<bigint> {
  return (await node.call('getSinkBlueScore', {})).blueScore;
}

/** Starts a load, with this many blocks after its warm-up. */
export async function startLoad({ node }: Peer, seed: string, blocks: number): Promise<Load> {
  process.stdout.write(`Load of the seed '${seed}'.\n`);
  const load = await Load.begin(node, { seed, paymentsPerBlock: PAYMENTS_PER_BLOCK, params: smallPruningLoad });
  await load.warmUp(WARM_UP_BLOCKS);
  await load.run({ blocks: WARM_UP_BLOCKS + blocks });
  return load;
}

export async function more(load: Load, blocks: number): Promise<void> {
  await load.run({ blocks: load.blocks + blocks });
}

export async function moreEmpty(load: Load, blocks: number): Promise<void> {
  await load.warmUp(load.blocks + blocks);
}

/** Runs the load until the signal, also while its node is away. */
export async function loadThroughOutages(load: Load, signal: AbortSignal, pauseMs = 0): Promise<void> {
  while (!signal.aborted) {
    try {
      await load.round();
      await sleep(pauseMs);
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Indexes these nodes, the first of them first. */
export async function startIndex(peers: readonly Peer[], env: Record<string, string> = {}): Promise<Index> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const index = { database, indexer: startIndexing(database, peers, env) };
  onTestFailed(() => {
    process.stdout.write(`Output of the indexer:\n${index.indexer.output()}\n`);
  });
  return index;
}

/** Starts an indexer on an existing database. */
export function startIndexing(
  database: TestDatabase,
  peers: readonly Peer[],
  env: Record<string, string> = {},
): Program {
  const nodeUrl = peers.map(({ kaspad }) => kaspad.url).join();
  const indexer = startIndexer({ nodeUrl, databaseUrl: database.url }, env);
  onTestFinished(() => indexer.stop());
  return indexer;
}

export async function untilIndexed({ database, indexer }: Index, { node }: Peer): Promise<void> {
  await untilAtRest(database.pool, node, indexer);
}

export async function untilLogged({ indexer }: Index, message: string | RegExp): Promise<void> {
  const isLogged = (): boolean =>
    typeof message === 'string' ? indexer.output().includes(message) : message.test(indexer.output());
  await until(async () => isLogged(), `the indexer did not log ${String(message)}:\n${indexer.output()}`);
}

/** Expects that the indexer runs and its checkpoint stays for this time. */
export async function expectNoProgress({ indexer, database }: Index, milliseconds: number): Promise<void> {
  const before = await indexedBlueScore({ database });
  await sleep(milliseconds);
  expect(indexer.isRunning(), indexer.output()).toBe(true);
  expect(await indexedBlueScore({ database })).toBe(before);
}

/** Returns the blue score of the checkpoint; -1 without one. */
async function indexedBlueScore({ database }: Pick<Index, 'database'>): Promise<bigint> {
  const { rows } = await database.pool.query<{ blue_score: bigint }>(
    'select b.blue_score from checkpoint c join blocks b on b.id = c.block_id',
  );
  return rows[0]?.blue_score ?? -1n;
}

/** Records the checkpoint from now on. */
export function watchCheckpoint(index: Index): { expectNoReorg(): Promise<void> } {
  const done = new AbortController();
  const watching = (async () => {
    const scores = [await indexedBlueScore(index)];
    while (!done.signal.aborted) {
      const now = await indexedBlueScore(index);
      if (now !== scores.at(-1)) scores.push(now);
      await sleep(PAUSE_MS / 2);
    }
    return scores;
  })();
  return {
    expectNoReorg: async () => {
      done.abort();
      const scores = await watching;
      expect(
        scores.every((score) => score + MAX_TIP_REORG >= (scores[0] ?? 0n)),
        scores.join(),
      ).toBe(true);
    },
  };
}

/**
 * The indexer gives up after ten attempts, which are up to 64 changes of the chain apart
 * (prepare/ambiguous-variants.ts).
 */
const MOVES_UNTIL_GIVEN_UP = 130;

/**
 * Mines until the indexer knows all accepted variants or has given up: attempts that failed while
 * the node was away are repeated with later chain blocks.
 */
export async function retryVariants(index: Index, peer: Peer, load: Load): Promise<void> {
  for (let moves = 0; moves < MOVES_UNTIL_GIVEN_UP; moves += 1) {
    await untilIndexed(index, peer);
    const { rowCount } = await index.database.pool.query(
      `select from transactions where accepted_variant is null and accepting_index is not null
         and id in (select transaction_id from transaction_variants) limit 1`,
    );
    if (rowCount === 0) return;
    await more(load, 1);
  }
}

/**
 * Expects the state of a fresh index of this node, and an indexer that still runs. Nobody may mine
 * meanwhile.
 */
export async function expectRight(index: Index, peer: Peer): Promise<void> {
  await untilIndexed(index, peer);
  const { pool } = index.database;
  const expected = await snapshotOfFreshIndex(peer.kaspad.url, peer.node, p2pOf(peer));
  expect(differencesOf(expected, await takeSnapshot(pool))).toEqual([]);
  expect(await checkInvariant3(pool, peer.node)).toEqual([]);
  await expectSound(index);
}

/** Expects the invariants that can be checked without a node. */
export async function expectSound({ database: { pool }, indexer }: Index): Promise<void> {
  await expectInvariants(pool);
  expect(await checkUtxoCommitment(pool, 'utxos')).toEqual([]);
  expect(indexer.isRunning(), indexer.output()).toBe(true);
}

/**
 * Expects every UTXO, every balance and the supply of the node in the index. The node has them for
 * its virtual block: one block is mined in between. All inputs of accepted transactions must be
 * resolved.
 */
export async function expectStateOfNode(index: Index, peer: Peer, loads: readonly Load[]): Promise<void> {
  // The node reports its largest supply since it started.
  await peer.kaspad.halt();
  await restartPeer(peer);
  const { pool } = index.database;
  const { node } = peer;
  // The index may lack addresses, or have too many.
  const { rows: scripts } = await pool.query<{ address: string }>(
    'select address from scripts where address is not null',
  );
  const loaded = loads
    .flatMap(({ wallet }) => wallet.scripts)
    .flatMap((script) => scriptToAddress(script, 'kaspasim') ?? []);
  const addresses = [
    ...new Set([...loaded, ...(await readDag(node)).addresses, ...scripts.map(({ address }) => address)]),
  ];
  const { utxos, balances, circulatingSompi } = await readUtxoState(node, addresses, { isSupplyExact: true });
  const { virtualParentHashes } = await node.call('getBlockDagInfo', {});
  await mineTemplate(node);
  await untilIndexed(index, peer);
  const { block } = await node.call('getBlock', { hash: await sinkOf(peer), includeTransactions: false });
  expect(block?.header?.parents[0]?.parentHashes.toSorted()).toEqual(virtualParentHashes.toSorted());

  const expected = stateOf([...utxos.values()].flat().map(toUtxo));
  expect(Object.keys(expected.utxos)).not.toEqual([]);
  expect(firstDifference(expected, await storedState(pool, { addressedOnly: true }))).toBeUndefined();
  const { rows } = await pool.query<{ circulating: bigint; held: bigint; addressed: bigint; unresolved: number }>(
    `select c.circulating_sompi as circulating, (select sum(balance)::bigint from balances) as held,
       (select sum(balance)::bigint from balances join scripts s on s.id = script_id
         where s.address is not null) as addressed,
       (select count(*)::int from transaction_inputs i
         join transactions t on t.id = i.transaction_id
        where t.accepting_index is not null
          and (i.amount is null or i.script_id is null or t.fee is null)) as unresolved
     from checkpoint c`,
  );
  const addressed = [...balances.values()].reduce((sum, balance) => sum + balance, 0n);
  expect(rows).toEqual([{ circulating: circulatingSompi, held: circulatingSompi, addressed, unresolved: 0 }]);
}

function toUtxo({ outpoint, utxoEntry }: protocol.AddressUtxo): Utxo {
  const script = utxoEntry?.scriptPublicKey;
  if (outpoint === undefined || utxoEntry === undefined || script === undefined) throw new Error('an incomplete UTXO');
  return {
    outpoint: { transactionId: fromHex(outpoint.transactionId), index: outpoint.index },
    amount: utxoEntry.amount,
    scriptPublicKey: { version: script.version, script: fromHex(script.scriptPublicKey) },
    blockDaaScore: utxoEntry.blockDaaScore,
    isCoinbase: utxoEntry.isCoinbase,
    covenantId: utxoEntry.covenantId === '' ? undefined : fromHex(utxoEntry.covenantId),
  };
}

/** Throws Error with this message after WAIT_MS. */
export async function until(isSo: () => Promise<boolean>, message: string): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(message);
    await sleep(PAUSE_MS);
  }
}
