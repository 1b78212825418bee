import { NodeResponseTooLargeError, NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { post, serverOnNode } from '../../testing/node-stub.ts';

const MANY = '/v1/rpc/getMempoolEntriesByAddresses';
const ONE = '/v1/rpc/getMempoolEntry';
const ALICE = 'kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t';
const BOB = 'kaspasim:qzgprqydp4ct77pxza79wemj2acmph2pn3xhscaf4s6t3hfj2y8rk3qnkjdmg';

const idOf = (n: number) => n.toString(16).padStart(64, '0');

/** As the node sends it; `n` tells entries apart. */
function entry(n: number, changes: object = {}) {
  return {
    fee: 3_000_000n,
    isOrphan: false,
    transaction: {
      version: 0,
      inputs: [
        {
          previousOutpoint: { transactionId: idOf(1000 + n), index: 1 },
          signatureScript: '41',
          sequence: 2n ** 64n - 1n,
          sigOpCount: 1,
          computeBudget: 0,
        },
      ],
      outputs: [
        {
          amount: 5n,
          scriptPublicKey: { version: 0, scriptPublicKey: '51' },
          verboseData: { scriptPublicKeyType: 'pubkey', scriptPublicKeyAddress: BOB },
        },
        { amount: 6n, scriptPublicKey: { version: 0, scriptPublicKey: '52' } },
      ],
      lockTime: 0n,
      subnetworkId: '00'.repeat(20),
      gas: 0n,
      payload: 'ab',
      storageMass: 14_680n,
      verboseData: {
        transactionId: idOf(n),
        hash: idOf(500 + n),
        computeMass: 2036n,
        blockHash: idOf(0),
        blockTime: 0n,
      },
      ...changes,
    },
  };
}

const idsOf = (json: Record<string, unknown>) =>
  (json['entries'] as { transaction: { verboseData: { transactionId: string } } }[]).map(({ transaction }) =>
    Number.parseInt(transaction.verboseData.transactionId, 16),
  );

it('returns an entry in the specified form', async () => {
  const server = await serverOnNode((op, request) => {
    expect({ op, request }).toEqual({
      op: 'getMempoolEntry',
      request: { txId: idOf(1), includeOrphanPool: true, filterTransactionPool: false },
    });
    return { entry: entry(1) };
  });
  const { json } = await post(server, ONE, { transactionId: `0x${idOf(1)}`, includeOrphanPool: true });
  expect(json).toEqual({
    mempoolEntry: {
      fee: '3000000',
      isOrphan: false,
      transaction: {
        version: 0,
        inputs: [
          {
            previousOutpoint: { transactionId: idOf(1001), index: 1 },
            signatureScript: '41',
            sequence: '18446744073709551615',
            sigOpCount: 1,
          },
        ],
        outputs: [
          {
            value: '5',
            scriptPublicKey: '000051',
            verboseData: { scriptPublicKeyType: 'pubkey', scriptPublicKeyAddress: BOB },
          },
          { value: '6', scriptPublicKey: '000052' },
        ],
        lockTime: '0',
        subnetworkId: '00'.repeat(20),
        gas: '0',
        payload: '0xab',
        mass: '14680',
        verboseData: {
          transactionId: idOf(1),
          hash: idOf(501),
          computeMass: '2036',
          blockHash: idOf(0),
          blockTime: '0',
        },
      },
    },
  });
});

it('lists for each address what spends from it, then what pays to it, each transaction once', async () => {
  const server = await serverOnNode(() => ({
    entries: [
      { address: BOB, sending: [entry(4), entry(1)], receiving: [entry(5)] },
      { address: ALICE, sending: [entry(1), entry(2)], receiving: [entry(3), entry(2)] },
    ],
  }));
  const asked = async (addresses: string[]) => idsOf((await post(server, MANY, { addresses })).json);
  expect(await asked([ALICE, BOB])).toEqual([1, 2, 3, 4, 5]);
  expect(await asked([BOB, ALICE])).toEqual([4, 1, 5, 2, 3]);
});

it('reports errors and outages of the node', async () => {
  const errors = [
    new NodeRpcError('getMempoolEntry', `Transaction ${idOf(1)} not found`),
    new NodeUnavailableError('connect ECONNREFUSED'),
  ];
  const server = await serverOnNode(() => {
    throw errors.shift() as Error;
  });
  expect(await post(server, ONE, { transactionId: idOf(1) })).toMatchObject({
    status: 404,
    json: { statusCode: 404, message: `Transaction ${idOf(1)} not found` },
  });
  expect(await post(server, ONE, { transactionId: idOf(1) })).toMatchObject({
    status: 503,
    json: { statusCode: 503, message: 'The node is out of reach' },
  });
});

it('responds with a 503 if the response of the node is incomplete', async () => {
  const server = await serverOnNode(() => ({ entry: entry(1, { verboseData: undefined }) }));
  const { status, json } = await post(server, ONE, { transactionId: idOf(1) });
  expect({ status, json }).toEqual({
    status: 503,
    json: { statusCode: 503, message: 'The node sent an invalid response' },
  });
});

it.each([
  [5_000n, 200],
  [5_001n, 503],
] as const)('lists a mempool of %i transactions with status %i', async (mempoolSize, status) => {
  const asked: string[] = [];
  const server = await serverOnNode((op) => {
    asked.push(op);
    return op === 'getInfo' ? { mempoolSize } : { entries: [entry(1)] };
  });
  const { text, ...response } = await post(server, '/v1/rpc/getMempoolEntries', {});
  expect(response.status, text).toBe(status);
  expect(asked.includes('getMempoolEntries')).toBe(status === 200);
  if (status === 503) expect(response.json['message']).toContain('too large to list');
});

it('refuses addresses with more than 5,000 transactions', async () => {
  const many = Array.from({ length: 5_001 }, (_, n) => entry(n));
  const server = await serverOnNode(() => ({ entries: [{ address: ALICE, sending: many, receiving: [] }] }));
  const { status, json } = await post(server, MANY, { addresses: [ALICE] });
  expect(status).toBe(400);
  expect(json['details']).toEqual([
    { path: 'addresses', message: 'have more than 5000 transactions in the mempool: request fewer addresses at once' },
  ]);
});

it('lists a transaction that the node repeats for each address as often as it pays', async () => {
  const large = Array.from({ length: 20 }, (_, n) => largeEntry(n));
  const entries = Array.from({ length: 20 }, () => ({ address: ALICE, sending: large, receiving: large }));
  const server = await serverOnNode(() => ({ entries }));
  const { status, json } = await post(server, MANY, { addresses: [ALICE] });
  expect({ status, ids: idsOf(json) }).toEqual({ status: 200, ids: Array.from({ length: 20 }, (_, n) => n) });
});

it('refuses a response that is too long to be received: to the one who asked, as no failure of the node', async () => {
  const server = await serverOnNode((op) => {
    if (op === 'getInfo') return { mempoolSize: 27n };
    throw new NodeResponseTooLargeError(op, 201_900_000);
  });
  const ofAddresses = await post(server, MANY, { addresses: [ALICE] });
  expect(ofAddresses.status).toBe(400);
  expect(ofAddresses.json['details']).toEqual([
    { path: 'addresses', message: 'have 201900000 bytes in the mempool: request fewer addresses at once' },
  ]);
  const pool = await post(server, '/v1/rpc/getMempoolEntries', {});
  expect({ status: pool.status, message: pool.json['message'] }).toEqual({
    status: 503,
    message: 'The mempool is too large to list, with 201900000 bytes: use getMempoolEntriesByAddresses, or retry later',
  });
});

/** With the longest signature script that is standard. */
const largeEntry = (n: number) => {
  const large = entry(n);
  for (const input of large.transaction.inputs) input.signatureScript = '41'.repeat(5000);
  return large;
};

it('refuses a listing of more than 32 MB', async () => {
  const entries = Array.from({ length: 3_000 }, (_, n) => largeEntry(n));
  const server = await serverOnNode((op) => {
    if (op === 'getInfo') return { mempoolSize: 3_000n };
    return op === 'getMempoolEntries'
      ? { entries }
      : { entries: [{ address: ALICE, sending: entries, receiving: [] }] };
  });
  const pool = await post(server, '/v1/rpc/getMempoolEntries', {});
  expect(pool.status).toBe(503);
  expect(pool.json['message']).toContain('more than 32000000 bytes of JSON');
  const ofAddresses = await post(server, MANY, { addresses: [ALICE] });
  expect(ofAddresses.status).toBe(400);
  expect(ofAddresses.json['details']).toEqual([
    {
      path: 'addresses',
      message: 'have more than 32000000 bytes of JSON in the mempool: request fewer addresses at once',
    },
  ]);
});

it('shares the listing of a whole pool among concurrent requests with the same flags', async () => {
  const asked: object[] = [];
  const server = await serverOnNode((op, request) => {
    if (op === 'getMempoolEntries') asked.push(request);
    return op === 'getInfo' ? { mempoolSize: 1n } : sleep(100, { entries: [entry(asked.length)] });
  });
  const POOLS = '/v1/rpc/getMempoolEntries';
  const texts = await Promise.all(Array.from({ length: 8 }, async () => (await post(server, POOLS, {})).text));
  expect(new Set(texts).size).toBe(1);
  expect(asked).toHaveLength(1);
  await post(server, POOLS, { includeOrphanPool: true });
  expect(asked).toHaveLength(2);
  for (let request = 0; request < 20; request += 1) await post(server, POOLS, {});
  // A few in a row, then one a second.
  expect(asked.length).toBeLessThan(12);
});
