import { expect, it } from 'vitest';
import { post, serverOnNode } from '../testing/node-stub.ts';

const PAY_ADDRESS = 'kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t';
const HASH = 'ab'.repeat(32);

const header = {
  version: 2,
  parents: [{ parentHashes: [HASH] }, { parentHashes: [] }],
  hashMerkleRoot: HASH,
  acceptedIdMerkleRoot: HASH,
  utxoCommitment: HASH,
  timestamp: 1_750_000_000_000n,
  bits: 545_259_519,
  nonce: 2n ** 64n - 1n,
  daaScore: 5n,
  blueWork: 'f',
  blueScore: 4n,
  pruningPoint: HASH,
  hash: '',
};

const transaction = {
  version: 1,
  inputs: [
    {
      previousOutpoint: { transactionId: HASH, index: 0 },
      signatureScript: '',
      sequence: 2n ** 64n - 1n,
      sigOpCount: 0,
      computeBudget: 9,
    },
  ],
  outputs: [
    {
      amount: 5n,
      scriptPublicKey: { version: 0, scriptPublicKey: '51' },
      covenant: { authorizingInput: 0, covenantId: HASH },
    },
  ],
  lockTime: 7n,
  subnetworkId: '00'.repeat(20),
  gas: 0n,
  payload: '',
  storageMass: 10n,
};

it('has numbers with all their digits, scripts as objects, no hash and no mass', async () => {
  const server = await serverOnNode((op, request) => {
    expect({ op, request }).toEqual({
      op: 'getBlockTemplate',
      request: { payAddress: PAY_ADDRESS, extraData: 'pool' },
    });
    return { block: { header, transactions: [transaction] } };
  });
  const { status, text } = await post(server, '/v1/rpc/getBlockTemplate', {
    payAddress: PAY_ADDRESS,
    extraData: 'pool',
  });
  expect(status).toBe(200);
  expect(JSON.parse(text.replace('18446744073709551615,', '"exact",'))).toEqual({
    block: {
      header: {
        version: 2,
        parentsByLevel: [[HASH], []],
        hashMerkleRoot: HASH,
        acceptedIdMerkleRoot: HASH,
        utxoCommitment: HASH,
        timestamp: '1750000000000',
        bits: 545_259_519,
        nonce: '18446744073709551615',
        daaScore: '5',
        blueWork: '15',
        blueScore: '4',
        pruningPoint: HASH,
      },
      transactions: [
        {
          version: 1,
          inputs: [
            {
              previousOutpoint: { transactionId: HASH, index: 0 },
              signatureScript: '',
              sequence: 'exact',
              sigOpCount: 0,
              computeBudget: 9,
            },
          ],
          outputs: [
            {
              value: '5',
              scriptPublicKey: { version: 0, script: '51' },
              covenant: { authorizingInput: 0, covenantId: HASH },
            },
          ],
          lockTime: 7,
          subnetworkId: '00'.repeat(20),
          gas: '0',
          payload: '',
        },
      ],
    },
  });
});

it.each(['', 'x', 'f'.repeat(49), `0x${'f'.repeat(10)}`])(
  'refuses blue work %j as an error of the node',
  async (blueWork) => {
    const server = await serverOnNode(() => ({ block: { header: { ...header, blueWork }, transactions: [] } }));
    const { status, json } = await post(server, '/v1/rpc/getBlockTemplate', { payAddress: PAY_ADDRESS });
    expect({ status, message: json['message'] }).toEqual({ status: 503, message: 'The node sent an invalid response' });
  },
);
