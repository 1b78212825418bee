import { getNetwork } from '@kasgres/kaspa';
import { expect, it } from 'vitest';
import { checkNode } from './check-node.ts';
import { NodeUnsuitableError } from './errors.ts';
import { connect, type FakeStream, type KaspadRequest, startNode } from './testing/fake-node.ts';

const SINK = 'ab'.repeat(32);

async function clientOf(server: { networkId?: string; hasUtxoIndex?: boolean; isSynced?: boolean } = {}) {
  const { networkId = 'simnet', hasUtxoIndex = true, isSynced = true } = server;
  const node = await startNode(({ id, payload }: KaspadRequest, stream: FakeStream) => {
    if (payload.case === 'getServerInfoRequest') {
      const value = { serverVersion: '2.1.0', networkId, hasUtxoIndex, isSynced, virtualDaaScore: 7n };
      stream.respond(id, { case: 'getServerInfoResponse', value });
    } else if (payload.case === 'getInfoRequest') {
      const value = { isUtxoIndexed: hasUtxoIndex, isSynced, hasMessageId: true, hasNotifyCommand: true };
      stream.respond(id, { case: 'getInfoResponse', value });
    } else {
      stream.respond(id, { case: 'getBlockDagInfoResponse', value: { sink: SINK, pruningPointHash: SINK } });
    }
  });
  return connect(node.url);
}

it('it describes a suitable node, which may be unsynced and without --utxoindex', async () => {
  const status = await checkNode(await clientOf({ isSynced: false, hasUtxoIndex: false }), { network: 'simnet' });
  expect(status).toEqual({
    network: getNetwork('simnet'),
    serverVersion: '2.1.0',
    isSynced: false,
    virtualDaaScore: 7n,
    sink: Buffer.from(SINK, 'hex'),
    pruningPoint: Buffer.from(SINK, 'hex'),
  });
});

it.each([
  [{ networkId: 'testnet-10' }, 'wrong-network', /the node runs on testnet-10, and mainnet is wanted/],
  [
    { networkId: 'testnet-77' },
    'wrong-network',
    /"testnet-77", which is not one of mainnet, testnet-10, simnet, devnet$/,
  ],
])('of %j the operator is told', async (server, reason, message) => {
  const error = await checkNode(await clientOf(server), { network: 'mainnet' }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(NodeUnsuitableError);
  expect(error).toMatchObject({ reason, message: expect.stringMatching(message) as string });
});
