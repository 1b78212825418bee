/** The server of API benchmarks, and a client that repeats one request over a few connections. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Request } from '../test/plans/harness.ts';

const CONCURRENCY = 8;

/** The line that compare-server.ts prints when it is ready. */
export interface ComparedServer {
  url: string;
  key: string;
  requests: Record<string, Request>;
}

/**
 * Returns the time of each response in milliseconds. Throws if a response has another status than 200.
 */
export async function sendRequests(
  durationMs: number,
  url: string,
  key: string,
  { method, url: path, body }: Request,
): Promise<number[]> {
  const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
  const init = { method: method.toUpperCase(), headers, ...(body && { body: JSON.stringify(body) }) };
  const times: number[] = [];
  const endAt = performance.now() + durationMs;
  const worker = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const start = performance.now();
      const response = await fetch(`${url}${path}`, init);
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path} responds ${response.status}`);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return times;
}

/** Starts the API of a checkout on a database with a million transactions. */
export async function serve(checkout: string): Promise<{ child: ChildProcess; ready: ComparedServer }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'compare-server.ts'), checkout], {
    cwd: checkout,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, ready: JSON.parse(line) as ComparedServer };
  }
  throw new Error(`the server of ${checkout} exited with code ${child.exitCode}`);
}

/** The server exits when its standard input ends. */
export async function endServer(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.stdin?.end();
  await exited;
}
