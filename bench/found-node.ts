/**
 * The node that a benchmark reads: that of NODE_URL and NODE_P2P_URL, or a simulated one in a
 * separate process.
 */
import { HelperProcess } from './helper-process.ts';

interface Urls {
  url: string;
  /** Names the peer that serves the UTXO set; undefined if the node has its chain since genesis. */
  p2pUrl?: string | undefined;
}

export interface FoundNode extends Urls {
  isSimulated: boolean;
  /** @throws Error if the simulated node has exited */
  requireRunning: () => void;
}

/** @param simulation variables of the simulated node; those of the environment take precedence */
export async function findNode(
  ends: AsyncDisposableStack,
  simulation: Readonly<Record<string, string>>,
): Promise<FoundNode> {
  const { NODE_URL: url, NODE_P2P_URL: p2pUrl } = process.env;
  if (url) return { url, p2pUrl, isSimulated: false, requireRunning: () => undefined };
  const set = Object.entries(process.env).filter(([name]) => name.startsWith('DEVNET_'));
  return await startNode(ends, '../packages/devnet/src/main.ts', [], { ...simulation, ...Object.fromEntries(set) });
}

/** Starts a simulated node that has pruned its chain. @param options of bench/pruned-node.ts */
export async function startPrunedNode(
  ends: AsyncDisposableStack,
  options: Readonly<Record<'utxos' | 'transactions', number>>,
): Promise<FoundNode> {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return await startNode(ends, 'pruned-node.ts', args, {});
}

async function startNode(
  ends: AsyncDisposableStack,
  file: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv,
): Promise<FoundNode> {
  const env = { LOG_LEVEL: 'warn', PATH: process.env['PATH'], ...variables };
  const helper = ends.use(new HelperProcess(file, args, env));
  return { ...(await helper.receive<Urls>()), isSimulated: true, requireRunning: () => helper.requireRunning() };
}
