/** How Postgres runs a query: its plan, with what each step really touched. */
import type { Pool, PoolClient } from 'pg';
import type { RecordedQuery } from './recorded-queries.ts';

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
  /** The tree, a line for each step, without anything that depends on parameters or on the size of the tables. */
  lines: string[];
  /** Tables that are read from end to end, or by a whole index of theirs. */
  fullReads: string[];
  /** Pages of 8 KiB that were looked at, whether they were in memory or not. */
  buffers: number;
}

/** The tables that would be read from end to end, without running the query. */
export async function findFullReads(pool: Pool, { text, values }: RecordedQuery): Promise<string[]> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (format json) ${text}`, values);
  const root = rows[0]?.['QUERY PLAN'][0].Plan;
  return root === undefined ? [] : fullReadsOf(root);
}

/** Runs the query again, with its parameters, as an unnamed statement, which is planned for these values. */
export async function explain(pool: Pool | PoolClient, { text, values }: RecordedQuery): Promise<Plan> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    values,
  );
  const root = rows[0]?.['QUERY PLAN'][0].Plan;
  if (root === undefined) throw new Error(`no plan for ${text}`);
  return {
    lines: describeTree(root),
    fullReads: fullReadsOf(root),
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
  };
}

/** Caches of what is below: whether they pay is a matter of guesses that differ with each sample that Postgres takes of a table. */
const CACHES = new Set(['Materialize', 'Memoize']);

function describeTree(node: PlanNode, depth = 0): string[] {
  const isCache = CACHES.has(node['Node Type']);
  const below = (node.Plans ?? []).flatMap((child) => describeTree(child, isCache ? depth : depth + 1));
  return isCache ? below : ['  '.repeat(depth) + describe(node), ...below];
}

/** An index may be read without a condition only as far as a limit lets it. */
function fullReadsOf(node: PlanNode, isLimited = false): string[] {
  const isFull =
    node['Node Type'] === 'Seq Scan' ||
    (node['Index Name'] !== undefined && node['Index Cond'] === undefined && !isLimited);
  const limited = isLimited || node['Node Type'] === 'Limit';
  const below = (node.Plans ?? []).flatMap((child) => fullReadsOf(child, limited));
  return isFull ? [node['Relation Name'] ?? node['Index Name'] ?? '', ...below] : below;
}

function describe(node: PlanNode): string {
  const parts = [
    node['Subplan Name'] && `${node['Subplan Name']}:`,
    node['Join Type'] && node['Join Type'] !== 'Inner' && node['Join Type'],
    node['Node Type'],
    node['Scan Direction'] === 'Backward' && 'Backward',
    node['Index Name'] && `using ${node['Index Name']}`,
    node['Relation Name'] && node['Node Type'] !== 'Index Only Scan' && `on ${node['Relation Name']}`,
    node['CTE Name'] && `on ${node['CTE Name']}`,
    node['Index Cond'] && withoutValues(node['Index Cond']),
  ];
  return parts.filter((part) => typeof part === 'string').join(' ');
}

/** `(id = ANY ('{1,2}'::bigint[]))` as `(id = ANY (?))`. */
function withoutValues(condition: string): string {
  return condition
    .replaceAll(/'(?:[^']|'')*'/g, '?')
    .replaceAll(/::[a-z]+(?: [a-z]+)*(?:\[\])?/g, '')
    .replaceAll(/(?<![\w$.])-?\d+(?![\w.])/g, '?');
}
