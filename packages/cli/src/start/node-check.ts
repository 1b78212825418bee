// The nodes of NODE_URL, checked against the database before anything is written to it.

import type { DatabaseState } from '@kasgres/database';
import { NodeClient, NodeRpcError } from '@kasgres/node';
import { backoff, FatalError, sleep } from '@kasgres/runtime';
import { nameOfDatabase } from '../database-problem.ts';
import { findNodeProblem } from './node-problem.ts';

interface Database {
  url: string;
  state: DatabaseState;
}

/** The network of the simulated node. */
const SIMULATED_NETWORK = 'simnet';

/**
 * What can be told of a simulated node before it runs.
 * @throws {FatalError} when the database holds another chain
 */
export function checkFitsSimulatedNode({ url, state }: Database, hasSimulatedChain: boolean): void {
  const { network } = state;
  if (network === undefined) return;
  if (network !== SIMULATED_NETWORK) {
    throw new FatalError(
      `The database ${nameOfDatabase(url)} holds ${network}, and without NODE_URL a node of ${SIMULATED_NETWORK} is simulated. Set NODE_URL to a ` +
        `node of ${network}, or leave DATABASE_URL unset for a demo.`,
    );
  }
  if (!hasSimulatedChain) throw otherChain(url);
}

/** @throws {FatalError} when the simulated node has another chain than the database */
export async function checkChainOfSimulatedNode({ url, state }: Database, nodeUrl: string): Promise<void> {
  if (state.secondBlock === undefined) return;
  const client = new NodeClient({ url: nodeUrl });
  try {
    await client.call('getBlock', { hash: state.secondBlock, includeTransactions: false });
  } catch (error) {
    if (error instanceof NodeRpcError && error.kind === 'unknown-block') throw otherChain(url);
    throw error;
  } finally {
    await client.close();
  }
}

function otherChain(url: string): FatalError {
  return new FatalError(
    `The database ${nameOfDatabase(url)} holds another simulated chain than that of this DATA_DIR. Set DATA_DIR to the folder of the start that ` +
      'filled it, set NODE_URL to its node, or use an empty database.',
  );
}

interface CheckOptions {
  say: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Checks that a node is of the network that the database holds. One that is away is waited for only if a migration would be written
 * before it could be checked.
 * @throws {FatalError} when none of the nodes can be followed
 */
export async function checkNodes(
  nodeUrls: readonly string[],
  { url, state }: Database,
  { say, signal }: CheckOptions,
): Promise<void> {
  const { network } = state;
  if (network === undefined) return;
  for (const pauseMs of backoff({ firstMs: 4_000, maxMs: 120_000 })) {
    signal.throwIfAborted();
    const problems = await Promise.all(nodeUrls.map((nodeUrl) => findNodeProblem(nodeUrl, network)));
    const found = problems.filter((problem) => problem !== undefined);
    if (found.length === nodeUrls.length && found.every(({ isFinal }) => isFinal)) {
      throw new FatalError(
        `The database ${nameOfDatabase(url)} cannot be filled from ${found.map(({ text }) => text).join(' ')}`,
      );
    }
    if (found.length < nodeUrls.length || state.pending.length === 0) return;
    say(`Waiting for the node before the schema is migrated. ${found.map(({ text }) => text).join(' ')}`);
    await sleep(pauseMs, signal);
  }
}
