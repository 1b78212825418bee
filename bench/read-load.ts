/**
 * A light load of reads beside a measurement: recent transactions, address pages, UTXO pages and
 * balances, evenly in time.
 */
import type { Connection } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { encodeRequest, HttpConnection } from './http-connection.ts';

const CONNECTIONS = 4;
const SAMPLES = 100;

export interface ReadLoadOptions {
  url: string;
  key: string;
  /** 0: no reads. */
  perSecond: number;
}

export class ReadLoad {
  readonly #options: ReadLoadOptions;
  readonly #requests: readonly Buffer[];
  readonly #stopping = new AbortController();
  readonly #workers: Promise<unknown>;
  #times: number[] = [];
  #next = 0;

  static async start({ pool }: Connection, options: ReadLoadOptions): Promise<ReadLoad> {
    const { rows } = await pool.query<{ id: string; address: string }>(
      `select encode(t.transaction_id, 'hex') as id, s.address
         from (select * from transactions order by id desc limit $1) t
         join transaction_outputs o on o.transaction_id = t.id and o.index = 0 and o.index >> 4 = 0
         join scripts s on s.id = o.script_id where s.address is not null`,
      [SAMPLES],
    );
    const paths = rows.flatMap(({ id, address }) => [
      `/v1/transactions/${id}`,
      `/v1/addresses/${address}/transactions`,
      `/v1/addresses/${address}/utxos`,
      `/v1/rpc/getBalanceByAddress/${address}`,
    ]);
    return new ReadLoad(options, paths);
  }

  private constructor(options: ReadLoadOptions, paths: readonly string[]) {
    this.#options = options;
    this.#requests = paths.map((path) => encodeRequest(options.url, options.key, { path }));
    const workers = options.perSecond === 0 ? [] : Array.from({ length: CONNECTIONS }, () => this.#work());
    this.#workers = Promise.all(workers);
    // The rejection is handled where `#workers` is awaited.
    this.#workers.catch(() => undefined);
  }

  /** Returns the times of the responses since the last call, in milliseconds. */
  takeTimes(): number[] {
    const times = this.#times;
    this.#times = [];
    return times;
  }

  /** @throws Error if a response had another status than 200 */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#workers;
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping;
    const connection = new HttpConnection(this.#options.url);
    const periodMs = (CONNECTIONS * 1_000) / this.#options.perSecond;
    for (let dueAt = performance.now(); !signal.aborted; dueAt += periodMs) {
      await sleep(Math.max(0, dueAt - performance.now()), signal).catch(() => undefined);
      const startedAt = performance.now();
      const { status, head } = await connection.send(this.#requests[this.#next++ % this.#requests.length] as Buffer);
      if (status !== 200) throw new Error(`a read responds:\n${head}`);
      this.#times.push(performance.now() - startedAt);
    }
    connection.close();
  }
}
