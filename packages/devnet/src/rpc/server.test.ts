import { fromHex, getNetwork, scriptToAddress, type Utxo, ZERO_HASH } from '@kasgres/kaspa';
import {
  NodeClient,
  NodeProtocolError,
  NodeRpcError,
  NodeUnavailableError,
  type Notification,
  protocol,
} from '@kasgres/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { NodeEvent, NodeState } from '../dag/node-state.ts';
import { hashOf, SmallDag, transactionOf } from '../dag/testing/small-dag.ts';
import { type Fault, NodeServer } from './server.ts';

/** The state of a node around a small DAG, for tests of the server. */
type SmallState = NodeState & {
  isUtxoIndexed: boolean;
  utxoEntries: Utxo[];
  /** Calls `SmallDag.setVirtual` and notifies the subscribers. */
  setVirtual: (parents: string[]) => void;
};

function smallState(small: SmallDag): SmallState {
  const { dag } = small;
  const listeners = new Set<(event: NodeEvent) => void>();
  const balance = () => state.utxoEntries.reduce((sum, { amount }) => sum + amount, 0n);
  const state: SmallState = {
    network: getNetwork('simnet'),
    dag,
    serverVersion: '2.1.0',
    isSynced: true,
    pruningPoint: dag.genesis.hash,
    isUtxoIndexed: true,
    utxoEntries: [],
    setVirtual(parents) {
      const change = small.setVirtual(parents);
      const added = change.added.map((block): NodeEvent => ({ kind: 'blockAdded', block }));
      for (const event of [...added, { kind: 'virtualChanged', change } as const]) {
        for (const listener of listeners) listener(event);
      }
    },
    findMempoolEntry: () => undefined,
    mempoolEntries: () => [],
    mempoolEntriesByScript: () => ({ sending: [], receiving: [] }),
    blockTemplate: (_, payload) => ({
      header: dag.genesis.header,
      transactions: dag.genesis.transactions.map((coinbase) => ({ ...coinbase, payload })),
    }),
    submitBlock: () => 'invalid',
    submitTransaction: () => ZERO_HASH,
    balance,
    utxos: () => state.utxoEntries,
    circulatingSompi: balance,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return state;
}

const { LOW, NONE } = protocol.GetVirtualChainFromBlockV2Request_DataVerbosityLevel;
const script = { version: 0, script: fromHex(`20${'07'.repeat(32)}ac`) };
const address = scriptToAddress(script, 'kaspasim') ?? '';
const addressOfMainnet = scriptToAddress(script, 'kaspa') ?? '';

/** A node over a chain of three blocks, and a client of it. Each fault hits the next request. */
async function startNode(small = chainOfThree()) {
  const state = smallState(small);
  const faults: Fault[] = [];
  const server = await NodeServer.start({ state, faults: () => faults.shift() });
  const client = new NodeClient({ url: server.url });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  await client.waitUntilConnected();
  return { state, faults, server, client };
}

function chainOfThree(): SmallDag {
  const small = new SmallDag();
  small.addChain('a', 'genesis', 3);
  small.setVirtual(['a3']);
  return small;
}

describe('responses', () => {
  test('are matched with their requests, regardless of how many are in flight', async () => {
    const { client } = await startNode();
    const names = ['a1', 'a2', 'a3', 'genesis', 'a2'];
    const blocks = await Promise.all(
      names.map((name) => client.call('getBlock', { hash: hashOf(name), includeTransactions: true })),
    );
    expect(blocks.map(({ block }) => block?.verboseData?.hash)).toEqual(names.map(hashOf));
  });

  test("are errors in kaspad's message", async () => {
    const { client } = await startNode();
    const ask = (hash: string) => client.call('getBlock', { hash, includeTransactions: true });
    await expect(ask('ab'.repeat(32))).rejects.toThrow(`cannot find header ${'ab'.repeat(32)}`);
    await expect(ask('xyz')).rejects.toThrow('Hex parsing error: Invalid input length 64');
    await expect(ask('z'.repeat(64))).rejects.toThrow('Hex parsing error: Invalid character');
    await expect(
      client.call('getBlocks', { lowHash: '', includeBlocks: false, includeTransactions: true }),
    ).rejects.toThrow('If includeTransactions is set, then includeBlockVerboseData must be set as well.');
    await expect(
      client.call('getMempoolEntries', { filterTransactionPool: true, includeOrphanPool: false }),
    ).rejects.toThrow('transaction query must either not filter transactions or include orphans');
  });

  test('about UTXOs accept addresses of every network, and need the UTXO index', async () => {
    const { client, state } = await startNode();
    const outpoint = { transactionId: fromHex(hashOf('made')), index: 1 };
    state.utxoEntries = [
      { outpoint, amount: 5n, scriptPublicKey: script, blockDaaScore: 2n, isCoinbase: false, covenantId: undefined },
    ];
    const addresses = [address, addressOfMainnet, address];
    const { entries: balances } = await client.call('getBalancesByAddresses', { addresses });
    expect(balances.map((entry) => [entry.address, entry.balance])).toEqual(addresses.map((asked) => [asked, 5n]));
    const { entries: utxos } = await client.call('getUtxosByAddresses', { addresses });
    expect(utxos.map((entry) => [entry.address, entry.outpoint?.index])).toEqual([[address, 1]]);

    state.isUtxoIndexed = false;
    await expect(client.call('getCoinSupply', {})).rejects.toMatchObject({ kind: 'no-utxoindex' });
    await expect(client.call('getBalanceByAddress', { address: 'kaspasim:' })).rejects.toThrow(
      'The address payload is invalid',
    );
  });

  test('with templates require addresses of this network, and limit the extra data', async () => {
    const { client } = await startNode();
    const ask = (payAddress: string, extraData: string) => client.call('getBlockTemplate', { payAddress, extraData });
    const { block } = await ask(address, 'hello');
    expect(block?.header?.hash).toBe('');
    expect(block?.transactions[0]?.payload).toBe(Buffer.from('hello').toString('hex'));
    await expect(ask(addressOfMainnet, '')).rejects.toThrow('The address has an invalid prefix kaspa');
    await expect(ask(address, 'x'.repeat(200))).rejects.toThrow('Coinbase payload is above max length (204)');
  });

  test('with accepted transactions fail if any script has no address', async () => {
    const small = new SmallDag();
    const strange = { amount: 1n, scriptPublicKey: { version: 0, script: Buffer.of(0x51) }, covenant: undefined };
    small.add('a', { parents: ['genesis'], transactions: [transactionOf('strange', [strange])] });
    small.addChain('b', 'a', 2);
    small.setVirtual(['b2']);
    const { client } = await startNode(small);
    const ask = (start: string, dataVerbosityLevel: typeof LOW | typeof NONE) =>
      client.call('getVirtualChainFromBlockV2', { startHash: hashOf(start), dataVerbosityLevel });
    await expect(ask('genesis', LOW)).rejects.toThrow('The address is invalid');
    const fromB = await ask('b1', LOW);
    expect(fromB.chainBlockAcceptedTransactions[0]?.acceptedTransactions[0]?.verboseData?.blockHash).toBe(hashOf('b1'));
    const withoutData = await ask('genesis', NONE);
    expect(withoutData.addedChainBlockHashes).toEqual(['a', 'b1', 'b2'].map(hashOf));
    expect(withoutData.chainBlockAcceptedTransactions[1]?.acceptedTransactions[0]?.verboseData?.transactionId).toBe(
      undefined,
    );
  });
});

describe('notifications', () => {
  test('are sent to subscribers, in the form they subscribed to', async () => {
    const small = chainOfThree();
    small.add('b3', { parents: ['a2'] });
    small.add('b4', { parents: ['b3'] });
    const { client, state } = await startNode(small);
    const received: Notification[] = [];
    await new Promise<void>((resolve) => {
      client.subscribe(['virtualChainChanged', 'sinkBlueScoreChanged'], (notification) => received.push(notification), {
        includeAcceptedTransactionIds: true,
        onSubscribed: resolve,
      });
    });
    state.setVirtual(['b4']);
    await expect.poll(() => received).toHaveLength(2);
    expect(received.map(({ topic }) => topic)).toEqual(['virtualChainChanged', 'sinkBlueScoreChanged']);
    expect(received[0]?.message).toMatchObject({
      removedChainBlockHashes: [hashOf('a3')],
      addedChainBlockHashes: [hashOf('b3'), hashOf('b4')],
      acceptedTransactionIds: [{ acceptingBlockHash: hashOf('b3') }, { acceptingBlockHash: hashOf('b4') }],
    });
  });
});

describe('faults', () => {
  test('drop: every connection is closed, and the next one is served', async () => {
    const { client, faults } = await startNode();
    faults.push({ kind: 'drop' });
    await expect(client.call('getSink', {})).rejects.toThrow(NodeUnavailableError);
    await client.waitUntilConnected();
    expect((await client.call('getSink', {})).sink).toBe(hashOf('a3'));
  });

  test('delay: it responds late, with the state at the time of the response', async () => {
    const { client, faults, state } = await startNode();
    faults.push({ kind: 'delay', ms: 50 });
    const response = client.call('getSink', {});
    await expect(client.call('getSink', {}, { deadlineMs: 10 })).rejects.toThrow(NodeUnavailableError);
    state.setVirtual(['a2']);
    expect((await response).sink).toBe(hashOf('a2'));
  });

  test('cut: it sends an incomplete message', async () => {
    const { client, faults } = await startNode();
    faults.push({ kind: 'cut' });
    await expect(client.call('getSink', {})).rejects.toThrow(NodeProtocolError);
  });

  test('error: the node refuses', async () => {
    const { client, faults } = await startNode();
    faults.push({ kind: 'error', message: 'consensus is currently in a transitional ibd state' });
    await expect(client.call('getSink', {})).rejects.toThrow(NodeRpcError);
  });

  test('header-only: blocks come without bodies', async () => {
    const { client, faults } = await startNode();
    faults.push({ kind: 'header-only' });
    const request = { lowHash: fromHex(hashOf('a1')), includeBlocks: true, includeTransactions: true };
    const cut = await client.getBlocks(request);
    expect(cut.blocks.map((block) => [block.isHeaderOnly, block.transactions.length])).toEqual([
      [true, 0],
      [true, 0],
      [true, 0],
    ]);
    expect((await client.getBlocks(request)).blocks.every((block) => block.transactions.length === 1)).toBe(true);
  });

  test('stale: it repeats the previous response', async () => {
    const { client, faults, state } = await startNode();
    await client.call('getSink', {});
    state.setVirtual(['a2']);
    faults.push({ kind: 'stale' });
    expect((await client.call('getSink', {})).sink).toBe(hashOf('a3'));
    expect((await client.call('getSink', {})).sink).toBe(hashOf('a2'));
  });
});
