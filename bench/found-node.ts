/** The node that a benchmark reads: that of NODE_URL, or a simulated one in a separate process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { killAtExit, stopProcess } from '../test/support/programs.ts';

const SIMULATED_NODE = new URL('../packages/devnet/src/main.ts', import.meta.url);

export interface FoundNode {
  url: string;
  isSimulated: boolean;
  stop: () => Promise<void>;
}

/** @param simulation variables of the simulated node; those of the environment take precedence */
export async function findNode(simulation: Readonly<Record<string, string>>): Promise<FoundNode> {
  const url = process.env['NODE_URL'];
  if (url) return { url, isSimulated: false, stop: async () => undefined };
  const set = Object.entries(process.env).filter(([name]) => name === 'PATH' || name.startsWith('DEVNET_'));
  const child = fork(SIMULATED_NODE, [], {
    env: { LOG_LEVEL: 'warn', ...simulation, ...Object.fromEntries(set) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  killAtExit(child);
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the simulated node exited with code ${String(code)}`);
  });
  // It also exits when it is stopped.
  exited.catch(() => undefined);
  const [message] = (await Promise.race([once(child, 'message'), exited])) as [{ url: string }];
  return { url: message.url, isSimulated: true, stop: async () => await stopProcess(child, 'SIGTERM') };
}
