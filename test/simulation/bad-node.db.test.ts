/**
 * Invariants 10 and 11: bad data of a node is never written, and permanent problems stop the
 * indexer with an explanation.
 */
import { createHash } from 'node:crypto';
import type { Fault } from '@kasgres/devnet';
import { computeMass, type Hash, toHex } from '@kasgres/kaspa';
import { type BlocksResponse, NodeClient, type RpcBlock, type VirtualChainResponse } from '@kasgres/node';
import { FatalError } from '@kasgres/runtime';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { blockOn, payment, scriptOf } from '@kasgres/devnet/testing';
import {
  atRest,
  createHarness,
  expectInvariants,
  expectRight,
  freshDatabase,
  type Harness,
  onTestEnd,
  SEED,
} from '../support/harness.ts';
import { NodeBehindProxy, PARAMS, type RunningIndexer, startIndexing, SimulatedDag } from '../support/simulated-dag.ts';
import { createPruningHarness, expectRightFromBootstrap, pruneAbove } from './bootstraps-harness.ts';

const FAULTS: Fault[] = [
  { kind: 'drop' },
  { kind: 'delay', ms: 20 },
  { kind: 'cut' },
  { kind: 'error', message: 'something is wrong' },
  { kind: 'error', message: 'consensus is currently in a transitional ibd state' },
  { kind: 'header-only' },
  { kind: 'stale' },
];
const FAULT_RATE = 0.07;
const FAULTY_OPS = new Set(['getBlocks', 'getVirtualChainFromBlock', 'getVirtualChainFromBlockV2', 'getBlock']);

test('the index stays right with responses that fail, break off, are late, stale or incomplete', async () => {
  let isFaulty = true;
  let asked = 0;
  const harness = await createHarness('bad responses', (op) => {
    asked += 1;
    const [first, second] = createHash('sha256').update(`${SEED} ${asked}`).digest();
    return isFaulty && FAULTY_OPS.has(op) && Number(first) < 256 * FAULT_RATE
      ? FAULTS[Number(second) % FAULTS.length]
      : undefined;
  });
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(250);
  const indexer = startIndexing(simulatedDag, database.url, { batchTransactions: '60' });
  await atRest(database, node, indexer);
  for (let step = 0; step < 12; step += 1) {
    simulatedDag.mine(6);
    await atRest(database, node, indexer);
  }
  isFaulty = false;
  // The indexer retries unresolved variants while the chain grows.
  for (let step = 0; step < 20; step += 1) {
    simulatedDag.mine(2);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRight(harness);
});

test('a node that does not know the checkpoint stops the indexer, and no row changes', async () => {
  const { simulatedDag, database, node } = await createHarness('own chain');
  simulatedDag.mine(30);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  const { rows: before } = await database.pool.query('select * from checkpoint');

  const other = await SimulatedDag.start('another chain');
  try {
    other.mine(60);
    const lost = startIndexing(other, database.url);
    await expect(lost.ended).rejects.toThrow(/no longer knows block [0-9a-f]{64}/);
    await expect(lost.ended).rejects.toBeInstanceOf(FatalError);
  } finally {
    other.stop();
  }
  const { rows: after } = await database.pool.query('select * from checkpoint');
  expect(after).toEqual(before);
});

test('the indexer refuses the database of another network', async () => {
  const { simulatedDag } = await createHarness('another network');
  const database = await freshDatabase();
  await database.pool.query("insert into meta (network) values ('mainnet')");
  const indexer = startIndexing(simulatedDag, database.url);
  await expect(indexer.ended).rejects.toThrow(/This database holds mainnet, but the node is on simnet/);
});

test('the second of two indexers on one database stops with an explanation', async () => {
  const { simulatedDag, database, node } = await createHarness('two indexers');
  simulatedDag.mine(20);
  const first = startIndexing(simulatedDag, database.url);
  await atRest(database, node, first);
  const second = startIndexing(simulatedDag, database.url);
  await expect(second.ended).rejects.toThrow(/Another indexer is writing to this database/);
  simulatedDag.mine(20);
  await atRest(database, node, first);
  await first.stop();
});

afterEach(() => vi.restoreAllMocks());

/** Changes responses of one of two nodes; each returns whether it found something to lie about. */
interface Lie {
  chain?: (response: VirtualChainResponse, dag: SimulatedDag) => boolean;
  blocks?: (response: BlocksResponse) => boolean;
  sinkBlueScore?: bigint;
  error?: Error;
}

const repeatFirst = (items: unknown[]): boolean => {
  if (items[0] === undefined) return false;
  items.push(items[0]);
  return true;
};

/** Accepts a transaction of the mergeset that an earlier chain block accepted. */
function acceptAgain({ acceptedTransactionIds }: VirtualChainResponse, { node }: SimulatedDag): boolean {
  return acceptedTransactionIds.some((entry) => {
    const chainBlock = node.dag.get(toHex(entry.acceptingBlockHash));
    const accepted = new Set(entry.acceptedTransactionIds.map(toHex));
    const merged = chainBlock.mergeSet.flatMap(({ transactions }) => transactions.slice(1));
    const repeated = merged.find(({ transactionId }) => {
      const id = toHex(transactionId);
      return !accepted.has(id) && node.dag.findAcceptingBlock(id) !== undefined;
    });
    if (repeated !== undefined) entry.acceptedTransactionIds.push(repeated.transactionId);
    return repeated !== undefined;
  });
}

/** Leaves out the last transaction of a selected parent with payments. */
function leaveOutPayment({ acceptedTransactionIds }: VirtualChainResponse, { node }: SimulatedDag): boolean {
  return acceptedTransactionIds.some((entry) => {
    const [selectedParent] = node.dag.get(toHex(entry.acceptingBlockHash)).mergeSet;
    const last = (selectedParent?.transactions.length ?? 0) - 1;
    return last > 0 && entry.acceptedTransactionIds.splice(last, 1).length > 0;
  });
}

/** Changes the blocks that merge several others. */
const ofMerging =
  (change: (block: RpcBlock) => unknown) =>
  ({ blocks }: BlocksResponse): boolean => {
    const merging = blocks.filter((block) => block.mergeSetBluesHashes.length > 1);
    for (const block of merging) change(block);
    return merging.length > 0;
  };

const LIES: Record<string, Lie> = {
  'an accepted id twice': {
    chain: ({ acceptedTransactionIds }) =>
      acceptedTransactionIds.some((entry) => repeatFirst(entry.acceptedTransactionIds)),
  },
  'an id that an earlier chain block accepted': { chain: acceptAgain },
  'a chain block that accepts nothing': {
    chain: ({ acceptedTransactionIds: [entry] }) => (entry?.acceptedTransactionIds.splice(0).length ?? 0) > 0,
  },
  'a chain block that does not accept the coinbase of its selected parent': {
    chain: ({ acceptedTransactionIds: [entry] }) => entry?.acceptedTransactionIds.shift() !== undefined,
  },
  'a chain block that does not accept a payment of its selected parent': { chain: leaveOutPayment },
  'a chain block twice': {
    chain: ({ addedChainBlockHashes, acceptedTransactionIds }) =>
      repeatFirst(addedChainBlockHashes) && repeatFirst(acceptedTransactionIds),
  },
  'a removed chain block that is not of this index': {
    chain: ({ removedChainBlockHashes, addedChainBlockHashes }, { node }) => {
      if (addedChainBlockHashes.length === 0) return false;
      const [below] = node.dag.chainBlocks;
      removedChainBlockHashes.push(Buffer.from(below?.hash ?? '', 'hex'));
      return true;
    },
  },
  'a merged block twice': {
    blocks: ofMerging((block) => block.mergeSetRedsHashes.push(block.mergeSetBluesHashes[1] as Hash)),
  },
  'a wrong selected parent': {
    blocks: ofMerging((block) => (block.selectedParentHash = block.mergeSetBluesHashes[1] as Hash)),
  },
  'a mergeset without a parent': {
    blocks: ofMerging((block) => (block.mergeSetBluesHashes = [block.mergeSetBluesHashes[0] as Hash])),
  },
  'a blue score that no column holds': { sinkBlueScore: 2n ** 64n - 1n },
  'a value that cannot be encoded': {
    error: new RangeError('18446744073709551615 is out of range for a column of type bigint'),
  },
  'a response that makes the program fail in an unknown way': {
    error: new TypeError('Cannot read properties of undefined'),
  },
};

/** Returns methods, each of which must be called on a client. */
function methodsOfNodeClient() {
  // oxlint-disable typescript/unbound-method
  const { getBlocks, getVirtualChainFromBlock } = NodeClient.prototype;
  const call = NodeClient.prototype.call as (...args: unknown[]) => Promise<unknown>;
  // oxlint-enable typescript/unbound-method
  return { getBlocks, getVirtualChainFromBlock, call };
}

/** Makes the node at this URL lie to an indexer. Returns how many lies it told. */
function lieTo(indexer: () => RunningIndexer, url: string, dag: SimulatedDag, lie: Lie): () => number {
  let lies = 0;
  const { getBlocks, getVirtualChainFromBlock, call } = methodsOfNodeClient();
  const isAsked = (client: NodeClient): boolean => indexer().nodes.client === client && indexer().nodes.url === url;
  vi.spyOn(NodeClient.prototype, 'getVirtualChainFromBlock').mockImplementation(async function (
    this: NodeClient,
    ...args
  ) {
    const response = await getVirtualChainFromBlock.apply(this, args);
    if (isAsked(this) && lie.chain?.(response, dag) === true) lies += 1;
    return response;
  });
  vi.spyOn(NodeClient.prototype, 'getBlocks').mockImplementation(async function (this: NodeClient, ...args) {
    const response = await getBlocks.apply(this, args);
    if (!isAsked(this)) return response;
    if (lie.error !== undefined) {
      lies += 1;
      throw lie.error;
    }
    if (lie.blocks?.(response) === true) lies += 1;
    return response;
  });
  const { sinkBlueScore } = lie;
  const respond = async function (this: NodeClient, ...args: unknown[]): Promise<unknown> {
    const response = await call.apply(this, args);
    if (!isAsked(this) || args[0] !== 'getSinkBlueScore' || sinkBlueScore === undefined) return response;
    lies += 1;
    return { blueScore: sinkBlueScore };
  };
  vi.spyOn(NodeClient.prototype, 'call').mockImplementation(respond as typeof NodeClient.prototype.call);
  return () => lies;
}

describe('of two nodes, one of which lies, the other one is followed, and the index stays right', () => {
  test.each(Object.entries(LIES))('%s', async (name, lie) => {
    const harness = await createHarness(`lies: ${name}`, undefined, undefined, { duplicateRate: 0.8, reorgRate: 0 });
    const { simulatedDag, database, node } = harness;
    const liar = await serve(harness);
    const honest = await serve(harness);
    simulatedDag.mine(60);
    const NODE_URL = `${liar.url},${honest.url}`;
    let indexer = startIndexing(simulatedDag, database.url, { NODE_URL });
    onTestEnd(() => indexer.stop().catch(() => undefined));
    await atRest(database, node, indexer);
    await indexer.stop();

    const told = lieTo(() => indexer, liar.url, simulatedDag, lie);
    indexer = startIndexing(simulatedDag, database.url, { NODE_URL });
    for (let round = 0; round < 60 && indexer.nodes.url === liar.url; round += 1) {
      simulatedDag.mine(2);
      await atRest(database, node, indexer);
    }
    expect(told()).toBeGreaterThan(0);
    expect(indexer.nodes.url).toBe(honest.url);
    await indexer.stop();
    await expectInvariants(database.pool, node);
  });
});

async function serve({ simulatedDag }: Harness): Promise<NodeBehindProxy> {
  const node = await NodeBehindProxy.start(simulatedDag.node);
  onTestEnd(async () => node.stop());
  return node;
}

test('an only node is asked again as long as its responses cannot be written', async () => {
  const harness = await createHarness('lies of an only node');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(30);
  const lie: Lie = { error: new RangeError('a value is out of range') };
  const indexer = startIndexing(simulatedDag, database.url);
  const told = lieTo(() => indexer, simulatedDag.server.url, simulatedDag, lie);
  onTestEnd(() => indexer.stop().catch(() => undefined));
  // More often than the program tries after failures of unknown kind.
  await expect.poll(told, { timeout: 120_000, interval: 50 }).toBeGreaterThan(5);
  delete lie.error;
  await atRest(database, node, indexer);
  await indexer.stop();
});

test('a first catch-up from a pruning point accepts no transaction that spends an unknown UTXO', async () => {
  const harness = await createPruningHarness('an unknown UTXO');
  const { simulatedDag, database, node } = harness;
  pruneAbove(simulatedDag, 80);
  const [utxo] = simulatedDag.node.consensus.utxos.values();
  if (utxo === undefined) throw new Error('there is no UTXO');
  const invented = { ...utxo, outpoint: { transactionId: Buffer.alloc(32, 1), index: 0 } };
  const spending = payment(invented, scriptOf(3));
  simulatedDag.node.receive(blockOn(simulatedDag.node, { payments: [spending] }));
  simulatedDag.mine(20);
  const id = toHex(spending.transactionId);
  const lie: Lie = {
    chain: ({ acceptedTransactionIds }, { node: { dag } }) =>
      acceptedTransactionIds.some((entry) => {
        const { mergeSet } = dag.get(toHex(entry.acceptingBlockHash));
        const merges = mergeSet.some(({ transactions }) =>
          transactions.some((each) => toHex(each.transactionId) === id),
        );
        if (merges) entry.acceptedTransactionIds.push(spending.transactionId);
        return merges;
      }),
  };
  const indexer = startIndexing(simulatedDag, database.url);
  const told = lieTo(() => indexer, simulatedDag.server.url, simulatedDag, lie);
  onTestEnd(() => indexer.stop().catch(() => undefined));
  await expect.poll(told, { timeout: 120_000, interval: 50 }).toBeGreaterThan(2);
  delete lie.chain;
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRightFromBootstrap(harness);
});

test('the compute mass is computed, regardless of what the node says', async () => {
  const harness = await createHarness('compute mass');
  const { simulatedDag, database, node } = harness;
  const miner = scriptOf(2);
  for (let made = 0; made < PARAMS.coinbaseMaturity + 10; made += 1) {
    simulatedDag.node.receive(blockOn(simulatedDag.node, { miner, nonce: made }));
  }
  const [utxo] = simulatedDag.node.consensus.utxos.utxosOf(miner);
  const paid = payment(utxo, scriptOf(3));
  simulatedDag.node.receive(blockOn(simulatedDag.node, { payments: [paid] }));
  Object.assign(simulatedDag.node.dag.findTransaction(toHex(paid.transactionId)) ?? {}, {
    computeMass: 2n ** 64n - 1n,
  });
  simulatedDag.node.receive(blockOn(simulatedDag.node));
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  const { rows } = await database.pool.query<{ mass: string }>(
    'select compute_mass::text as mass from transactions where transaction_id = $1',
    [Buffer.from(paid.transactionId)],
  );
  expect(rows).toEqual([{ mass: String(computeMass(paid)) }]);
});
