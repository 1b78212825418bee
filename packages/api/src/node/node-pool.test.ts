import { NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { createLogger } from '@kasgres/runtime';
import { expect, it } from 'vitest';
import { NodePool, type PooledNode } from './node-pool.ts';

const NOT_SYNCED = new NodeRpcError('submitBlock', 'Block was not submitted: node is not synced');
const SILENT = new NodeUnavailableError('no response');

/** Returns a pool of connected nodes, and the names of those that were called. */
async function poolOf(failures: readonly (Error | undefined)[]) {
  const called: string[] = [];
  const pool = new NodePool(['grpc://127.0.0.1:1'], createLogger({ name: 'test', level: 'silent' }));
  await pool.close();
  pool.nodes = failures.map((failure, index) => {
    const name = String(index);
    const call = async () => {
      called.push(name);
      if (failure !== undefined) throw failure;
      return {};
    };
    return { name, client: { connected: true, call } as unknown as PooledNode['client'] };
  });
  return { call: (op: 'getInfo' | 'submitBlock') => pool.call(op, {}), called };
}

it('submits a block to the next node if one is not synced, and begins there from then on', async () => {
  const { call, called } = await poolOf([NOT_SYNCED, undefined]);
  await call('submitBlock');
  await call('getInfo');
  expect(called).toEqual(['0', '1', '1']);
});

it('throws the refusal if no node is synced', async () => {
  const { call, called } = await poolOf([NOT_SYNCED, NOT_SYNCED]);
  await expect(call('submitBlock')).rejects.toBe(NOT_SYNCED);
  expect(called).toEqual(['0', '1']);
});

it('submits no block twice that a node may have accepted', async () => {
  const { call, called } = await poolOf([SILENT, undefined]);
  await expect(call('submitBlock')).rejects.toBe(SILENT);
  expect(called).toEqual(['0']);
});

it('fails over to no other node with a request that the node rejects', async () => {
  const { call, called } = await poolOf([
    new NodeRpcError('submitBlock', 'Block was not submitted: block is invalid'),
    undefined,
  ]);
  await expect(call('submitBlock')).rejects.toThrow('block is invalid');
  expect(called).toEqual(['0']);
});
