import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type NodeCaller, NodeCalls } from './node-calls.ts';

/** A node whose calls end when a test says so. */
class SlowNode {
  readonly calls: { op: string; stream: number | undefined; end: () => void }[] = [];

  call(op: string, _request: object, options: { stream?: number } = {}): Promise<object> {
    return new Promise((resolve) => {
      this.calls.push({ op, stream: options.stream, end: () => resolve({}) });
    });
  }

  async endFirst(): Promise<void> {
    this.calls.shift()?.end();
    await turn();
  }
}

const open = () => {
  const node = new SlowNode();
  return { node, calls: new NodeCalls(node as unknown as NodeCaller) };
};

test('a caller with many calls leaves room for another one', async () => {
  const { node, calls } = open();
  for (let call = 0; call < 100; call += 1) void calls.of('greedy').call('getInfo', {});
  await turn();
  expect(node.calls).toHaveLength(8);
  void calls.of('modest').call('getFeeEstimate', {});
  await turn();
  expect(node.calls.at(-1)?.op).toBe('getFeeEstimate');
});

test('listings take turns, on a stream of their own, and no small call waits for one', async () => {
  const { node, calls } = open();
  const listing = (caller: string) => calls.list(caller, (own) => own.call('getMempoolEntries', {}));
  for (let call = 0; call < 100; call += 1) void listing('greedy').catch(() => undefined);
  void listing('modest');
  void calls.of('modest').call('getFeeEstimate', {});
  await turn();
  expect(node.calls.map(({ op, stream }) => [op, stream])).toEqual([
    ['getMempoolEntries', 1],
    ['getFeeEstimate', undefined],
  ]);
  let modestEnded = false;
  void listing('other').then(() => (modestEnded = true));
  node.calls.pop();
  for (let ended = 0; ended < 3; ended += 1) await node.endFirst();
  expect(modestEnded).toBe(true);
});

test('what has to wait for too long is refused as busy', async () => {
  const { calls } = open();
  const listings = Array.from({ length: 300 }, () =>
    calls.list('greedy', (node) => node.call('getMempoolEntries', {})).catch((error: unknown) => error),
  );
  expect(await listings[299]).toMatchObject({ statusCode: 503, message: 'The node is busy', retryAfterSeconds: 2 });
});
