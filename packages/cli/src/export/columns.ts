/** The exported columns of a view or table, and the query for its rows. */
import type { Queryable } from '@kasgres/state';
import { type ColumnType, columnTypeOf } from './column-types.ts';

export interface Column {
  name: string;
  type: ColumnType;
}

/** A view of schema kaspa, or a table of schema public. */
export interface Source {
  schema: 'kaspa' | 'public';
  name: string;
}

/** Keys are not exported, since they differ between databases, and one database may continue the export of another. */
const KEY_SUFFIX = '_key';

const COLUMNS = `
  select a.attname as name, a.atttypmod as modifier, t.typname as "typeName"
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_type t on t.oid = a.atttypid
   where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped
   order by a.attnum`;

/** Returns no columns if there is no such view or table. */
export async function listColumns(
  db: Queryable,
  { schema, name }: Source,
  without: readonly string[] = [],
): Promise<Column[]> {
  const { rows } = await db.query<{ name: string; modifier: number; typeName: string }>(COLUMNS, [schema, name]);
  return rows
    .filter((column) => !without.includes(column.name) && !(schema === 'kaspa' && column.name.endsWith(KEY_SUFFIX)))
    .map((column) => ({ name: column.name, type: columnTypeOf(column.name, column) }));
}

/** Returns the description in the manifest, which must be the same for all files of a view. */
export function describeColumns(columns: readonly Column[]): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, type }) => [name, type.name]));
}

/** Returns a query without parameters, which COPY does not support. */
export function selectRows({ schema, name }: Source, columns: readonly Column[], where?: string): string {
  const list = columns.map(({ name, type }) => `r.${quoted(name)}${type.cast}`).join(', ');
  return `select ${list} from ${schema}.${quoted(name)} r${where === undefined ? '' : ` where ${where}`}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
