/**
 * The planner's statistics of an index that is still small. Postgres keeps the plan of a prepared
 * statement until a table is analysed again, and autovacuum does that once a minute: meanwhile
 * batches and the API would use plans for ten rows in tables of ten thousand.
 */
import type { BatchRows } from '@kasgres/database';
import { FILLED_TABLES } from '@kasgres/state';
import type { ClientBase, Pool } from 'pg';
import { GROWING_TABLES } from './first-catch-up.ts';

/**
 * The number of rows of a small table. A larger one does not double between two runs of autovacuum.
 */
const SMALL_ROWS = 100_000;
const MIN_GROWTH = 100;

interface Written {
  rows: Partial<Record<keyof BatchRows, { table: string; rows: number }>>;
}

export class Statistics {
  /** The number of rows by table. */
  #analysed: Map<string, number> | undefined;
  #new = new Map<string, number>();
  #isAnalysing = false;

  /**
   * Analyses the tables after one of them has doubled. Takes up to a second, and batches may be
   * written meanwhile.
   * @param database runs outside a transaction, and not on the connection that writes batches
   */
  async update(database: Pool | ClientBase, { rows: written }: Written): Promise<void> {
    for (const { table, rows } of Object.values(written)) addTo(this.#new, table, rows);
    if (this.#isAnalysing || ![...this.#new.values()].some((rows) => rows >= MIN_GROWTH)) return;
    this.#isAnalysing = true;
    try {
      this.#analysed ??= await estimateRows(database);
      const before = this.#analysed;
      if (![...this.#new].some(([table, rows]) => hasDoubled(before.get(table), rows))) return;
      const counted = new Map(this.#new);
      await database.query(`analyze ${[...GROWING_TABLES, ...FILLED_TABLES].join(', ')}`);
      for (const [table, rows] of counted) {
        addTo(before, table, rows);
        addTo(this.#new, table, -rows);
      }
    } finally {
      this.#isAnalysing = false;
    }
  }
}

function hasDoubled(before: number | undefined, added: number): boolean {
  return before !== undefined && before <= SMALL_ROWS && added >= Math.max(before, MIN_GROWTH);
}

function addTo(counts: Map<string, number>, table: string, rows: number): void {
  counts.set(table, (counts.get(table) ?? 0) + rows);
}

async function estimateRows(database: Pool | ClientBase): Promise<Map<string, number>> {
  const { rows } = await database.query<{ name: string; estimate: number }>(
    `select grown.name, sum(greatest(c.reltuples, 0))::float8 as estimate
       from unnest($1::text[]) as grown (name)
       left join lateral pg_partition_tree(grown.name::regclass) leaf on leaf.isleaf
       join pg_class c on c.oid = coalesce(leaf.relid, grown.name::regclass)
      group by grown.name`,
    [GROWING_TABLES],
  );
  return new Map(rows.map(({ name, estimate }) => [name, estimate]));
}
