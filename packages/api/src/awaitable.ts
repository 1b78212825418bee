/** A value that is usually known at once. A request passes through many, and a promise for each would cost as much as its limits. */
export type Awaitable<T> = T | Promise<T>;

export const whenKnown = <T, U>(value: Awaitable<T>, use: (value: T) => Awaitable<U>): Awaitable<U> =>
  value instanceof Promise ? value.then(use) : use(value);
