/** Plans of queries as Postgres explains them, and as text that is the same on every machine. */
import { escapeLiteral, Pool, type PoolClient } from 'pg';
import type { RecordedQuery } from './harness.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Join Type'?: string;
  'Scan Direction'?: string;
  'Parent Relationship'?: string;
  'Subplan Name'?: string;
  'CTE Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

export interface Plan {
  /** The tree, one line per step, without parameters and sizes. */
  lines: string[];
  /** Tables that are read completely, or through a whole index. */
  fullReads: string[];
  /** Pages of 8 KiB, cached or not. */
  buffers: number;
}

/** Everything else in the schema grows with the chain, with UTXOs, with tags or with users. */
export const SMALL_TABLES = new Set([
  'balance_tiers',
  'checkpoint',
  'clustering',
  // Outputs that more than four transactions claim to spend: none on an honest chain.
  'contested_outputs',
  'deferred_indexes',
  'pre_bootstrap_blocks',
  'gaps',
  'meta',
  'bootstrap_blocks',
  'subnetworks',
  'tag_sources',
  'template_sources',
  'unmerged_touches',
  'utxo_set_load',
]);

/** Returns the tables that the query would read completely, without running it. */
export async function findFullReads(pool: Pool, query: RecordedQuery): Promise<string[]> {
  return fullReadsOf(await planOf(pool, 'format json', query));
}

/**
 * Runs the query again: a prepared statement with its plan for any parameters, others as planned
 * for these.
 */
export async function explain(pool: Pool | PoolClient, query: RecordedQuery): Promise<Plan> {
  const run = () => planOf(pool, 'analyze, buffers, timing off, format json', query);
  // A function reads the catalog when it first runs in a session, and again after much DDL in any
  // database of the server, which empties the caches of all sessions.
  const roots = [await run(), await run()] as const;
  const buffers = Math.min(...roots.map((root) => root['Shared Hit Blocks'] + root['Shared Read Blocks']));
  return { lines: describeTree(roots[1]), fullReads: fullReadsOf(roots[1]), buffers };
}

async function planOf(pool: Pool | PoolClient, options: string, query: RecordedQuery): Promise<PlanNode> {
  if (!(pool instanceof Pool)) return planWithin(pool, options, query);
  const client = await pool.connect();
  try {
    return await planWithin(client, options, query);
  } finally {
    client.release();
  }
}

async function planWithin(
  client: PoolClient,
  options: string,
  { name, text, values }: RecordedQuery,
): Promise<PlanNode> {
  const explainWith = async (query: string, parameters: unknown[]): Promise<PlanNode> => {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (${options}) ${query}`,
      parameters,
    );
    if (rows[0] === undefined) throw new Error(`no plan for ${text}`);
    return rows[0]['QUERY PLAN'][0].Plan;
  };
  if (name === undefined) {
    await client.query('set plan_cache_mode = force_custom_plan');
    return explainWith(text, values);
  }
  await client.query(`set plan_cache_mode = force_generic_plan; prepare explained as ${text}`);
  try {
    return await explainWith(
      `execute explained${values.length === 0 ? '' : `(${values.map(toLiteral).join(', ')})`}`,
      [],
    );
  } finally {
    await client.query('deallocate explained');
  }
}

/** Texts without a type are of the type of their parameter. */
function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return escapeLiteral(
    Array.isArray(value)
      ? `{${value.map((item) => `"${toText(item).replaceAll('\\', '\\\\')}"`).join()}}`
      : toText(value),
  );
}

const toText = (value: unknown): string =>
  value instanceof Uint8Array
    ? `\\x${Buffer.from(value).toString('hex')}`
    : `${value as string | number | bigint | boolean}`;

const INDENT = '  ';
/** Cache nodes depend on estimates, which vary with each sample that Postgres takes of a table. */
const CACHES = new Set(['Materialize', 'Memoize']);

const APPENDS = new Set(['Append', 'Merge Append']);

/** Describes equal scans of partitions once, in the place of what appends them. */
function describeTree(node: PlanNode, depth = 0): string[] {
  const children = (node.Plans ?? []).map((child) => describeTree(child, depth + 1));
  const distinct = APPENDS.has(node['Node Type'])
    ? [...new Map(children.map((child) => [child.join('\n'), child])).values()]
    : children;
  const isLeftOut = CACHES.has(node['Node Type']) || distinct.length < Math.min(children.length, 2);
  if (!isLeftOut) return [INDENT.repeat(depth) + describeNode(node), ...distinct.flat()];
  const [first = '', ...others] = distinct.flat().map((line) => line.slice(INDENT.length));
  const label = labelOf(node) ?? '';
  return [`${INDENT.repeat(depth)}${label === '' ? '' : `${label} `}${first.trimStart()}`, ...others];
}

/** An index may be read without a condition only below a limit. */
function fullReadsOf(node: PlanNode, isLimited = false): string[] {
  const isFull =
    node['Node Type'] === 'Seq Scan' ||
    (node['Index Name'] !== undefined && node['Index Cond'] === undefined && !isLimited);
  const limited = isLimited || node['Node Type'] === 'Limit';
  const below = (node.Plans ?? []).flatMap((child) => fullReadsOf(child, limited));
  return isFull ? [node['Relation Name'] ?? node['Index Name'] ?? '', ...below] : below;
}

const labelOf = ({ 'Subplan Name': name }: PlanNode): string | undefined => name && `${name}:`;

function describeNode(node: PlanNode): string {
  const parts = [
    labelOf(node),
    node['Join Type'] && node['Join Type'] !== 'Inner' && node['Join Type'],
    node['Node Type'],
    node['Scan Direction'] === 'Backward' && 'Backward',
    node['Index Name'] && `using ${withoutPartition(node['Index Name'])}`,
    node['Relation Name'] && node['Node Type'] !== 'Index Only Scan' && `on ${withoutPartition(node['Relation Name'])}`,
    node['CTE Name'] && `on ${node['CTE Name']}`,
    node['Index Cond'] && withoutValues(node['Index Cond']),
  ];
  return parts.filter((part) => typeof part === 'string').join(' ');
}

const withoutPartition = (name: string): string => name.replace(/_\d(?=_|$)/, '');

/**
 * `(id = ANY ('{1,2}'::bigint[]))` as `(id = ANY (?))`, and `t_1.id`, whose number depends on that
 * of partitions, as `t.id`.
 */
function withoutValues(condition: string): string {
  return condition
    .replaceAll(/'(?:[^']|'')*'/g, '?')
    .replaceAll(/_\d+\./g, '.')
    .replaceAll(/::[a-z]+(?: [a-z]+)*(?:\[\])?/g, '')
    .replaceAll(/(?<![\w$.])-?\d+(?![\w.])/g, '?');
}

export interface PlannedQuery {
  request: string;
  query: RecordedQuery;
  plan: Plan;
}

const MAX_STATEMENT_LENGTH = 240;

/**
 * Returns all plans as one text, a section per statement in alphabetical order, so that a changed
 * plan is a line in a diff. It is committed as pinned-plans.txt.
 */
export function toPinnedText(planned: readonly PlannedQuery[]): string {
  const sections = [...Map.groupBy(planned, ({ query }) => shorten(query.text))].map(([statement, queries]) => {
    const plans = [...Map.groupBy(queries, ({ plan }) => plan.lines.join('\n'))];
    const commonestFirst = plans.toSorted(([, a], [, b]) => b.length - a.length);
    const described = commonestFirst.map(([plan, ofPlan], index) => {
      const requests = new Set(ofPlan.map(({ request }) => request));
      return index === 0 ? plan : `for ${[...requests].join('; ')}:\n${plan}`;
    });
    return [statement, ...described.map(indent)].join('\n\n');
  });
  return `${sections.toSorted().join('\n\n')}\n`;
}

const indent = (text: string): string => text.replaceAll(/^/gm, '    ');

/** Returns the statement on one line without its select list: tables and conditions identify it. */
function shorten(statement: string): string {
  const line = statement.trim().replaceAll(/\s+/g, ' ').replaceAll('"', '');
  const withoutColumns = line.replace(/^select .*? from (?![^()]*\)[) ])/, 'select … from ');
  return withoutColumns.length <= MAX_STATEMENT_LENGTH
    ? withoutColumns
    : `${withoutColumns.slice(0, MAX_STATEMENT_LENGTH - 1)}…`;
}
