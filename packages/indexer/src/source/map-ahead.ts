/**
 * Maps an async sequence with several items under way at once, and yields the results in order. Whoever takes the results
 * slowly slows the sequence: never more than `width()` results exist that were not taken.
 */
export async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item>,
  map: (item: Item) => Promise<Result>,
  width: () => number,
): AsyncGenerator<Result> {
  const iterator = items[Symbol.asyncIterator]();
  const ahead: Promise<{ result: Result } | undefined>[] = [];
  const startOne = (): void => {
    const next = iterator
      .next()
      .then(async ({ done, value }) => (done === true ? undefined : { result: await map(value) }));
    // Failures are met when their turn comes.
    next.catch(() => undefined);
    ahead.push(next);
  };
  try {
    for (;;) {
      while (ahead.length < Math.max(1, width())) startOne();
      const first = await ahead.shift();
      if (first === undefined) return;
      yield first.result;
    }
  } finally {
    await iterator.return?.();
  }
}
