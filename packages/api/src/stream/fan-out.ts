/** Passes on what was read to all subscribers, without delaying requests. */
import { type EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { Message } from './messages.ts';
import type { Step } from './read-step.ts';
import type { Subscriber } from './subscriber.ts';

const CALLER = 'streams';
/** For each millisecond of passing on, this many follow without. Meanwhile the chain grows, and the next step covers more of it. */
const PAUSE_RATIO = 3;
/** Bounds the delay of events if clients are many or the machine is busy. */
const MAX_PAUSE_MS = 200;

export interface Read {
  blocks: readonly Message[];
  step: Step | undefined;
}

/** Returns the milliseconds that should pass before the next read: a write to a connection takes 10 microseconds, and clients may be thousands. */
export async function fanOut(
  turns: EventLoopTurns,
  subscribers: Iterable<Pick<Subscriber, 'onRead'>>,
  { blocks, step }: Read,
): Promise<number> {
  const startedAt = performance.now();
  await new Slices(turns, CALLER).forEach(subscribers, (subscriber) => subscriber.onRead(blocks, step));
  return Math.min((performance.now() - startedAt) * PAUSE_RATIO, MAX_PAUSE_MS);
}
