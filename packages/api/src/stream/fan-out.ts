/** Passes on what was read to all subscribers, without delaying requests. */
import { type EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { Message } from './messages.ts';
import type { Step } from './read-step.ts';
import type { Subscriber } from './subscriber.ts';

const CALLER = 'streams';
/** The pause after a fan-out, as a share of the time that the fan-out took. */
const PAUSE_SHARE = 1 / 4;
/** Bounds the delay of events if clients are many or the machine is busy. */
const MAX_PAUSE_MS = 100;

export interface Read {
  blocks: readonly Message[];
  step: Step | undefined;
}

/**
 * A write to a connection takes 15 microseconds, and there may be thousands. Returns how many milliseconds to pause before the next read, which leaves
 * at least a fifth of the time to requests, unless a fan-out takes more than 400 ms. Meanwhile the chain grows, and the next step covers more of it.
 */
export async function fanOut(
  turns: EventLoopTurns,
  subscribers: Iterable<Pick<Subscriber, 'onRead'>>,
  { blocks, step }: Read,
): Promise<number> {
  const startedAt = performance.now();
  await new Slices(turns, CALLER).forEach(subscribers, (subscriber) => subscriber.onRead(blocks, step));
  return Math.min((performance.now() - startedAt) * PAUSE_SHARE, MAX_PAUSE_MS);
}
