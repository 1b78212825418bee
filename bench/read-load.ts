/**
 * A light load of reads beside a measurement: recent transactions, address pages, UTXO pages and
 * balances, evenly in time.
 */
import { sleep } from '@kasgres/runtime';
import { encodeRequest, HttpConnection } from './http-connection.ts';
import type { AtTip } from './started-programs.ts';

const CONNECTIONS = 4;
const SAMPLES = 100;

export interface ReadLoad {
  /** Returns the times of the responses since the last call, in milliseconds. */
  takeTimes: () => number[];
  /** @throws Error if a response had another status than 200 */
  stop: () => Promise<void>;
}

/** @param perSecond 0: no reads */
export async function startReadLoad({ database, api: { url }, key }: AtTip, perSecond: number): Promise<ReadLoad> {
  const { rows } = await database.pool.query<{ id: string; address: string }>(
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
  const requests = paths.map((path) => encodeRequest(url, key, { path }));
  const stopping = new AbortController();
  const times: number[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const connection = new HttpConnection(url);
    const periodMs = (CONNECTIONS * 1_000) / perSecond;
    for (let dueAt = performance.now(); !stopping.signal.aborted; dueAt += periodMs) {
      await sleep(Math.max(0, dueAt - performance.now()), stopping.signal).catch(() => undefined);
      const startedAt = performance.now();
      const { status, head } = await connection.send(requests[next++ % requests.length] as Buffer);
      if (status !== 200) throw new Error(`a read responds:\n${head}`);
      times.push(performance.now() - startedAt);
    }
    connection.close();
  };
  const workers = Promise.all(Array.from({ length: perSecond === 0 ? 0 : CONNECTIONS }, work));
  // The rejection is handled where `workers` is awaited.
  workers.catch(() => undefined);
  return {
    takeTimes: () => times.splice(0),
    stop: async () => {
      stopping.abort();
      await workers;
    },
  };
}
