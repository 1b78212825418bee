/** Passes on what was read to all subscribers, without delaying requests. */
import { type EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { Message } from './messages.ts';
import type { Step } from './read-step.ts';
import type { Subscriber } from './subscriber.ts';

const CALLER = 'streams';
/** The share of the duration of a fan-out that the pause after it takes. */
const PAUSE_SHARE = 1 / 4;
/** Bounds the delay of events if clients are many or the machine is busy. */
const MAX_PAUSE_MS = 100;

export interface Read {
  blocks: readonly Message[];
  step: Step | undefined;
}

/**
 * Returns the milliseconds that should pass before the next read, since a write to a connection takes 15 microseconds, and clients may be thousands.
 * The pause leaves a fifth of the time to requests. Meanwhile the chain grows, and the next step covers more of it.
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
