/**
 * The simulated node as a process. Once it serves, it prints `{"url":"grpc://…"}` and sends the
 * same to its parent. It logs to stderr.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger, runProgram, sleep, untilAborted } from '@kasgres/runtime';
import { landmarks } from './economy/keyring.ts';
import { readDevnetEnv } from './env.ts';
import { NodeServer } from './rpc/server.ts';
import { makePast, openSimulatedDag, type OpenSimulatedDag, type Simulation } from './simulation/index.ts';

/** The longest delay of a timer that later events make up for. */
const MADE_UP_MS = 1_000;

await runProgram('devnet', async ({ signal, shutdown, useLogger }) => {
  const env = readDevnetEnv(process.argv.slice(2), process.env);
  const logger = createLogger({ name: 'devnet', level: env.logLevel, destination: process.stderr });
  useLogger(logger);

  const simulatedDag = openSimulatedDag({ ...env, now: Date.now });
  shutdown.add('journal', simulatedDag.close);
  const restored = simulatedDag.node.consensus.size;
  await makePast(simulatedDag, env, signal);
  if (env.dataDir !== undefined) writeDemoFile(join(env.dataDir, 'demo.json'), simulatedDag);

  const server = await NodeServer.start({
    state: simulatedDag.node,
    host: env.host,
    port: env.port,
    onError: (err) => logger.error({ err }, 'failed to respond'),
  });
  shutdown.add('server', () => server.close());
  const { size, sink } = simulatedDag.node.consensus;
  logger.info({ url: server.url, restored, blocks: size, sinkBlueScore: sink.blueScore }, 'started serving');
  announce({ url: server.url });

  simulatedDag.simulation.leavePending(env.pendingPayments);
  await grow(simulatedDag.simulation, env, signal);
});

function announce(message: { url: string }): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
  process.send?.(message);
}

/**
 * Writes an address with a long history and the tags of large owners, for the program that starts a
 * demo.
 */
function writeDemoFile(path: string, { node, simulation }: OpenSimulatedDag): void {
  const tags = landmarks(simulation.keyring, node.network.addressPrefix);
  const demo = { network: node.network.id, address: tags[0]?.address, tags };
  // The rename is atomic, so a kill leaves no incomplete file.
  writeFileSync(`${path}.new`, `${JSON.stringify(demo, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/**
 * The simulated network in real time: blocks and payments occur at random moments with the given
 * mean rates.
 */
export interface Pace {
  blocksPerSecond: number;
  transactionsPerSecond: number;
}

/** Grows until the signal; throws the `AbortError` then. */
export async function grow(simulation: Simulation, pace: Pace, signal: AbortSignal): Promise<void> {
  await Promise.all([
    again(pace.blocksPerSecond, signal, () => simulation.mine(Date.now())),
    again(pace.transactionsPerSecond, signal, () => simulation.pay(1)),
  ]);
}

async function again(timesPerSecond: number, signal: AbortSignal, act: () => void): Promise<void> {
  if (timesPerSecond === 0) return untilAborted(signal);
  let dueAt = performance.now();
  for (;;) {
    // Independent events have exponential gaps.
    dueAt += (-Math.log(1 - Math.random()) * 1_000) / timesPerSecond;
    // Delays of timers are made up for, so that the rate is exact; those of a suspended machine are
    // not.
    dueAt = Math.max(dueAt, performance.now() - MADE_UP_MS);
    await sleep(Math.max(0, dueAt - performance.now()), signal);
    act();
  }
}
