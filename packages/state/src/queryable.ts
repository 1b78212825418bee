import type { Pool } from 'pg';

/** A pool, or a client with an open transaction for a consistent state. */
export type Queryable = Pick<Pool, 'query'>;

/** Returns the differences from the facts, one sentence each (the first 20 of a kind). */
export type Verification = (db: Queryable) => Promise<string[]>;

/** Yields pages in the order of their keys. @param select one page of the rows with an `id` above the key $1; `parameters` follow as $2 and so on */
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

/** Returns parameters of a statement that unnests columns: `columnsOf(rows, 'id', 'amount')` for `unnest($1::bigint[], $2::bigint[])`. */
export function columnsOf<Row, const Names extends readonly (keyof Row)[]>(
  rows: readonly Row[],
  ...names: Names
): { -readonly [Position in keyof Names]: Row[Names[Position]][] } {
  const columns = names.map((name) => rows.map((row) => row[name]));
  return columns as { -readonly [Position in keyof Names]: Row[Names[Position]][] };
}

/** Returns a verification from queries whose rows have the description of a difference in their column `fault`. */
export function faultsOf(...queries: readonly string[]): Verification {
  return async (db) => {
    const faults: string[] = [];
    for (const text of queries) {
      const { rows } = await db.query<{ fault: string }>(text);
      faults.push(...rows.map(({ fault }) => fault));
    }
    return faults;
  };
}

/** Describes how a stored row differs from the expected one; both are JSON texts of the same columns, or null without a row. */
export function describeDifference({ stored, expected }: { stored: string | null; expected: string | null }): string {
  if (expected === null) return 'has a row, but the chain has nothing that belongs there';
  if (stored === null) return 'has no row';
  const [found, right] = [fieldsOf(stored), fieldsOf(expected)];
  return [...right]
    .filter(([name, value]) => found.get(name) !== value)
    .map(([name, value]) => `${name} ${found.get(name)}, from its rows ${value}`)
    .join('; ');
}

/** Keeps numbers as text, since some exceed the range of a double. */
function fieldsOf(json: string): Map<string | undefined, string | undefined> {
  return new Map([...json.matchAll(/"(\w+)":("[^"]*"|[^,}]+)/g)].map(([, name, value]) => [name, value]));
}
