/**
 * A submitted transaction or block reaches the node in every form that the API itself emits, and
 * nothing else does.
 */
import { NodeRpcError } from '@kasgres/node';
import { beforeEach, describe, expect, it } from 'vitest';
import { post, serverOnNode } from '../../testing/node-stub.ts';

const TRANSACTION = '/v1/rpc/submitTransaction';
const BLOCK = '/v1/rpc/submitBlock';
const ID = 'ab'.repeat(32);
const NATIVE = '00'.repeat(20);
const ADDRESS = 'kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t';
const MOST = '18446744073709551615';

let asked: { op: string; request: object }[];
let refusal: Error | undefined;
const server = await serverOnNode((op, request) => {
  asked.push({ op, request });
  if (refusal !== undefined) throw refusal;
  return op === 'submitTransaction' ? { transactionId: ID } : {};
});
beforeEach(() => {
  asked = [];
  refusal = undefined;
});

/** As mempool entries and blocks show it. */
const transaction = {
  version: 1,
  inputs: [
    {
      previousOutpoint: { transactionId: ID, index: 4_294_967_295 },
      sequence: MOST,
      sigOpCount: 0,
      signatureScript: '41',
      computeBudget: 12,
    },
  ],
  outputs: [
    {
      value: '5',
      scriptPublicKey: '000051',
      verboseData: { scriptPublicKeyType: 'pubkey', scriptPublicKeyAddress: ADDRESS },
      covenant: { authorizingInput: 0, covenantId: ID },
    },
    { value: '6', scriptPublicKey: '0103' },
  ],
  lockTime: '7',
  subnetworkId: NATIVE,
  gas: '8',
  payload: '0xab',
  mass: '9',
  verboseData: { transactionId: ID, hash: ID, computeMass: '1', blockHash: ID, blockTime: '0' },
};

const message = {
  version: 1,
  inputs: [
    {
      previousOutpoint: { transactionId: ID, index: 4_294_967_295 },
      sequence: 2n ** 64n - 1n,
      sigOpCount: 0,
      signatureScript: '41',
      computeBudget: 12,
    },
  ],
  outputs: [
    {
      amount: 5n,
      scriptPublicKey: { version: 0, scriptPublicKey: '51' },
      covenant: { authorizingInput: 0, covenantId: ID },
    },
    { amount: 6n, scriptPublicKey: { version: 0x0103, scriptPublicKey: '' } },
  ],
  lockTime: 7n,
  subnetworkId: NATIVE,
  gas: 8n,
  payload: 'ab',
  storageMass: 9n,
};

const header = {
  version: 2,
  parentsByLevel: [[ID], []],
  hashMerkleRoot: ID,
  acceptedIdMerkleRoot: ID,
  utxoCommitment: ID,
  timestamp: '1750000000000',
  bits: 545_259_519,
  nonce: MOST,
  daaScore: '5',
  blueWork: '15',
  blueScore: '4',
  pruningPoint: ID,
};

const headerMessage = {
  version: 2,
  parents: [{ parentHashes: [ID] }, { parentHashes: [] }],
  hashMerkleRoot: ID,
  acceptedIdMerkleRoot: ID,
  utxoCommitment: ID,
  timestamp: 1_750_000_000_000n,
  bits: 545_259_519,
  nonce: 2n ** 64n - 1n,
  daaScore: 5n,
  blueWork: 'f',
  blueScore: 4n,
  pruningPoint: ID,
};

/** With 64-bit numbers as numbers, of which the text has all digits. */
const withNumbers = (body: object): string =>
  JSON.stringify(body).replaceAll(
    /"(sequence|lockTime|gas|mass|timestamp|nonce|daaScore|blueWork|blueScore)":"(\d+)"/g,
    '"$1":$2',
  );

async function sendText(url: string, payload: string) {
  const headers = { 'x-api-key': 'any', 'content-type': 'application/json' };
  const response = await server.inject({ method: 'POST', url, payload, headers });
  return { status: response.statusCode, json: response.json<Record<string, unknown>>() };
}

describe('submitTransaction', () => {
  it('accepts the form of mempool entries and blocks', async () => {
    expect(await post(server, TRANSACTION, { transaction, allowOrphan: true })).toMatchObject({
      status: 200,
      json: { transactionId: ID },
    });
    expect(asked).toEqual([{ op: 'submitTransaction', request: { transaction: message, allowOrphan: true } }]);
  });

  it('accepts the form of block templates: numbers with all their digits, scripts as objects, no mass', async () => {
    const { mass: _, verboseData: __, ...rest } = transaction;
    const outputs = transaction.outputs.map(({ scriptPublicKey, value, covenant }) => ({
      value,
      scriptPublicKey: {
        version: Number.parseInt(scriptPublicKey.slice(0, 4), 16),
        script: scriptPublicKey.slice(4),
      },
      covenant,
    }));
    const text = withNumbers({ transaction: { ...rest, outputs } });
    expect(text).toContain(`"sequence":${MOST},`);
    expect(await sendText(TRANSACTION, text)).toMatchObject({ status: 200 });
    expect(asked).toEqual([
      { op: 'submitTransaction', request: { transaction: { ...message, storageMass: 0n }, allowOrphan: false } },
    ]);
  });

  it('accepts hex in either case, with or without 0x', async () => {
    const [input] = transaction.inputs;
    const variant = {
      ...transaction,
      inputs: [
        {
          ...input,
          signatureScript: '0X41'.toLowerCase(),
          previousOutpoint: { transactionId: `0x${ID.toUpperCase()}`, index: 4_294_967_295 },
        },
      ],
      subnetworkId: `0x${NATIVE}`,
      payload: 'AB',
    };
    await post(server, TRANSACTION, { transaction: variant });
    expect(asked).toMatchObject([{ request: { transaction: message } }]);
  });

  it('passes on the message of a rejection', async () => {
    refusal = new NodeRpcError('submitTransaction', `Rejected transaction ${ID}: transaction is an orphan`);
    const { status, json } = await post(server, TRANSACTION, { transaction });
    expect(status).toBe(400);
    expect(json['message']).toBe(`The node rejected the request: Rejected transaction ${ID}: transaction is an orphan`);
  });
});

describe('submitBlock', () => {
  it('accepts numbers or strings, and ignores fields of responses', async () => {
    const block = { header, transactions: [transaction] };
    const forms = [
      JSON.stringify({ block }),
      withNumbers({ block }),
      JSON.stringify({ block: { ...block, header: { ...header, hash: ID }, verboseData: { isChainBlock: true } } }),
    ];
    for (const form of forms)
      expect(await sendText(BLOCK, form)).toEqual({ status: 200, json: { rejectReason: 'NONE' } });
    const request = { block: { header: headerMessage, transactions: [message] }, allowNonDAABlocks: false };
    expect(asked).toEqual(forms.map(() => ({ op: 'submitBlock', request })));
  });

  it.each([
    ['Block was not submitted: block is invalid', 400, 'The node rejected the request: '],
    ['Block was not submitted: node is not synced', 503, 'The node cannot serve the request now: '],
    ['Block was not submitted: route is full', 503, 'The node cannot serve the request now: '],
  ])('turns %j into a %i', async (message, statusCode, prefix) => {
    refusal = new NodeRpcError('submitBlock', message);
    const { status, json } = await post(server, BLOCK, { block: { header, transactions: [] } });
    expect(status).toBe(statusCode);
    expect(json['message']).toBe(prefix + message);
  });
});

describe('malformed requests', () => {
  const uint64s = [
    null,
    true,
    -1,
    1.5,
    '',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    ' 1',
    '18446744073709551616',
    2 ** 64,
    '9'.repeat(99),
  ];
  const hashes = [null, 7, '', 'ab', `${ID}00`, ID.replace('a', 'g'), `0x0x${ID}`];
  const hexes = [null, 7, 'a', 'xy', '0x0', '0X41', ' 41'];
  const uint32s = [null, '1', -1, 1.5, 2 ** 32];
  const uint16s = [null, '1', -1, 1.5, 2 ** 16];
  const objects = [null, 7, 'text', []];
  const lists = [null, 7, 'text', {}];

  const inTransaction: [string, unknown[]][] = [
    ['version', uint16s],
    ['inputs', lists],
    ['inputs.0', objects],
    ['inputs.0.previousOutpoint', objects],
    ['inputs.0.previousOutpoint.transactionId', hashes],
    ['inputs.0.previousOutpoint.index', uint32s],
    ['inputs.0.previousOutpoint.other', [1]],
    ['inputs.0.sequence', uint64s],
    ['inputs.0.sigOpCount', [null, '1', -1, 256]],
    ['inputs.0.signatureScript', hexes],
    ['inputs.0.computeBudget', uint16s],
    ['inputs.0.verboseData', objects],
    ['inputs.0.other', [1]],
    ['outputs', lists],
    ['outputs.0', objects],
    ['outputs.0.value', uint64s],
    ['outputs.0.scriptPublicKey', [null, 7, [], '', '000', '00005', 'zzzz', '0x']],
    ['outputs.0.scriptPublicKey.version', uint16s],
    ['outputs.0.scriptPublicKey.script', hexes],
    ['outputs.0.covenant', objects],
    ['outputs.0.covenant.authorizingInput', uint16s],
    ['outputs.0.covenant.covenantId', hashes],
    ['outputs.0.covenant.other', [1]],
    ['outputs.0.verboseData', objects],
    ['outputs.0.other', [1]],
    ['lockTime', uint64s],
    ['subnetworkId', [null, 7, '', '00', ID, 'zz'.repeat(20)]],
    ['gas', uint64s],
    ['payload', hexes],
    ['mass', uint64s],
    ['verboseData', objects],
    ['other', [1]],
  ];
  const inBlock: [string, unknown[]][] = [
    ['header', objects],
    ['header.hash', hashes],
    ['header.version', uint16s],
    ['header.parentsByLevel', lists],
    ['header.parentsByLevel.0', lists],
    ['header.parentsByLevel.0.0', hashes],
    ...['hashMerkleRoot', 'acceptedIdMerkleRoot', 'utxoCommitment', 'pruningPoint'].map((name): [string, unknown[]] => [
      `header.${name}`,
      hashes,
    ]),
    ['header.timestamp', [...uint64s, String(2n ** 63n)]],
    ['header.bits', uint32s],
    ...['nonce', 'daaScore', 'blueScore'].map((name): [string, unknown[]] => [`header.${name}`, uint64s]),
    ['header.blueWork', [null, '', 'f', '0xf', String(2n ** 192n)]],
    ['header.other', [1]],
    ['transactions', lists],
    ['verboseData', objects],
    ['other', [1]],
  ];
  const cases = [
    ...inTransaction.map(([path, values]) => ({ url: TRANSACTION, path: `transaction.${path}`, values })),
    ...inTransaction.map(([path, values]) => ({ url: BLOCK, path: `block.transactions.0.${path}`, values })),
    ...inBlock.map(([path, values]) => ({ url: BLOCK, path: `block.${path}`, values })),
    { url: TRANSACTION, path: 'transaction', values: objects },
    { url: TRANSACTION, path: 'allowOrphan', values: [null, 'true', 1] },
    { url: TRANSACTION, path: 'other', values: [1] },
    { url: BLOCK, path: 'block', values: objects },
    { url: BLOCK, path: 'allowNonDAABlocks', values: [null, 'true', 1] },
  ];

  it.each(cases)('$url $path', async ({ url, path, values }) => {
    for (const value of values) {
      const good = url === TRANSACTION ? { transaction } : { block: { header, transactions: [transaction] } };
      const { status, json } = await post(server, url, withValue(good, path.split('.'), value));
      const named = (json['details'] as { path: string }[] | undefined)?.map((detail) => detail.path);
      expect({ value, status, named }).toEqual({ value, status: 400, named: [path] });
    }
    expect(asked).toEqual([]);
  });

  it.each([TRANSACTION, BLOCK])('refuses an empty body at %s', async (url) => {
    expect(await post(server, url, {})).toMatchObject({ status: 400, json: { details: [{ message: 'is required' }] } });
    const bare = { transaction: {}, block: { header: {}, transactions: [{}] } };
    const { json } = await post(
      server,
      url,
      url === TRANSACTION ? { transaction: bare.transaction } : { block: bare.block },
    );
    for (const { message } of json['details'] as { message: string }[]) expect(message).toBe('is required');
    expect(asked).toEqual([]);
  });

  it.each([
    ['a prototype', `{"transaction":{"__proto__":{"lockTime":${MOST}}}}`],
    ['a constructor with a prototype', `{"transaction":{"constructor":{"prototype":{"lockTime":${MOST}}}}}`],
    ['an endless number', `{"transaction":${'9'.repeat(100_000)}}`],
    ['a nest without an end', `{"transaction":${'['.repeat(200_000)}${MOST}${']'.repeat(200_000)}}`],
    ['an unfinished text', `{"transaction":{"lockTime":${MOST}`],
  ])('%s', async (_, text) => {
    expect(await sendText(TRANSACTION, text)).toMatchObject({ status: 400, json: { statusCode: 400 } });
    expect(asked).toEqual([]);
  });
});

/**
 * A copy in which one place has another value; scripts and covenants are objects where the path
 * goes into them.
 */
function withValue(body: unknown, [key = '', ...rest]: string[], value: unknown): object {
  const copy: Record<string, unknown> | unknown[] = Array.isArray(body)
    ? [...(body as unknown[])]
    : typeof body === 'string'
      ? { version: 0, script: '51' }
      : { ...(body as object) };
  const fields = copy as Record<string, unknown>;
  fields[key] = rest.length === 0 ? value : withValue(fields[key], rest, value);
  return copy;
}
