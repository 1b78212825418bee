/**
 * The time of the server, to which times of the chain are compared: the clock of the visitor may be
 * wrong. All relative times advance together.
 */
import { signal } from '@preact/signals';

/** A `date` header has whole seconds, and a response may have taken or been cached for a while. */
const TOLERANCE_MS = 5000;

let aheadMs = 0;

/** Returns milliseconds since 1970. */
export const serverNow = (): number => Date.now() + aheadMs;

export const now = signal(serverNow());

const advance = (): void => {
  now.value = serverNow();
};

/** Sets the clock by the `date` header of a response. */
export function setClock(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!(Math.abs(difference - aheadMs) > TOLERANCE_MS)) return;
  aheadMs = difference;
  advance();
}

setInterval(() => {
  if (document.visibilityState === 'visible') advance();
}, 1000);
document.addEventListener('visibilitychange', advance);
