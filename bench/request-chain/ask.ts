/** Asks a database SQL as the read-only analyst, and takes the time: once as it comes, then warm. */
import { performance } from 'node:perf_hooks';
import type { ClientBase } from 'pg';

const WARM_RUNS = 3;

export interface Times {
  /** Of the first run: what is not in memory is read from disk. */
  firstMs: number;
  /** Median of the runs after that. */
  ms: number;
  rows: number;
}

export async function timesOf(client: ClientBase, sql: string): Promise<Times> {
  const first = await timeOnce(client, sql);
  const warm: number[] = [];
  for (let run = 0; run < WARM_RUNS; run += 1) warm.push((await timeOnce(client, sql)).ms);
  const ms = warm.toSorted((a, b) => a - b)[Math.floor(WARM_RUNS / 2)] as number;
  return { firstMs: first.ms, ms, rows: first.rows };
}

async function timeOnce(client: ClientBase, sql: string): Promise<{ ms: number; rows: number }> {
  const startedAt = performance.now();
  const { rowCount } = await client.query(sql);
  return { ms: performance.now() - startedAt, rows: rowCount ?? 0 };
}
