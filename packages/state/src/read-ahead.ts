/** Yields the same items, and meanwhile reads the next: Postgres works while the caller does. */
export async function* readAhead<Item>(items: AsyncGenerator<Item, undefined>): AsyncGenerator<Item> {
  for (let next = items.next(); ; ) {
    const item = await next;
    if (item.done === true) return;
    next = items.next();
    // It is awaited after the item, unless the caller stops.
    next.catch(() => undefined);
    yield item.value;
  }
}
