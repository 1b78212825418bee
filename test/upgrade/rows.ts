/**
 * The rows of a database as SQL that inserts them into the same schema, which the migrations
 * create.
 */
import type { Pool } from 'pg';

/** The rows of a large table are inserted by several statements of this many rows. */
const ROWS_PER_STATEMENT = 500;

const SELECT_TABLES = `
  select c.relname as name,
         (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
             and a.attgenerated = '') as columns
    from pg_class c
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
     and not c.relispartition and c.relname <> 'migrations'
   order by c.relname`;

const SELECT_SEQUENCES = `
  select format('select setval(%L, %s, %L);', s.sequencename, coalesce(s.last_value, 1),
    s.last_value is not null) as statement
    from pg_sequences s where s.schemaname = 'public' order by s.sequencename`;

/** @throws if the database has partitions that no migration makes */
export async function dumpRows(pool: Pool): Promise<string> {
  const { rows: generations } = await pool.query('select from generations where generation > 0');
  if (generations.length > 0) throw new Error('the partitions of further generations would have to be made');
  const { rows: tables } = await pool.query<{ name: string; columns: string }>(SELECT_TABLES);
  // Without triggers and foreign keys, so that the order does not matter.
  const statements = [
    'set session_replication_role = replica;',
    `truncate ${tables.map(({ name }) => name).join(', ')};`,
  ];
  for (const { name, columns } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t order by 1`);
    for (let first = 0; first < rows.length; first += ROWS_PER_STATEMENT) {
      const list = rows.slice(first, first + ROWS_PER_STATEMENT).map(({ row }) => row);
      const literal = `'[${list.join(',\n').replaceAll("'", "''")}]'`;
      statements.push(
        `insert into ${name} (${columns}) overriding system value select ${columns}
          from jsonb_populate_recordset(null::${name}, ${literal});`,
      );
    }
  }
  const { rows: sequences } = await pool.query<{ statement: string }>(SELECT_SEQUENCES);
  return [...statements, ...sequences.map(({ statement }) => statement), 'reset session_replication_role;', ''].join(
    '\n',
  );
}
