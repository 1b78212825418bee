/** The interface of an attack, and the attacker that it is given. */
import { Agent, type ClientRequest, request } from 'node:http';
import { sleep } from '@kasgres/runtime';
import { flood, type FloodRequest } from '../../test/api/flood-client.ts';
import type { ApplicationSamples } from '../application-samples.ts';

/** The programs that are attacked. */
export interface Target {
  url: string;
  metricsUrl: string;
  /** An API that serves HTTPS. */
  tlsUrl: string;
  /** The API's ANONYMOUS_RATE_RU. */
  anonymousRateRu: number;
  /** The API's STREAM_CONNECTIONS. */
  streamConnections: number;
  /** Connection of an analyst. */
  analystUrl: string;
  /** The name server of `kasgres webhooks`. */
  nameServerPort: number;
  /** The first block of the index. */
  firstBlock: string;
}

export interface AttackOptions extends Target {
  /** Valid keys by the name of the attack that abuses them. */
  keys: Readonly<Record<string, readonly string[]>>;
  /** Addresses with a history, the longest first. */
  addresses: readonly string[];
  applications: ApplicationSamples;
  seconds: number;
  /** Names of the attacks that take part. */
  attacks: readonly string[];
}

/** Numbers of attempts by their outcome: a status, or a text. */
export type Outcomes = Record<string, number>;

export interface Attack {
  name: string;
  /** How many keys it uses, none by default. No other attack uses them. */
  keys?: number;
  run: (attacker: Attacker) => Promise<void>;
  /** Returns what is wrong with the outcomes: what the attack reached and must not reach. */
  findFault?: (outcomes: Outcomes, options: AttackOptions) => string | undefined;
}

export const RESPONSE_MS = 60_000;
/** The server lets an attacker wait in favour of others. */
export const UNANSWERED = 'unanswered';
export const RETRY_MS = 1_000;

const outcomeOf = (error: unknown): string =>
  error instanceof Error && error.name === 'TimeoutError' ? UNANSWERED : 'error';

/** Counts the outcomes of an attack, which lasts until the end of the measurement. */
export class Attacker {
  readonly options: AttackOptions;
  readonly outcomes: Outcomes = {};
  readonly keys: readonly string[];
  /** One timer for all that wait: thousands of attempts a second last to the end. */
  readonly untilOver: Promise<void>;
  readonly #endsAt: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

  constructor({ name }: Attack, options: AttackOptions) {
    this.options = options;
    this.keys = options.keys[name] ?? [];
    this.#endsAt = performance.now() + options.seconds * 1_000;
    this.untilOver = sleep(options.seconds * 1_000);
  }

  get key(): string {
    return this.keys[0] ?? '';
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  count(outcome: string | number, times = 1): void {
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + times;
  }

  /** Sleeps, but not beyond the end. */
  async pause(ms: number): Promise<void> {
    await sleep(Math.max(0, Math.min(ms, this.#endsAt - performance.now())));
  }

  /**
   * Repeats an act until the end, `outstanding` times at once. One that throws is UNANSWERED after
   * a timeout, or an `error`.
   */
  async repeat(outstanding: number, act: (index: number) => Promise<string | number>, pauseMs = 50): Promise<void> {
    const one = async (index: number): Promise<void> => {
      while (!this.isOver) {
        const outcome = await act(index).catch(outcomeOf);
        this.count(outcome);
        await this.pause(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: outstanding }, (_, index) => one(index)));
    this.#agent.destroy();
  }

  /** Repeats an act that other attacks may make fail, until it succeeds or the attack is over. */
  async retry<T>(act: () => Promise<T>): Promise<T | undefined> {
    while (!this.isOver) {
      try {
        return await act();
      } catch (error) {
        this.count(outcomeOf(error));
        await this.pause(RETRY_MS);
      }
    }
    return undefined;
  }

  /**
   * Keeps `outstanding` requests in flight until the end. Without a pause, immediate rejections
   * would make the attacker the bottleneck of two cores.
   */
  async flood(outstanding: number, requests: FloodRequest[]): Promise<void> {
    const { url } = this.options;
    const durationMs = this.#endsAt - performance.now();
    const outcomes = await flood({ url, requests, outstanding, durationMs, pauseMs: 50 });
    for (const [status, times] of Object.entries(outcomes)) this.count(status, times);
  }

  /**
   * Returns the status: 101 for an upgrade that is accepted.
   * @throws Error without a response, a TimeoutError if there is none in time
   */
  async send(path: string, headers: Record<string, string>, body?: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const sending = this.begin(this.#agent, path, headers, body);
    sending.on('response', (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? 0));
    });
    sending.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    sending.on('timeout', () => {
      reject(new DOMException('no response in time', 'TimeoutError'));
      sending.destroy();
    });
    sending.on('error', reject);
    return await promise;
  }

  /** Sends a request whose response the caller handles. */
  begin(agent: Agent | false, path: string, headers: Record<string, string>, body?: string): ClientRequest {
    return request(`${this.options.url}${path}`, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      timeout: RESPONSE_MS,
    }).end(body);
  }
}

/** Returns the requests with a key. */
export const withKey = (key: string, requests: FloodRequest[]): FloodRequest[] =>
  requests.map((one) => ({ ...one, headers: { ...one.headers, 'x-api-key': key } }));

/** Returns how many outcomes are statuses of this hundred. */
export const countOf = (outcomes: Outcomes, hundred: 2 | 4 | 5): number =>
  Object.entries(outcomes)
    .filter(([outcome]) => Math.floor(Number(outcome) / 100) === hundred)
    .reduce((sum, [, times]) => sum + times, 0);

/** Returns a fault for each outcome that is not one of these. */
export const onlyExpects =
  (...expected: readonly (string | number)[]) =>
  (outcomes: Outcomes): string | undefined => {
    const others = Object.entries(outcomes).filter(([outcome]) => !expected.map(String).includes(outcome));
    return others.length === 0
      ? undefined
      : `outcomes other than ${expected.join(', ')}: ${others.map(([outcome, times]) => `${times} × ${outcome}`).join(', ')}`;
  };

/**
 * Returns a fault unless each of these outcomes occurred: an attack that does nothing proves
 * nothing.
 */
export const requires =
  (...required: readonly string[]) =>
  (outcomes: Outcomes): string | undefined => {
    const missing = required.filter((outcome) => outcomes[outcome] === undefined);
    return missing.length === 0 ? undefined : `no ${missing.join(', ')}`;
  };
