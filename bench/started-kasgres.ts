/** `kasgres start`, which `npm start` runs, on a given node and database. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, isFree, killAtExit, stopProcess } from '../test/support/programs.ts';

const KASGRES = fileURLToPath(new URL('../packages/cli/bin/kasgres.js', import.meta.url));
const MAX_OUTPUT_CHARACTERS = 20_000;

export interface StartedKasgres {
  apiUrl: string;
  /** @throws Error with its output if it has exited */
  requireRunning: () => void;
  findIndexerProcess: () => Promise<number>;
  /**
   * Whether the indexer serves metrics, which it does from the moment when it begins to follow the
   * node.
   */
  isIndexerUp: () => Promise<boolean>;
  /** Returns the metrics of the indexer in the text format of Prometheus. */
  readIndexerMetrics: () => Promise<string>;
  stop: () => Promise<void>;
}

export async function startKasgres({
  nodeUrl,
  p2pUrl,
  databaseUrl,
}: Record<'nodeUrl' | 'databaseUrl', string> & { p2pUrl?: string | undefined }): Promise<StartedKasgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kasgres-bench-'));
  const [port, metricsPort] = [await freePort(), await freePortPair()];
  const child = spawn(process.execPath, [KASGRES, 'start'], {
    env: {
      LOG_LEVEL: 'warn',
      ...process.env,
      NODE_URL: nodeUrl,
      ...(p2pUrl && { NODE_P2P_URL: p2pUrl }),
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  killAtExit(child);
  const readIndexerMetrics = async (): Promise<string> =>
    await (await fetch(`http://127.0.0.1:${metricsPort + 1}/metrics`)).text();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output = (output + data.toString()).slice(-MAX_OUTPUT_CHARACTERS);
    });
  }
  return {
    apiUrl: `http://127.0.0.1:${port}`,
    requireRunning: () => {
      if (child.exitCode !== null) throw new Error(`kasgres start exited with code ${child.exitCode}:\n${output}`);
    },
    findIndexerProcess: async () => {
      const file = JSON.parse(await readFile(join(dataDir, 'runtime.json'), 'utf8')) as { processIds: number[] };
      // With a given node and database, the indexer is the first program that it starts.
      return file.processIds[0] ?? 0;
    },
    isIndexerUp: async () =>
      await readIndexerMetrics().then(
        () => true,
        () => false,
      ),
    readIndexerMetrics,
    stop: async () => {
      await stopProcess(child, 'SIGTERM');
      await rm(dataDir, { recursive: true });
    },
  };
}

/** Returns a free port whose successor is free too: `start` gives that one to the indexer. */
async function freePortPair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 1)) return port;
  }
}
