/** The simulated network in real time: blocks and payments occur at random moments with the given mean rates. */
import { sleep, untilAborted } from '@kasgres/runtime';
import type { Simulation } from './simulation/index.ts';

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
  for (;;) {
    // Independent events have exponential gaps.
    await sleep((-Math.log(1 - Math.random()) * 1_000) / timesPerSecond, signal);
    act();
  }
}
