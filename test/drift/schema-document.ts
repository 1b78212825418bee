/** Generates docs/schema.md, the data dictionary, from the comments in the database. */
import type { Connection } from '@kasgres/database';
import { drawRelations } from './schema-picture.ts';

type Pool = Connection['pool'];

interface Relation {
  oid: number;
  name: string;
  is_view: boolean;
  comment: string | null;
}

interface Column {
  name: string;
  type: string;
  nullable: boolean;
  comment: string | null;
}

interface Index {
  name: string;
  definition: string;
}

interface EnumType {
  name: string;
  labels: string[];
  comment: string | null;
}

interface SqlFunction {
  signature: string;
  result: string;
  comment: string | null;
}

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

/** In the order of creation by the migrations. */
async function describeRelations(pool: Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query<Relation>(
    `select oid::int, relname as name, relkind = 'v' as is_view, obj_description(oid, 'pg_class') as comment
       from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p', 'v', 'm') order by oid`,
    [schema],
  );
  const sections: string[] = [];
  for (const relation of rows) sections.push(await describeRelation(pool, relation));
  return sections;
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
  const { rows } = await pool.query<SqlFunction>(
    `select format('%s(%s)', proname, pg_get_function_arguments(oid)) as signature, pg_get_function_result(oid) as result,
       obj_description(oid, 'pg_proc') as comment
     from pg_proc where pronamespace = 'kaspa'::regnamespace order by proname`,
  );
  return [
    '## Functions',
    '',
    ...rows.map(({ signature, result, comment }) => `- \`${signature}\`: \`${result}\`. ${comment ?? ''}`),
    '',
  ].join('\n');
}

async function describeRelation(pool: Pool, { oid, name, is_view: isView, comment }: Relation): Promise<string> {
  const columns = await pool.query<Column>(
    `select attname as name, format_type(atttypid, atttypmod) as type, not attnotnull as nullable,
       col_description(attrelid, attnum) as comment
     from pg_attribute where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`,
    [oid],
  );
  const indexes = await pool.query<Index>(
    `select relname as name, pg_get_indexdef(indexrelid) as definition
     from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = $1
     order by indisprimary desc, relname`,
    [oid],
  );
  return [
    `## ${isView ? `kaspa.${name}` : name}`,
    '',
    comment ?? '',
    '',
    '| Column | Type | Meaning |',
    '|---|---|---|',
    ...columns.rows.map((column) => {
      // Postgres reports columns of views as nullable; their comments say when they are null.
      const type = column.nullable && !isView ? `${column.type}, null` : column.type;
      return `| \`${column.name}\` | ${type} | ${escapeCell(column.comment ?? '')} |`;
    }),
    '',
    ...(indexes.rows.length > 0 ? ['Indexes:', ...indexes.rows.map(describeIndex), ''] : []),
  ].join('\n');
}

/** `create [unique] index NAME on TABLE using METHOD (COLUMNS) …`, shortened to the parts that the section does not show yet. */
function describeIndex({ name, definition }: Index): string {
  const [, unique, rest = ''] = /^CREATE (UNIQUE )?INDEX \S+ ON \S+ USING (.*)$/.exec(definition) ?? [];
  const columns = rest.replace(/^btree /, '').replace(/ WHERE (.*)$/, (_, condition: string) => ` where ${condition}`);
  return `- \`${name}\`: ${unique === undefined ? '' : 'unique '}\`${columns}\``;
}

async function describeTypes(pool: Pool): Promise<string> {
  const types = await pool.query<EnumType>(`
    select typname as name, obj_description(pg_type.oid, 'pg_type') as comment,
      array_agg(enumlabel::text order by enumsortorder) as labels
    from pg_type join pg_enum on enumtypid = pg_type.oid group by pg_type.oid order by typname`);
  return [
    '## Types',
    '',
    ...types.rows.map(({ name, labels, comment }) => {
      return `- \`${name}\`: ${labels.map((label) => `\`${label}\``).join(', ')}. ${comment ?? ''}`;
    }),
    '',
  ].join('\n');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
