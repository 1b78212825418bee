/** Generates docs/schema.md, the data dictionary, from the comments in the database. */
import type { Connection } from '@kasgres/database';
import { drawRelations } from './schema-picture.ts';

type Pool = Connection['pool'];

const INTRODUCTION = `# Schema

This page is generated from the comments in \`migrations/\` by \`npm run generate\`. [The views](#views-for-analysts) of schema
\`kaspa\` are the public contract. [The tables](#tables) below them are private and may change with any version.
`;

const VIEWS = `# Views for analysts

[sql.md](sql.md) explains how to connect, what the contract promises, and which filters are fast. Hashes and ids are lower-case
hex, amounts are in sompi and in KAS (1 KAS = 100,000,000 sompi), times are \`timestamptz\`.
`;

const TABLES = `# Tables

Schema \`public\`. Hashes, ids and scripts are raw bytes, amounts are sompi, times are Unix milliseconds.
`;

export async function describeSchema(pool: Pool): Promise<string> {
  return [
    INTRODUCTION,
    VIEWS,
    await drawViews(pool),
    '',
    await describeFunctions(pool),
    ...(await describeRelations(pool, 'kaspa')),
    TABLES,
    ...(await describeRelations(pool, 'public')),
    await describeTypes(pool),
  ].join('\n');
}

async function drawViews(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ column: string; type: string }>(
    `select format('%s.%s', relname, attname) as column, format_type(atttypid, atttypmod) as type
       from pg_class join pg_attribute on attrelid = pg_class.oid
      where relnamespace = 'kaspa'::regnamespace and attnum > 0 and not attisdropped`,
  );
  return drawRelations(new Map(rows.map(({ column, type }) => [column, type])));
}

async function describeFunctions(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ line: string }>(
    `select format('- \`%s(%s)\`: \`%s\`. %s', proname, pg_get_function_arguments(oid), pg_get_function_result(oid),
       obj_description(oid, 'pg_proc')) as line
     from pg_proc where pronamespace = 'kaspa'::regnamespace order by proname`,
  );
  return ['## Functions', '', ...rows.map(({ line }) => line), ''].join('\n');
}

/**
 * Views and tables come in the order of their creation. Postgres reports columns of views as
 * nullable; their comments say when they are null.
 */
async function describeRelations(pool: Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; comment: string; columns: string[]; indexes: string[] }>(
    `select case $1 when 'public' then ''
      else $1 || '.' end || relname as name, obj_description(oid, 'pg_class') as comment,
       array(
         select format('| \`%s\` | %s%s | %s |', attname, format_type(atttypid, atttypmod),
           case when not attnotnull and relkind <> 'v'
             then ', null' end, replace(col_description(oid, attnum), '|', '\\|'))
         from pg_attribute where attrelid = oid and attnum > 0 and not attisdropped
           order by attnum) as columns,
       array(
         select pg_get_indexdef(indexrelid)
         from pg_index join pg_class i on i.oid = indexrelid where indrelid = pg_class.oid
           order by indisprimary desc, i.relname) as indexes
     from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p', 'v', 'm')
       and not relispartition order by oid`,
    [schema],
  );
  return rows.map(({ name, comment, columns, indexes }) =>
    [
      `## ${name}`,
      '',
      comment,
      '',
      '| Column | Type | Meaning |',
      '|---|---|---|',
      ...columns,
      '',
      ...(indexes.length > 0 ? ['Indexes:', ...indexes.map(describeIndex), ''] : []),
    ].join('\n'),
  );
}

/**
 * `CREATE [UNIQUE] INDEX name ON table USING method (columns) …`, shortened to the parts that the
 * section does not show yet.
 */
function describeIndex(definition: string): string {
  const [, unique, name, rest = ''] =
    /^CREATE (UNIQUE )?INDEX (\S+) ON (?:ONLY )?\S+ USING (.*)$/.exec(definition) ?? [];
  const columns = rest.replace(/^btree /, '').replace(/ WHERE (.*)$/, (_, condition: string) => ` where ${condition}`);
  return `- \`${name}\`: ${unique === undefined ? '' : 'unique '}\`${columns}\``;
}

async function describeTypes(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ line: string }>(
    `select format('- \`%s\`: %s. %s', typname, string_agg(format('\`%s\`', enumlabel), ', ' order by enumsortorder),
       obj_description(pg_type.oid, 'pg_type')) as line
     from pg_type join pg_enum on enumtypid = pg_type.oid group by pg_type.oid order by typname`,
  );
  return ['## Types', '', ...rows.map(({ line }) => line), ''].join('\n');
}
