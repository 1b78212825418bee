/**
 * Real nodes that a test starts, ends, wipes and joins, a running indexer of them, and whether what it wrote is right at the end.
 * All that a test has started ends with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFailed, onTestFinished } from 'vitest';
import { createTestDatabase, type TestDatabase } from '@kasgres/database';
import { NodeClient, NodeUnavailableError } from '@kasgres/node';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { checkInvariant4 } from '../invariants/balances.ts';
import { checkGhostdag, checkInvariant7 } from '../invariants/completeness.ts';
import { checkInvariant8, checkUtxoCommitment } from '../invariants/hashes.ts';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { untilAtRest } from './at-rest.ts';
import { snapshotOfFreshIndex } from './fresh-index.ts';
import { Kaspad, type KaspadOptions } from './kaspad.ts';
import { Load } from './load/load.ts';
import { PeerLink } from './peer-link.ts';
import { type Program, startIndexer } from './programs.ts';
import { nothingPruned, smallPruning, smallPruningDepths, smallPruningLoad } from './pruning.ts';

const PAYMENTS_PER_BLOCK = 5;
/** Enough empty blocks that coinbases have matured. */
const WARM_UP_BLOCKS = 150;
const WAIT_MS = 300_000;
const PAUSE_MS = 50;
const SMALL_REORGANISATION = 3n;

/** A node, and a client of it that outlives its restarts. */
export interface Peer {
  kaspad: Kaspad;
  node: NodeClient;
  /** As the indexer names it. */
  name: string;
}

/** A database, and the indexer that writes it. */
export interface Index {
  database: TestDatabase;
  indexer: Program;
}

/** Keeps everything, unless told otherwise. */
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

/** Two nodes, of which the second has joined the first. */
export async function startPair(): Promise<[Peer, Peer]> {
  const [first, second] = [await startPeer(), await startPeer()];
  await second.kaspad.join(first.kaspad.p2pUrl);
  return [first, second];
}

/** Runs it again. */
export async function bringBack({ kaspad, node }: Peer): Promise<void> {
  await kaspad.run();
  await node.waitUntilConnected({ signal: AbortSignal.timeout(WAIT_MS) });
}

/** Cuts it off from all its peers, which a node forgets when it ends. None of them may have joined it. */
export async function isolate(peer: Peer): Promise<void> {
  await peer.kaspad.halt();
  await bringBack(peer);
}

/** `bytesPerSecond` makes what the second tells the first as slow as that, until it is set to something else. */
export async function joinSlowly(
  peer: Peer,
  other: Peer,
  { bytesPerSecond }: { bytesPerSecond: number },
): Promise<PeerLink> {
  const link = await linkTo(other, { bytesPerSecond });
  await peer.kaspad.join(link.url);
  return link;
}

export async function linkTo({ kaspad }: Peer, { bytesPerSecond }: { bytesPerSecond: number }): Promise<PeerLink> {
  const link = await PeerLink.open(kaspad.p2pUrl);
  onTestFinished(() => link.cut());
  link.bytesPerSecond = bytesPerSecond;
  return link;
}

/** Of an indexer that may have to start at the node's pruning point. */
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

/** A load on that node, with its first UTXOs, and with so many blocks beyond these. */
export async function beginLoad({ node }: Peer, seed: string, blocks: number): Promise<Load> {
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

/** Rounds of the load until the signal, whether its node is there or not. */
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

/** An index of these nodes, the first of which it follows first. */
export async function startIndex(peers: readonly Peer[], env: Record<string, string> = {}): Promise<Index> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const index = { database, indexer: startIndexing(database, peers, env) };
  onTestFailed(() => {
    process.stdout.write(`The indexer said last:\n${index.indexer.output()}\n`);
  });
  return index;
}

/** Only the process. */
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

/** It has all that this node has. */
export async function untilIndexed({ database, indexer }: Index, { node }: Peer): Promise<void> {
  await untilAtRest(database.pool, node, indexer);
}

export async function untilSaid({ indexer }: Index, words: string | RegExp): Promise<void> {
  const isSaid = (): boolean =>
    typeof words === 'string' ? indexer.output().includes(words) : words.test(indexer.output());
  await until(async () => isSaid(), `the indexer did not say ${String(words)}:\n${indexer.output()}`);
}

/** Waits as long as an indexer would need to do something wrong. */
export async function expectPatience({ indexer, database }: Index, milliseconds: number): Promise<void> {
  const before = await indexedBlueScore({ database });
  await sleep(milliseconds);
  expect(indexer.isRunning(), indexer.output()).toBe(true);
  expect(await indexedBlueScore({ database })).toBe(before);
}

/** Of the checkpoint; -1 without one. */
export async function indexedBlueScore({ database }: Pick<Index, 'database'>): Promise<bigint> {
  const { rows } = await database.pool.query<{ blue_score: bigint }>(
    'select b.blue_score from checkpoint c join blocks b on b.id = c.block_id',
  );
  return rows[0]?.blue_score ?? -1n;
}

/** Watches the checkpoint from now on. */
export function watchCheckpoint(index: Index): { expectNothingUndone(): Promise<void> } {
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
    expectNothingUndone: async () => {
      done.abort();
      const scores = await watching;
      // A small reorganisation at the tip is none of a node that has lost its blocks.
      expect(
        scores.every((score) => score + SMALL_REORGANISATION >= (scores[0] ?? 0n)),
        scores.join(),
      ).toBe(true);
    },
  };
}

/** It is what a fresh index of this node is, and the indexer still runs. Nobody may mine meanwhile. */
export async function expectRight(index: Index, peer: Peer): Promise<void> {
  await untilIndexed(index, peer);
  const { pool } = index.database;
  const expected = await snapshotOfFreshIndex(peer.kaspad.url, peer.node, p2pOf(peer));
  expect(differencesOf(expected, await takeSnapshot(pool))).toEqual([]);
  expect(await checkInvariant3(pool, peer.node)).toEqual([]);
  await expectSound(index);
}

/** What can be told without a node. */
export async function expectSound({ database: { pool }, indexer }: Index): Promise<void> {
  expect(await checkInvariant4(pool)).toEqual([]);
  expect(await checkInvariant7(pool)).toEqual([]);
  expect(await checkGhostdag(pool)).toEqual([]);
  expect(await checkInvariant8(pool)).toEqual([]);
  expect(await checkUtxoCommitment(pool, 'utxos')).toEqual([]);
  expect(indexer.isRunning(), indexer.output()).toBe(true);
}

/** @throws Error with these words */
export async function until(isSo: () => Promise<boolean>, words: string): Promise<void> {
  const giveUpAt = Date.now() + WAIT_MS;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error(words);
    await sleep(PAUSE_MS);
  }
}
