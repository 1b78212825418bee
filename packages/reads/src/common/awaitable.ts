/**
 * A value that is usually known at once. A request passes through many, and a promise for each
 * would cost as much as its limits.
 */
export type Awaitable<T> = T | Promise<T>;

/**
 * Like `then`, but at once if the value is known.
 * @param fail is called if a promise is rejected
 */
export const whenKnown = <T, U>(
  value: Awaitable<T>,
  use: (value: T) => Awaitable<U>,
  fail?: (error: unknown) => Awaitable<U>,
): Awaitable<U> => (value instanceof Promise ? value.then(use, fail) : use(value));
