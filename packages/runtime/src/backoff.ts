/**
 * How long to wait before trying again: longer each time up to a limit, and never twice the same, so that many clients of
 * one server do not come back at one moment.
 */

export interface BackoffOptions {
  firstMs?: number;
  maxMs?: number;
  factor?: number;
  /** A number in [0, 1); replaced in tests. */
  random?: () => number;
}

/** Endless delays in milliseconds: each is a random point in the upper half of a step, and the steps grow by `factor`. */
export function* backoff(options: BackoffOptions = {}): Generator<number, never, void> {
  const { firstMs = 100, maxMs = 30_000, factor = 2, random = Math.random } = options;
  let step = firstMs;
  while (true) {
    yield Math.round((step / 2) * (1 + random()));
    step = Math.min(step * factor, maxMs);
  }
}
