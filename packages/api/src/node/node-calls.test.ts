import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { NodeCalls, type NodeLister } from './node-calls.ts';

/** A node whose calls end when a test says so. */
class SlowNode {
  readonly calls: { op: string; end: () => void }[] = [];
  #endsAtOnce = false;

  call(op: string): Promise<object> {
    if (this.#endsAtOnce) return Promise.resolve({});
    return new Promise((resolve) => {
      this.calls.push({ op, end: () => resolve({}) });
    });
  }

  list(op: string): Promise<object> {
    return this.call(op);
  }

  async endFirst(): Promise<void> {
    this.calls.shift()?.end();
    await turn();
  }

  endAll(): void {
    this.#endsAtOnce = true;
    for (const { end } of this.calls) end();
  }
}

const list = (calls: NodeCalls, caller: string) =>
  calls.list(caller, 'getMempoolEntries', {}, async () => undefined, { limitBytes: 1 });

const open = () => {
  const node = new SlowNode();
  // Calls that still waited would be refused while another test runs.
  onTestFinished(() => node.endAll());
  return { node, calls: new NodeCalls(node as unknown as NodeLister) };
};

it('leaves room for another caller beside one with many calls', async () => {
  const { node, calls } = open();
  for (let call = 0; call < 100; call += 1) void calls.of('greedy').call('getInfo', {});
  await turn();
  expect(node.calls).toHaveLength(8);
  void calls.of('modest').call('getFeeEstimate', {});
  await turn();
  expect(node.calls.at(-1)?.op).toBe('getFeeEstimate');
});

it('runs listings in turns, without delaying small calls', async () => {
  const { node, calls } = open();
  const listing = (caller: string) => list(calls, caller);
  for (let call = 0; call < 100; call += 1) void listing('greedy').catch(() => undefined);
  void listing('modest');
  void calls.of('modest').call('getFeeEstimate', {});
  await turn();
  expect(node.calls.map(({ op }) => op)).toEqual(['getMempoolEntries', 'getFeeEstimate']);
  let modestEnded = false;
  void listing('other').then(() => (modestEnded = true));
  node.calls.pop()?.end();
  for (let ended = 0; ended < 3; ended += 1) await node.endFirst();
  expect(modestEnded).toBe(true);
});

it('lists by addresses for a caller while the listing of another one takes long', async () => {
  const { node, calls } = open();
  const byAddresses = (caller: string) =>
    calls.list(caller, 'getMempoolEntriesByAddresses', {}, async () => undefined, { limitBytes: 1 });
  for (let call = 0; call < 10; call += 1) void byAddresses('greedy').catch(() => undefined);
  await turn();
  expect(node.calls).toHaveLength(1);
  void byAddresses('modest');
  await turn();
  expect(node.calls).toHaveLength(2);
});

it('lists by addresses while the whole mempool is listed', async () => {
  const { node, calls } = open();
  void list(calls, 'mempool');
  void calls.list('modest', 'getMempoolEntriesByAddresses', {}, async () => undefined, { limitBytes: 1 });
  await turn();
  expect(node.calls.map(({ op }) => op)).toEqual(['getMempoolEntries', 'getMempoolEntriesByAddresses']);
});

it('refuses a call that waits for too long', async () => {
  const { calls } = open();
  const listings = Array.from({ length: 300 }, () => list(calls, 'greedy').catch((error: unknown) => error));
  expect(await listings[299]).toMatchObject({ statusCode: 503, message: 'The node is busy', retryAfterSeconds: 2 });
});
