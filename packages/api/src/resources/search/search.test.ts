import { getNetwork } from '@kasgres/kaspa';
import type { IndexState } from '@kasgres/reads';
import { expect, it } from 'vitest';
import { nodeOf, serverWithoutDatabase } from '../../testing/node-stub.ts';

it('looks in the mempool in the turn of the caller, so that searches of one key delay no others', async () => {
  const node = nodeOf(() => ({ entry: {} }));
  const { server, services } = await serverWithoutDatabase({ node });
  const state = { network: getNetwork('simnet'), sinkHash: 'ab'.repeat(32), gaps: 0 } as IndexState;
  services.index.getSettledState = () => state;
  services.index.run = async () => ({ state, problem: null, body: Buffer.from('{"results":[]}') });
  const callers: string[] = [];
  const { nodeCalls } = services;
  const of = nodeCalls.of.bind(nodeCalls);
  nodeCalls.of = (caller) => {
    callers.push(caller);
    return of(caller);
  };
  const response = await server.inject({ url: `/v1/search?q=${'cd'.repeat(32)}`, headers: { 'x-api-key': 'any' } });
  expect(response.json()).toEqual({ results: [] });
  expect(callers).toEqual(['key:1']);
});
