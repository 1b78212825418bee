/** docs/schema.md: the data dictionary, from the comments that the database itself holds. */
import type { Connection } from '@kasgres/database';

type Pool = Connection['pool'];

interface Relation {
  oid: number;
  name: string;
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

const INTRODUCTION = `# Schema

Generated from the comments in the database by \`npm run generate\`; the source is \`migrations/\`. Hashes, ids and scripts are
raw bytes, amounts are sompi (1 KAS = 100,000,000 sompi), times are Unix milliseconds.
`;

/** Tables in the order in which the migrations make them. */
export async function describeSchema(pool: Pool): Promise<string> {
  const relations = await pool.query<Relation>(`
    select oid::int, relname as name, obj_description(oid, 'pg_class') as comment
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') order by oid`);
  const sections = [INTRODUCTION];
  for (const relation of relations.rows) sections.push(await describeRelation(pool, relation));
  sections.push(await describeTypes(pool));
  return sections.join('\n');
}

async function describeRelation(pool: Pool, { oid, name, comment }: Relation): Promise<string> {
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
    `## ${name}`,
    '',
    comment ?? '',
    '',
    '| Column | Type | Meaning |',
    '|---|---|---|',
    ...columns.rows.map((column) => {
      const type = column.nullable ? `${column.type}, null` : column.type;
      return `| \`${column.name}\` | ${type} | ${escapeCell(column.comment ?? '')} |`;
    }),
    '',
    ...(indexes.rows.length > 0 ? ['Indexes:', ...indexes.rows.map(describeIndex), ''] : []),
  ].join('\n');
}

/** `create [unique] index NAME on TABLE using METHOD (COLUMNS) …` without what the section says already. */
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
