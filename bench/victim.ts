/** An honest client during attacks: its requests, its streams and its webhooks. */
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { now, type Received, startStreamClients } from './stream-clients.ts';

/** Requests a second. */
const RATE = 10;
const REQUEST_MS = 60_000;
const STREAMS = 3;
/** Within this time after a measurement, everything up to its end must have arrived. */
const ARRIVED_WITHIN_MS = 30_000;

/** Events may be later than webhooks, and those of the last sinks count, too. */
const LAST_EVENTS_MS = 5_000;

export interface VictimOptions {
  url: string;
  nodeUrl: string;
  key: string;
  addresses: readonly string[];
}

export interface MeasuredRequest {
  /** With `{address}` for the address. */
  path: string;
  /** Seconds since the measurement began. */
  sentAt: number;
  ms: number;
}

export interface Measured {
  /** In the order of their responses. */
  requests: MeasuredRequest[];
  failures: string[];
  /** `missing`: of the announced sinks, those that a stream did not show. */
  events: Received & { missing: number };
  /** Milliseconds from the announcement of a sink to its delivery. */
  deliveryTimes: number[];
  /** Undelivered steps, gaps, and wrong signatures. */
  deliveryFaults: string[];
}

/** Returns the response times in milliseconds. */
export const timesOf = (requests: readonly MeasuredRequest[]): number[] => requests.map(({ ms }) => ms);

interface Hook {
  receiver: WebhookReceiver;
  name: string;
  /** The position of the latest announced sink that was delivered. */
  position: number;
}

export class Victim {
  readonly #options: VictimOptions;
  readonly #client: NodeClient;
  readonly #hooks: Hook[] = [];
  /** Announced sinks, in order, by hash. */
  readonly #sinks = new Map<string, { position: number; at: number }>();
  #onSink: (sink: string) => void = () => undefined;
  #deliveryTimes: number[] = [];
  #deliveryFaults: string[] = [];

  private constructor(options: VictimOptions) {
    this.#options = options;
    this.#client = new NodeClient({ url: options.nodeUrl });
    this.#client.subscribe(['virtualChainChanged'], ({ topic, message }) => {
      const sink = topic === 'virtualChainChanged' ? message.addedChainBlockHashes.at(-1) : undefined;
      if (sink === undefined) return;
      this.#sinks.set(sink, { position: this.#sinks.size, at: now() });
      this.#onSink(sink);
    });
  }

  static async open(options: VictimOptions): Promise<Victim> {
    const victim = new Victim(options);
    const addresses = options.addresses.slice(0, 100);
    await victim.#register('chain', {});
    await victim.#register('addresses', { addresses, confirmations: 10 });
    await victim.#register('accepted ids', { include: 'accepted_ids' });
    return victim;
  }

  async close(): Promise<void> {
    await this.#client.close();
    for (const { receiver } of this.#hooks) await receiver.stop();
  }

  /** @param attack is begun when the streams are open */
  async measure(seconds: number, attack: () => Promise<void> = async () => undefined): Promise<Measured> {
    const { url, key, addresses } = this.#options;
    const paths = [
      '/v1/stream',
      `/v1/stream?confirmations=10&${addresses
        .slice(0, 50)
        .map((address) => `address=${address}`)
        .join('&')}`,
      '/v1/stream?include=accepted_ids',
    ];
    const streams = await startStreamClients({ api: url, key, count: STREAMS, paths });
    this.#deliveryTimes = [];
    this.#deliveryFaults = [];
    let announced = 0;
    this.#onSink = (sink) => {
      announced += 1;
      streams.notified(sink);
    };
    const measured: Pick<Measured, 'requests' | 'failures'> = {
      requests: [],
      failures: [],
    };
    const [attacked] = await Promise.allSettled([attack(), this.#sendRequests(seconds, measured)]);
    this.#onSink = () => undefined;
    await this.#untilDelivered(this.#sinks.size - 1);
    await sleep(LAST_EVENTS_MS);
    const received = await streams.end();
    if (attacked.status === 'rejected') throw attacked.reason;
    return {
      ...measured,
      events: { ...received, missing: announced * STREAMS - received.events },
      deliveryTimes: this.#deliveryTimes,
      deliveryFaults: this.#deliveryFaults,
    };
  }

  async #register(name: string, subscription: object): Promise<void> {
    const receiver = new WebhookReceiver();
    await receiver.start();
    const hook: Hook = { receiver, name, position: -1 };
    let last: string | undefined;
    receiver.onReceived = ({ previous, cursor }) => {
      if (last !== undefined && previous !== last) this.#deliveryFaults.push(`webhook ${name} misses a step`);
      last = cursor;
      const sink = this.#sinks.get(cursor);
      if (sink === undefined) return;
      hook.position = Math.max(hook.position, sink.position);
      this.#deliveryTimes.push(now() - sink.at);
    };
    const response = await fetch(`${this.#options.url}/v1/webhooks`, {
      method: 'POST',
      headers: { 'x-api-key': this.#options.key, 'content-type': 'application/json' },
      body: JSON.stringify({ url: receiver.url, events: ['chain'], ...subscription }),
    });
    const { secret } = (await response.json()) as { secret?: string };
    if (secret === undefined) throw new Error(`a webhook was refused: ${response.status}`);
    receiver.secret = secret;
    this.#hooks.push(hook);
  }

  async #untilDelivered(position: number): Promise<void> {
    const isLate = (hook: Hook): boolean => hook.position < position;
    const deadline = now() + ARRIVED_WITHIN_MS;
    while (this.#hooks.some(isLate) && now() < deadline) await sleep(100);
    for (const hook of this.#hooks) {
      if (isLate(hook)) this.#deliveryFaults.push(`webhook ${hook.name} is ${position - hook.position} sinks late`);
      this.#deliveryFaults.push(...hook.receiver.faults.splice(0));
      hook.receiver.received.length = 0;
    }
  }

  /** Sends at a fixed rate that does not depend on the latency. */
  async #sendRequests(seconds: number, measured: Pick<Measured, 'requests' | 'failures'>): Promise<void> {
    const sent: Promise<void>[] = [];
    const startedAt = performance.now();
    for (let index = 0; performance.now() - startedAt < seconds * 1_000; index += 1) {
      sent.push(this.#send(index, startedAt, measured));
      await sleep(Math.max(0, startedAt + ((index + 1) * 1_000) / RATE - performance.now()));
    }
    await Promise.all(sent);
  }

  async #send(
    index: number,
    startedAt: number,
    { requests, failures }: Pick<Measured, 'requests' | 'failures'>,
  ): Promise<void> {
    const { url, key, addresses } = this.#options;
    const address = addresses[(index * 7) % addresses.length] ?? '';
    const [path = '', body] = REQUESTS[index % REQUESTS.length]?.(address) ?? [];
    const sentAt = performance.now();
    try {
      const end = new AbortController();
      const response = await fetch(`${url}${path}`, {
        headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
        signal: AbortSignal.any([end.signal, AbortSignal.timeout(REQUEST_MS)]),
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
      if (path === STREAM) {
        await response.body?.getReader().read();
        end.abort();
      } else {
        await response.arrayBuffer();
      }
      if (response.status !== 200) failures.push(`${response.status} ${path}`);
    } catch (error) {
      failures.push(`${String(error)} ${path}`);
    }
    requests.push({
      path: path.replace(address, '{address}'),
      sentAt: (sentAt - startedAt) / 1_000,
      ms: performance.now() - sentAt,
    });
  }
}

/** Its first event counts as its response. */
const STREAM = '/v1/stream';
const REQUESTS: readonly ((address: string) => [string, object?])[] = [
  () => ['/v1/rpc/getSink'],
  () => ['/v1/rpc/getCoinSupply'],
  (address) => [`/v1/addresses/${address}`],
  (address) => [`/v1/addresses/${address}/transactions?limit=20`],
  () => ['/v1/blocks?limit=20'],
  () => ['/v1/transactions?limit=20'],
  (address) => [`/v1/addresses/${address}/utxos?limit=20`],
  () => ['/v1/mempool'],
  (address) => ['/v1/rpc/getMempoolEntriesByAddresses', { addresses: [address] }],
  () => [STREAM],
];
