/** The node that a benchmark reads: that of NODE_URL, or a simulated one in a separate process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { killAtExit, stopProcess } from '../test/support/programs.ts';

const SIMULATED_NODE = new URL('../packages/devnet/src/main.ts', import.meta.url);

export interface FoundNode {
  url: string;
  isSimulated: boolean;
  /** @throws Error if the simulated node has exited */
  requireRunning: () => void;
  stop: () => Promise<void>;
}

/** @param simulation variables of the simulated node; those of the environment take precedence */
export async function findNode(simulation: Readonly<Record<string, string>>): Promise<FoundNode> {
  const url = process.env['NODE_URL'];
  if (url) return { url, isSimulated: false, requireRunning: () => undefined, stop: async () => undefined };
  const set = Object.entries(process.env).filter(([name]) => name === 'PATH' || name.startsWith('DEVNET_'));
  const child = fork(SIMULATED_NODE, [], {
    env: { LOG_LEVEL: 'warn', ...simulation, ...Object.fromEntries(set) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  killAtExit(child);
  const requireRunning = (): void => {
    const { exitCode, signalCode } = child;
    if (exitCode !== null || signalCode !== null)
      throw new Error(`the simulated node exited: ${exitCode ?? signalCode}`);
  };
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [{ url: string }];
  requireRunning();
  return { url: message.url, isSimulated: true, requireRunning, stop: async () => await stopProcess(child, 'SIGTERM') };
}
