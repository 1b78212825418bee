import type { Queryable } from './queryable.ts';

/**
 * Pages of rows in the order of their keys, until there are none left.
 * @param select a page of what comes after the key $1, by `id`; its further parameters are `parameters`
 */
export async function* pagesByKey<Row extends { id: bigint }>(
  db: Queryable,
  select: string,
  afterKey: bigint,
  parameters: readonly bigint[] = [],
): AsyncGenerator<Row[]> {
  for (let after = afterKey; ; ) {
    const { rows } = await db.query<Row>(select, [after, ...parameters]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.id;
  }
}
