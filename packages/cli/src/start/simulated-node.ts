// The simulated node that `start` brings along where NODE_URL names none.

import { untilAborted } from '@kasgres/runtime';
import { z } from 'zod';
import type { DataDir } from '../data-dir.ts';
import { programPaths } from '../programs.ts';
import type { Supervisor } from './supervisor.ts';

const announcement = z.object({ url: z.string() });

/** Starts it and waits until it says where it answers. Its port stays when it must be started again. */
export async function startSimulatedNode(
  supervisor: Supervisor,
  dataDir: DataDir,
  port: number,
  signal: AbortSignal,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  supervisor.start({
    name: 'node',
    path: programPaths.simulatedNode,
    env: { DATA_DIR: dataDir.node, PORT: String(port) },
    onLine: (line) => {
      if (!line.startsWith('{"url"')) return;
      const parsed = announcement.safeParse(JSON.parse(line));
      if (parsed.success) resolve(parsed.data.url);
    },
  });
  await Promise.race([promise, untilAborted(signal)]);
  signal.throwIfAborted();
  return promise;
}
