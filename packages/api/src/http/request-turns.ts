/**
 * Begins requests in turns while there are more than the event loop serves at once. Node hands over
 * every request that has arrived before it does anything else: thousands of connections of one
 * client would delay each step of every other request by seconds. Half of the turns are for
 * requests of valid keys, a quarter each for those of other keys and those without a key. Of each
 * kind, the caller that was served least is next.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LeastServed, TurnShare } from '@kasgres/reads';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { interceptRequests } from './intercept-requests.ts';
import { serveOneAtATime } from './pipelining.ts';
import { clientAddresses, clientOf } from './request-identity.ts';

/**
 * How long requests begin on arrival in a turn of the event loop, and how long, at least, those
 * that wait.
 */
const SLICE_MS = 5;
const SHARE = 1 / 4;
const MAX_MS = 50;
/** Keys that are remembered as valid; the oldest are forgotten. */
const MAX_KEYS = 10_000;

type Task = () => void;

/** A key is unproven until a request with it has been served. */
export type Kind = 'valid key' | 'unproven key' | 'no key';

/** Kinds take turns in this order. */
const ORDER: readonly Kind[] = ['valid key', 'unproven key', 'valid key', 'no key'];

export class RequestTurns {
  readonly #waiting: Readonly<Record<Kind, LeastServed<Task>>> = {
    'valid key': new LeastServed(),
    'unproven key': new LeastServed(),
    'no key': new LeastServed(),
  };
  /** Counts the turns of kinds, in the order of ORDER. */
  #turn = 0;
  #count = 0;
  /**
   * When requests that arrive in this turn of the event loop no longer begin at once; undefined
   * before the first one.
   */
  #endsAt: number | undefined;
  readonly #share = new TurnShare({ share: SHARE, minMs: SLICE_MS, maxMs: MAX_MS, runNext: () => this.#runNext() });

  /** Whether a task would wait. */
  get isBusy(): boolean {
    return this.#count > 0 || performance.now() >= this.#endOfSlice();
  }

  /** Runs a task now if the event loop is not busy, or else in its turn. */
  run(kind: Kind, caller: string, task: Task): void {
    if (!this.isBusy) return task();
    this.#waiting[kind].add(caller, task);
    this.#count += 1;
    this.#share.schedule();
  }

  #endOfSlice(): number {
    if (this.#endsAt === undefined) {
      this.#endsAt = performance.now() + SLICE_MS;
      setImmediate(() => (this.#endsAt = undefined));
    }
    return this.#endsAt;
  }

  #runNext(): boolean {
    this.#takeNext()?.();
    return this.#count > 0;
  }

  #takeNext(): Task | undefined {
    for (let passed = 0; passed < ORDER.length; passed += 1) {
      const kind = ORDER[this.#turn % ORDER.length];
      this.#turn += 1;
      const task = kind && this.#waiting[kind].take();
      if (task === undefined) continue;
      this.#count -= 1;
      return task;
    }
    return undefined;
  }
}

/**
 * Begins the requests of a server in turns. Only the first one of a connection takes part, so that
 * no more wait than there are connections. It must be called when every other listener of requests
 * has been added.
 * @param keys must observe each request that has been served
 * @param proxies reverse proxies, which tell where requests come from
 */
export function takeTurnsOfRequests(
  app: FastifyInstance,
  keys: ValidKeys,
  proxies: readonly string[] | undefined,
): void {
  const addressOf = clientAddresses(proxies);
  const turns = new RequestTurns();
  const whenFirst = serveOneAtATime();
  interceptRequests(app.server, (request, response, next) =>
    whenFirst(request, response, () => {
      // The caller is needed only for a request that must wait.
      if (!turns.isBusy) return next();
      turns.run(...turnOf(request, keys, addressOf), () => {
        // Otherwise the client has disconnected.
        if (!response.destroyed) next();
      });
    }),
  );
}

/**
 * Returns with whom a request takes turns. Without a key, this is the client that rates count
 * (request-identity.ts).
 */
export function turnOf(
  request: IncomingMessage,
  keys: Pick<ValidKeys, 'find'>,
  addressOf: (request: IncomingMessage) => string,
): [kind: Kind, caller: string] {
  const key = request.headers['x-api-key'];
  if (typeof key === 'string') {
    const known = keys.find(key);
    // Anybody can invent keys, so these wait in the order of arrival.
    return known === undefined ? ['unproven key', ''] : ['valid key', known];
  }
  return ['no key', clientOf(addressOf(request))];
}

/** Keys that the latest request with them found valid, by their hashes. */
export class ValidKeys {
  readonly #hashes = new Set<string>();

  find(key: string): string | undefined {
    const found = hash('sha256', key, 'base64');
    return this.#hashes.has(found) ? found : undefined;
  }

  observe({ headers, apiKey, refusal }: FastifyRequest): void {
    const key = headers['x-api-key'];
    if (typeof key !== 'string') return;
    const hasKey = apiKey?.id != null;
    if (!hasKey && refusal !== 'invalid_key') return;
    const found = hash('sha256', key, 'base64');
    if (!hasKey) this.#hashes.delete(found);
    else if (!this.#hashes.has(found)) this.#add(found);
  }

  #add(found: string): void {
    const [oldest] = this.#hashes;
    if (this.#hashes.size >= MAX_KEYS && oldest !== undefined) this.#hashes.delete(oldest);
    this.#hashes.add(found);
  }
}
