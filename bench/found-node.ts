/**
 * The node that a benchmark reads: that of NODE_URL and NODE_P2P_URL, or a simulated one in a
 * separate process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { killAtExit, stopProcess } from '../test/support/programs.ts';

const SIMULATED_NODE = new URL('../packages/devnet/src/main.ts', import.meta.url);
const PRUNED_NODE = new URL('pruned-node.ts', import.meta.url);

interface Urls {
  url: string;
  /** Names the peer that serves the UTXO set; undefined if the node has its chain since genesis. */
  p2pUrl?: string | undefined;
}

export interface FoundNode extends Urls {
  isSimulated: boolean;
  /** @throws Error if the simulated node has exited */
  requireRunning: () => void;
  stop: () => Promise<void>;
}

/** @param simulation variables of the simulated node; those of the environment take precedence */
export async function findNode(simulation: Readonly<Record<string, string>>): Promise<FoundNode> {
  const { NODE_URL: url, NODE_P2P_URL: p2pUrl } = process.env;
  if (url) return { url, p2pUrl, isSimulated: false, requireRunning: () => undefined, stop: async () => undefined };
  const set = Object.entries(process.env).filter(([name]) => name.startsWith('DEVNET_'));
  return await startNode(SIMULATED_NODE, [], { ...simulation, ...Object.fromEntries(set) });
}

/** Starts a simulated node that has pruned its chain. @param options of bench/pruned-node.ts */
export async function startPrunedNode(options: Readonly<Record<'utxos' | 'transactions', number>>): Promise<FoundNode> {
  return await startNode(
    PRUNED_NODE,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    {},
  );
}

async function startNode(program: URL, args: readonly string[], variables: NodeJS.ProcessEnv): Promise<FoundNode> {
  const child = fork(program, args, {
    env: { LOG_LEVEL: 'warn', PATH: process.env['PATH'], ...variables },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  killAtExit(child);
  const requireRunning = (): void => {
    const { exitCode, signalCode } = child;
    if (exitCode !== null || signalCode !== null)
      throw new Error(`the simulated node exited: ${exitCode ?? signalCode}`);
  };
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [Urls];
  requireRunning();
  return { ...message, isSimulated: true, requireRunning, stop: async () => await stopProcess(child, 'SIGTERM') };
}
