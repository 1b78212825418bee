/** A value that is usually known at once. Awaiting such values would cost more than all else that a small request needs. */
export type Awaitable<T> = T | Promise<T>;

export const whenKnown = <T, U>(value: Awaitable<T>, use: (value: T) => Awaitable<U>): Awaitable<U> =>
  value instanceof Promise ? value.then(use) : use(value);
