import { Client, type ClientBase } from 'pg';
import { isInFailedTransaction } from './errors.ts';

type Works = readonly (() => Promise<unknown>)[];
type Results<All extends Works> = { -readonly [Position in keyof All]: Awaited<ReturnType<All[Position]>> };

/**
 * Starts all works, if the client pipelines its statements, so that their first statements take one
 * round trip together; else one after the other. The server runs statements in the order in which
 * they are sent.
 *
 * Returns when every work has ended, so that none sends a statement after the transaction. Throws
 * the error that caused the others: the first that is not 'current transaction is aborted'.
 */
export async function inPipeline<const All extends Works>(client: ClientBase, works: All): Promise<Results<All>> {
  const results: unknown[] = [];
  if (!isPipelined(client)) {
    for (const work of works) results.push(await work());
    return results as Results<All>;
  }
  const errors: unknown[] = [];
  const settled = works.map((work) => work().catch((error: unknown) => void errors.push(error)));
  results.push(...(await Promise.all(settled)));
  if (errors.length > 0) throw errors.find((error) => !isInFailedTransaction(error)) ?? errors[0];
  return results as Results<All>;
}

/**
 * Returns whether the client sends a statement without waiting for the response to the one before.
 */
export function isPipelined(client: ClientBase): boolean {
  return client instanceof Client && client.pipeline;
}
