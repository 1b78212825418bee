/** Checks the nodes of NODE_URL against the database before anything is written to it. */
import { NodeClient, NodeRpcError } from '@kasgres/node';
import { backoff, FatalError, sleep } from '@kasgres/runtime';
import { nameOfDatabase } from '../error-message.ts';
import type { CheckedDatabase } from './checked-database.ts';
import { findNodeProblems } from './node-problem.ts';

type Database = Pick<CheckedDatabase, 'url' | 'state'>;

const SIMULATED_NETWORK = 'simnet';

/**
 * @throws {FatalError} if the database holds another chain, as far as it shows before the simulated
 * node runs
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

/** @throws {FatalError} if the simulated node has another chain than the database */
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
    `The database ${nameOfDatabase(url)} holds another simulated chain than this DATA_DIR. Set DATA_DIR to the folder of the start that ` +
      'filled it, set NODE_URL to its node, or use an empty database.',
  );
}

/**
 * Waits for a node that is unreachable only if a migration would be written before its network
 * could be checked.
 * @throws {FatalError} if none of the nodes can be followed
 */
export async function checkNodes(
  nodeUrls: readonly string[],
  { url, state: { network, pending } }: Database,
  { print, signal }: { print: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  if (network === undefined) return;
  for (const pauseMs of backoff({ firstMs: 4_000, maxMs: 120_000 })) {
    signal.throwIfAborted();
    const problems = await findNodeProblems(nodeUrls, network);
    if (problems === undefined) return;
    const messages = problems.map(({ message }) => message).join(' ');
    if (problems.every(({ isFinal }) => isFinal)) {
      throw new FatalError(`The database ${nameOfDatabase(url)} cannot be filled from ${messages}`);
    }
    if (pending.length === 0) return;
    print(`Waiting for the node before the schema is migrated. ${messages}`);
    await sleep(pauseMs, signal);
  }
}
