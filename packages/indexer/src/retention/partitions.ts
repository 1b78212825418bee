/**
 * The partitions of the tables that grow with the chain, as far as retention removes them.
 * Migration 0001 and apply/generations.ts make them.
 */
import type { ClientBase } from 'pg';

/** Tables by key of a block, with the name of the key. */
export const BLOCK_TABLES = { blocks: 'id', block_parents: 'block_id', block_transactions: 'block_id' } as const;
/** Tables by key of a transaction, with the name of the key. */
export const TRANSACTION_TABLES = {
  transactions: 'id',
  transaction_variants: 'transaction_id',
  transaction_variant_inputs: 'transaction_id',
  transaction_inputs: 'transaction_id',
  transaction_outputs: 'transaction_id',
} as const;

const KEY_TABLES = [...Object.keys(BLOCK_TABLES), ...Object.keys(TRANSACTION_TABLES)];
export const PARTITIONED_TABLES: readonly string[] = [...KEY_TABLES, 'chain_blocks'];

/** The partition of what a cut keeps of the generations before this one. */
export const keptPartition = (table: string, generation: number): string => `${table}_kept_${generation}`;

interface Partition {
  table: string;
  name: string;
}

const SELECT_NAMED = `
  select parent.name as table, c.relname as name
    from unnest($1::text[]) parent (name)
    join pg_class c on c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
         and c.relname ~ ('^' || parent.name || '_(kept_)?[0-9]+$')`;

/** Returns the partitions before a generation, including what earlier cuts kept. */
export async function listPartitionsBefore(client: ClientBase, generation: number): Promise<Partition[]> {
  const { rows } = await client.query<Partition>(
    `${SELECT_NAMED} where c.relispartition and substring(c.relname from '[0-9]+$')::integer < $2`,
    [PARTITIONED_TABLES, generation],
  );
  return rows;
}

/**
 * Drops the tables that cuts detached. Nobody reads them, and locks on them concern nobody else.
 * Idempotent.
 * @returns the number of dropped tables
 */
export async function dropDetached(client: ClientBase): Promise<number> {
  const { rows } = await client.query<Partition>(`${SELECT_NAMED} where not c.relispartition`, [PARTITIONED_TABLES]);
  for (const { name } of rows) await client.query(`drop table if exists ${name}`);
  return rows.length;
}
