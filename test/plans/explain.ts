/** The plans of queries with the pages that they read, and the text in which they are pinned. */
import type { Pool, PoolClient } from 'pg';
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

/** Returns the tables that the query would read completely, without running it. */
export async function findFullReads(pool: Pool, query: RecordedQuery): Promise<string[]> {
  return fullReadsOf(await planOf(pool, 'format json', query));
}

/** Runs the query again, with its parameters, as an unnamed statement, which is planned for these values. */
export async function explain(pool: Pool | PoolClient, query: RecordedQuery): Promise<Plan> {
  const root = await planOf(pool, 'analyze, buffers, timing off, format json', query);
  const buffers = root['Shared Hit Blocks'] + root['Shared Read Blocks'];
  return { lines: describeTree(root), fullReads: fullReadsOf(root), buffers };
}

async function planOf(pool: Pool | PoolClient, options: string, { text, values }: RecordedQuery): Promise<PlanNode> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (${options}) ${text}`, values);
  if (rows[0] === undefined) throw new Error(`no plan for ${text}`);
  return rows[0]['QUERY PLAN'][0].Plan;
}

/** Cache nodes depend on estimates, which vary with each sample that Postgres takes of a table. */
const CACHES = new Set(['Materialize', 'Memoize']);

function describeTree(node: PlanNode, depth = 0): string[] {
  const isCache = CACHES.has(node['Node Type']);
  const below = (node.Plans ?? []).flatMap((child) => describeTree(child, isCache ? depth : depth + 1));
  return isCache ? below : ['  '.repeat(depth) + describe(node), ...below];
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

export interface PlannedQuery {
  request: string;
  query: RecordedQuery;
  plan: Plan;
}

const MAX_STATEMENT_LENGTH = 240;

/** Returns all plans as one text, a section per statement, so that a changed plan is a line in a diff. It is committed as pinned-plans.txt. */
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
  return `${sections.join('\n\n')}\n`;
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
