import { getEventListeners, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { conflict, type IndexReader } from '@kasgres/reads';
import { createLogger } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { Deliverer } from './deliverer.ts';
import type { ActiveWebhook, Definition, NewDelivery, PendingDelivery, WebhookQueue } from './queue.ts';

const SINK = 'ab'.repeat(32);

const makeWebhook = (id: bigint): ActiveWebhook => ({
  id,
  keyId: id,
  failures: 0,
  revision: 1,
  cursor: SINK,
  sequence: 0n,
  deliveryId: null,
  dueInMs: 0,
});

const makeDefinition = (id: bigint): Definition => ({
  id,
  revision: 1,
  events: ['chain'],
  addresses: [],
  covenants: [],
  template: null,
  confirmations: null,
  withIds: false,
});

/** @param run reads a step; each round reads the sink before */
function makeDeliverer(queue: Partial<WebhookQueue>, run?: () => Promise<unknown>): Deliverer {
  return new Deliverer({
    index: { read: async () => SINK, run, getSettledState: () => ({}) } as unknown as IndexReader,
    queue: { limitPreviousSecrets: async () => undefined, ...queue } as WebhookQueue,
    openSecrets: () => Promise.reject(new Error('nothing is delivered')),
    allowed: [],
    logger: createLogger({ name: 'deliverer under test', level: 'silent' }),
  });
}

/**
 * Runs one round for each list of active webhooks. `loaded` are the ids whose definitions were
 * loaded.
 */
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
      return ids.map(makeDefinition);
    },
  };
  const deliverer = makeDeliverer(queue);
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

/**
 * Runs one round whose attempts hang until the end. Returns the ids of the attempted deliveries.
 */
async function listAttempted(lists: Pick<WebhookQueue, 'listTests' | 'listActive'>): Promise<bigint[]> {
  const end = new AbortController();
  const attempted: bigint[] = [];
  const deliverer = makeDeliverer({
    ...lists,
    findDelivery: async (id) => {
      attempted.push(id);
      await once(end.signal, 'abort');
      return undefined;
    },
  });
  const running = deliverer.run(end.signal);
  await setImmediate();
  end.abort();
  await running;
  return attempted;
}

test('it attempts due deliveries although many tests hang, and tests although many deliveries hang', async () => {
  const ids = Array.from({ length: 300 }, (_, index) => BigInt(index));
  const listDue = async () => ids.map((id) => ({ ...makeWebhook(id), deliveryId: id }));
  const listPending = async () => ids.map((id) => ({ id: 1000n + id, webhookId: id, keyId: id }));
  const attempted = await listAttempted({ listTests: listPending, listActive: listDue });
  expect(attempted.filter((id) => id < 1000n)).toEqual(ids.slice(0, 200));
  expect(attempted.filter((id) => id >= 1000n)).toEqual(ids.slice(0, 20).map((id) => 1000n + id));
});

test('it attempts one test of a webhook at a time', async () => {
  const tests = [
    { id: 1n, webhookId: 7n, keyId: 1n },
    { id: 2n, webhookId: 7n, keyId: 1n },
    { id: 3n, webhookId: 8n, keyId: 1n },
  ];
  expect(await listAttempted({ listTests: async () => tests, listActive: async () => [] })).toEqual([1n, 3n]);
});

test('it pauses a delivery that it cannot sign, reports it as overdue, and attempts others', async () => {
  const end = new AbortController();
  const attempted: bigint[] = [];
  let rounds = 0;
  let overdueMs = 0;
  const deliverer = makeDeliverer({
    listTests: async () => [],
    listActive: async () => {
      rounds += 1;
      ({ overdueMs } = deliverer);
      if (rounds === 5) end.abort();
      setTimeout(() => deliverer.wake(), 5);
      return (rounds < 3 ? [1n] : [1n, 2n]).map((id) => ({ ...makeWebhook(id), deliveryId: id }));
    },
    findDelivery: async (id) => {
      attempted.push(id);
      return {} as PendingDelivery;
    },
  });
  await deliverer.run(end.signal);
  expect(attempted).toEqual([1n, 2n]);
  expect(overdueMs).toBeGreaterThan(0);
});

const STEP = {
  isFollowed: true,
  isKnown: true,
  removed: [],
  added: [{ hash: SINK, blueScore: '1' }],
  addresses: null,
  covenants: null,
  newBlocks: null,
};

type Read = () => Promise<unknown>;
const succeed: Read = async () => ({ state: { sinkHash: SINK, firstCatchUp: false }, body: JSON.stringify(STEP) });
const fail =
  (reason: string): Read =>
  async () => {
    throw new Error(reason);
  };

interface AdvanceOptions {
  /** The results of reading steps, one after the other. */
  reads: Read[];
  /** Throws if a delivery cannot be stored. */
  store?: () => void;
  maxRounds?: number;
}

/**
 * Advances the webhooks 1 and 2, which are at different cursors, until both have a delivery.
 * Returns them in the order of their deliveries.
 */
async function advance({ reads, store = () => {}, maxRounds = 100 }: AdvanceOptions): Promise<bigint[]> {
  const end = new AbortController();
  const stored: bigint[] = [];
  let rounds = 0;
  const queue: Partial<WebhookQueue> = {
    listTests: async () => [],
    listActive: async () => {
      rounds += 1;
      if (rounds > maxRounds || stored.length === 2) end.abort();
      const idle = [1n, 2n].filter((id) => !stored.includes(id));
      return end.signal.aborted ? [] : idle.map((id) => ({ ...makeWebhook(id), cursor: `cursor ${id}` }));
    },
    listDefinitions: async (ids) => ids.map(makeDefinition),
    moveCursors: async () => undefined,
    addDeliveries: async (deliveries: Iterable<NewDelivery>) => {
      store();
      for (const { webhookId } of deliveries) stored.push(webhookId);
    },
  };
  const deliverer = makeDeliverer(queue, async () => reads.shift()?.());
  await deliverer.run(end.signal);
  return stored;
}

test('it advances other webhooks before it retries a step that it could not read', async () => {
  const reads = [fail('canceling statement due to statement timeout'), succeed, succeed];
  expect(await advance({ reads })).toEqual([2n, 1n]);
});

test('it advances other webhooks before it retries a step that it could not store', async () => {
  let stores = 0;
  const store = (): void => {
    stores += 1;
    if (stores === 1) throw new Error('total size of jsonb array elements exceeds the maximum of 268435455 bytes');
  };
  expect(await advance({ reads: [succeed, succeed, succeed], store })).toEqual([2n, 1n]);
});

test('it disables a webhook of addresses whose past is lost, and advances one of the chain at the same cursor', async () => {
  const end = new AbortController();
  const disabled: bigint[] = [];
  const stored: bigint[] = [];
  const reads = [() => Promise.reject(conflict('What the removed blocks had accepted is no longer known')), succeed];
  const queue: Partial<WebhookQueue> = {
    listTests: async () => [],
    listActive: async () => {
      if (reads.length === 0) end.abort();
      const active = [1n, 2n].filter((id) => !disabled.includes(id));
      return active.map((id) => ({ ...makeWebhook(id), cursor: 'a block' }));
    },
    listDefinitions: async (ids) =>
      ids.map((id) => ({ ...makeDefinition(id), addresses: id === 2n ? ['kaspasim:one'] : [] })),
    disable: async ({ id }) => disabled.push(id) > 0,
    moveCursors: async () => undefined,
    addDeliveries: async (deliveries: Iterable<NewDelivery>) => {
      for (const { webhookId } of deliveries) stored.push(webhookId);
    },
  };
  const deliverer = makeDeliverer(queue, async () => reads.shift()?.());
  const stuck = setTimeout(() => end.abort(), 4000);
  await deliverer.run(end.signal);
  clearTimeout(stuck);
  expect([disabled, stored]).toEqual([[2n], [1n]]);
});

test('it reads no other step in a round after the database became unavailable', async () => {
  const reads = [fail('Connection terminated unexpectedly'), succeed, succeed];
  expect(await advance({ reads, maxRounds: 1 })).toEqual([]);
  expect(reads).toHaveLength(2);
});
