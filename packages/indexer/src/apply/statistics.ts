/**
 * The planner's statistics of an index that is still small. Postgres keeps the plan of a prepared statement until a table is analysed again,
 * and autovacuum does that once a minute: meanwhile the API would read with plans for ten rows in tables of ten thousand.
 */
import { FILLED_TABLES } from '@kasgres/state';
import type { ClientBase, Pool } from 'pg';
import { GROWING_TABLES } from './first-catch-up.ts';

/** The number of blocks and transactions of a small index. A larger one does not double between two runs of autovacuum. */
const SMALL_ROWS = 100_000;
const MIN_GROWTH = 100;

interface Written {
  rows: Record<'blocks' | 'transactions', { rows: number }>;
}

export class Statistics {
  #analysedRows: number | undefined;
  #newRows = 0;
  #isAnalysing = false;

  /**
   * Analyses the tables after they have doubled. Takes up to a second, and batches may be written meanwhile.
   * @param database runs outside a transaction, and not on the connection that writes batches
   */
  async update(database: Pool | ClientBase, { rows: { blocks, transactions } }: Written): Promise<void> {
    this.#newRows += blocks.rows + transactions.rows;
    if (this.#newRows < MIN_GROWTH || this.#isAnalysing) return;
    this.#isAnalysing = true;
    try {
      this.#analysedRows ??= await estimateRows(database);
      const newRows = this.#newRows;
      if (this.#analysedRows > SMALL_ROWS || newRows < this.#analysedRows) return;
      await database.query(`analyze ${[...GROWING_TABLES, ...FILLED_TABLES].join(', ')}`);
      this.#analysedRows += newRows;
      this.#newRows -= newRows;
    } finally {
      this.#isAnalysing = false;
    }
  }
}

async function estimateRows(database: Pool | ClientBase): Promise<number> {
  const { rows } = await database.query<{ estimate: number }>(
    `select sum(greatest(c.reltuples, 0))::float8 as estimate
       from (values ('blocks'), ('transactions')) grown (name), pg_partition_tree(grown.name::regclass) leaf
       join pg_class c on c.oid = leaf.relid
      where leaf.isleaf`,
  );
  return rows[0]?.estimate ?? 0;
}
