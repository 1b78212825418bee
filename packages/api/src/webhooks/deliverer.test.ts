import { getEventListeners } from 'node:events';
import { createLogger } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import type { IndexReader } from '../index-state/state.ts';
import { Deliverer } from './deliverer.ts';
import type { ActiveWebhook, WebhookQueue } from './queue.ts';

const SINK = 'ab'.repeat(32);

const makeWebhook = (id: bigint): ActiveWebhook => ({
  id,
  revision: 1,
  cursor: SINK,
  sequence: 0n,
  deliveryId: null,
  dueInMs: 0,
});

/** Runs one round for each list of active webhooks. `loaded` are the ids whose definitions were loaded. */
async function runRounds(lists: readonly (readonly bigint[])[]) {
  const loaded: bigint[] = [];
  const listeners: number[] = [];
  const end = new AbortController();
  const rounds = lists.values();
  const queue: Partial<WebhookQueue> = {
    listTests: async () => [],
    listActive: async () => {
      listeners.push(getEventListeners(end.signal, 'abort').length);
      const { value, done } = rounds.next();
      if (done === true) end.abort();
      // The round after this one begins after a pause.
      else setTimeout(() => deliverer.wake(), 5);
      return (value ?? []).map(makeWebhook);
    },
    listDefinitions: async (ids) => {
      loaded.push(...ids);
      return ids.map((id) => ({
        id,
        revision: 1,
        events: ['chain'],
        addresses: [],
        confirmations: null,
        withIds: false,
      }));
    },
  };
  const deliverer = new Deliverer({
    index: { read: async () => SINK } as unknown as IndexReader,
    queue: queue as WebhookQueue,
    openSecrets: () => Promise.reject(new Error('nothing is delivered')),
    allowed: [],
    logger: createLogger({ name: 'deliverer under test', level: 'silent' }),
  });
  await deliverer.run(end.signal);
  return { loaded, listeners };
}

test('it keeps one listener of its signal, however often it is woken', async () => {
  const { listeners } = await runRounds(Array.from({ length: 20 }, () => []));
  expect(Math.max(...listeners)).toBe(1);
});

test('it forgets the definitions of webhooks that are no longer listed, and keeps the others', async () => {
  const { loaded } = await runRounds([[1n, 2n], [1n], [1n, 2n]]);
  expect(loaded).toEqual([1n, 2n, 2n]);
});
