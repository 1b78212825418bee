import { NodeUnavailableError, NodeUnsuitableError, type NodeUnsuitableReason } from '@kasgres/node';
import { createLogger, createRegistry, FatalError } from '@kasgres/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { createMetrics } from './metrics.ts';
import { NodeChoice } from './node-choice.ts';

const A = 'grpc://127.0.0.1:1';
const B = 'grpc://127.0.0.1:2';
const C = 'grpc://127.0.0.1:3';
const GAP = { gap: expect.any(FatalError) as FatalError };
const UNAVAILABLE = new NodeUnavailableError('the p2p port does not respond');

function choose(...urls: string[]): NodeChoice {
  const log = createLogger({ name: 'indexer', level: 'silent' });
  const metrics = createMetrics(createRegistry('nodes under test'));
  const nodes = new NodeChoice({ urls, client: {}, log, metrics });
  onTestFinished(() => nodes.close());
  return nodes;
}

function refusal(reason: NodeUnsuitableReason): NodeUnsuitableError {
  return new NodeUnsuitableError(reason, `It is ${reason}.`);
}

test('it crosses a gap on each node in turn, and fails when the UTXO set of each is wrong', async () => {
  const nodes = choose(A, B);
  expect(await nodes.failOver(refusal('pruned'))).toBe('continue');
  expect(await nodes.failOver(refusal('pruned'))).toEqual(GAP);
  expect(nodes.url).toBe(B);
  expect(await nodes.failOver(refusal('wrong-utxo-set'))).toBe('continue');
  expect(nodes.url).toBe(A);
  expect(await nodes.failOver(refusal('other-chain'))).toEqual(GAP);
  await expect(nodes.failOver(refusal('wrong-utxo-set'))).rejects.toThrow(
    /None of the nodes can be followed\. 127\.0\.0\.1:1: It is wrong-utxo-set\. 127\.0\.0\.1:2: It is wrong-utxo-set\./,
  );
});

test.each([
  ['the first node', ['pruned', 'wrong-network'], A],
  ['the second node', ['wrong-network', 'pruned'], B],
] as const)('it crosses a gap only on a node that has pruned the checkpoint: %s', async (_, reasons, pruned) => {
  const nodes = choose(A, B);
  let next = await nodes.failOver(refusal(reasons[0]));
  next = await nodes.failOver(refusal(reasons[1]));
  // The node has to refuse again, since it may have changed meanwhile.
  if (next === 'continue') next = await nodes.failOver(refusal('pruned'));
  expect(next).toEqual(GAP);
  expect(nodes.url).toBe(pruned);
});

test('it skips nodes that cannot cross the gap', async () => {
  const nodes = choose(A, B, C);
  for (const reason of ['pruned', 'wrong-network'] as const)
    expect(await nodes.failOver(refusal(reason))).toBe('continue');
  expect(await nodes.failOver(refusal('pruned'))).toEqual(GAP);
  expect(await nodes.failOver(refusal('wrong-utxo-set'))).toBe('continue');
  expect(nodes.url).toBe(A);
});

test('it crosses the gap on the next node if the current one is unavailable meanwhile, after a pause', async () => {
  const nodes = choose(A, B);
  await nodes.failOver(refusal('pruned'));
  expect(await nodes.failOver(refusal('pruned'))).toEqual(GAP);
  for (const url of [A, B, A]) {
    expect(await nodes.failOver(UNAVAILABLE)).toBe('pause');
    expect(nodes.url).toBe(url);
    expect(await nodes.failOver(refusal('pruned'))).toEqual(GAP);
  }
});

test.each(['wrong-utxo-set', 'below-bootstrap'] as const)(
  'it does not try a node again that is %s while another node may still cross the gap',
  async (reason) => {
    const nodes = choose(A, B);
    await nodes.failOver(refusal('pruned'));
    await nodes.failOver(refusal('pruned'));
    await nodes.failOver(refusal(reason));
    expect(await nodes.failOver(refusal('pruned'))).toEqual(GAP);
    expect(await nodes.failOver(UNAVAILABLE)).toBe('pause');
    expect(nodes.url).toBe(B);
    expect(await nodes.failOver(refusal('pruned'))).toBe('continue');
    expect(nodes.url).toBe(A);
  },
);

test('it forgets refusals after a round in which a node was unavailable, and after a batch', async () => {
  const nodes = choose(A, B);
  await nodes.failOver(refusal('pruned'));
  expect(await nodes.failOver(UNAVAILABLE)).toBe('pause');
  expect(await nodes.failOver(UNAVAILABLE)).toBe('continue');
  expect(await nodes.failOver(refusal('wrong-network'))).toBe('pause');
  nodes.resetFailures();
  expect(await nodes.failOver(refusal('wrong-network'))).toBe('continue');
});

test('it rethrows the message of an only node', async () => {
  const nodes = choose(A);
  expect(await nodes.failOver(refusal('pruned'))).toEqual(GAP);
  await expect(nodes.failOver(refusal('wrong-utxo-set'))).rejects.toThrow(/^It is wrong-utxo-set\.$/);
});
