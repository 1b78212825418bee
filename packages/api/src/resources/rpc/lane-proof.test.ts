import { toHex } from '@kasgres/kaspa';
import { NodeRpcError } from '@kasgres/node';
import { expect, test } from 'vitest';
import { post, serverOnNode } from '../../testing/node-stub.ts';

const URL = '/v1/rpc/getSeqCommitLaneProof';
const bytes = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const hex = (byte: number): string => toHex(bytes(byte));
const BODY = { blockHash: `0x${hex(0xab).toUpperCase()}`, laneKey: hex(2) };

const FOLDED = { payloadAndCtxDigest: bytes(4), parentSeqCommit: bytes(5), inactivityShortcut: bytes(6) };
const FOLDED_JSON = { payloadAndCtxDigest: hex(4), parentSeqCommit: hex(5), inactivityShortcut: hex(6) };

test('it passes the block and the key on, and returns the proof as hex', async () => {
  const requests: object[] = [];
  const server = await serverOnNode((op, request) => {
    const { blockHash, laneKey } = request as Record<string, Uint8Array>;
    requests.push({ op, blockHash: toHex(blockHash ?? bytes(0)), laneKey: toHex(laneKey ?? bytes(0)) });
    return { smtProof: Uint8Array.of(1, 2, 255), laneTip: bytes(3), laneBlueScore: 2n ** 60n, ...FOLDED };
  });
  const { status, json } = await post(server, URL, BODY);
  expect({ status, json }).toEqual({
    status: 200,
    json: { smtProof: '0102ff', laneTip: hex(3), laneBlueScore: String(2n ** 60n), ...FOLDED_JSON },
  });
  expect(requests).toEqual([{ op: 'getSeqCommitLaneProof', blockHash: hex(0xab), laneKey: hex(2) }]);
});

test('it leaves the tip out if the lane is not active', async () => {
  const server = await serverOnNode(() => ({ smtProof: new Uint8Array(0), ...FOLDED }));
  expect((await post(server, URL, BODY)).json).toEqual({ smtProof: '', ...FOLDED_JSON });
});

test('it refuses what is no hash, and passes on why the node rejects a block', async () => {
  const server = await serverOnNode(() => {
    throw new NodeRpcError('getSeqCommitLaneProof', `block ${hex(0xab)} is not in selected chain`);
  });
  expect((await post(server, URL, { ...BODY, laneKey: '00' })).status).toBe(400);
  const { status, json } = await post(server, URL, BODY);
  expect({ status, message: json['message'] }).toEqual({
    status: 400,
    message: `The node rejected the request: block ${hex(0xab)} is not in selected chain`,
  });
});
