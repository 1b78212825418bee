import type { Pool } from 'pg';

/** A pool, or a client with an open transaction for a consistent state. */
export type Queryable = Pick<Pool, 'query'>;

/** Returns the differences from the facts, one sentence each (the first 20 of a kind). */
export type Verification = (db: Queryable) => Promise<string[]>;

/** Unlogged tables do not exist on a standby, and naming one there is an error. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  return rows[0]?.standby === true;
}

/**
 * Yields pages in the order of their keys.
 * @param select one page of the rows with an `id` above the key $1; `parameters` follow as $2 and
 * so on
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

/**
 * Returns parameters of a statement that unnests columns: `columnsOf(rows, 'id', 'amount')` for
 * `unnest($1::bigint[], $2::bigint[])`.
 */
export function columnsOf<Row, const Names extends readonly (keyof Row)[]>(
  rows: readonly Row[],
  ...names: Names
): { -readonly [Position in keyof Names]: Row[Names[Position]][] } {
  const columns = names.map((name) => rows.map((row) => row[name]));
  return columns as { -readonly [Position in keyof Names]: Row[Names[Position]][] };
}

/**
 * Returns a verification from queries whose rows have the description of a difference in their
 * column `fault`.
 */
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

export function allOf(...verifications: readonly Verification[]): Verification {
  return async (db) => {
    const faults: string[] = [];
    for (const verify of verifications) faults.push(...(await verify(db)));
    return faults;
  };
}

/** Describes how a stored row `s` differs from the expected row `e`, which has the same columns. */
export const DIFFERENCE = `
  case when e is null then 'has a row, but the chain has nothing that belongs there'
       when s is null then 'has no row'
       else (select string_agg(format('%s %s, from its rows %s', key,
         coalesce(to_json(s) ->> key, 'null'), coalesce(value, 'null')), '; ')
               from json_each_text(to_json(e))
                 where value is distinct from to_json(s) ->> key) end`;
