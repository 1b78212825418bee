/** The Grafana dashboard over SQL, and its queries as the PostgreSQL data source of Grafana expands them. */
import { readFileSync } from 'node:fs';

export interface SqlTarget {
  refId: string;
  datasource: unknown;
  rawQuery: boolean;
  format: 'table' | 'time_series';
  rawSql: string;
}

export interface SqlPanel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: unknown;
  targets?: SqlTarget[];
  panels?: SqlPanel[];
}

export interface SqlDashboard {
  templating: { list: { name: string; type: string; query: string; datasource?: unknown }[] };
  panels: SqlPanel[];
}

export const sqlDashboard = JSON.parse(
  readFileSync(new URL('../../ops/grafana/kasgres-network.json', import.meta.url), 'utf8'),
) as SqlDashboard;

export interface Shown {
  from: Date;
  to: Date;
  variables: Record<string, string>;
}

/**
 * Variables first, then macros, as https://grafana.com/docs/grafana/latest/datasources/postgres/ documents them.
 * Throws if a variable or macro remains
 */
export function expand(rawSql: string, { from, to, variables }: Shown): string {
  const sql = rawSql
    .replaceAll(/\$\{(\w+)(?::(\w+))?\}/g, (text, name: string, format: string | undefined) => {
      const value = variables[name];
      if (value === undefined) return text;
      return format === 'sqlstring' ? `'${value.replaceAll("'", "''")}'` : value;
    })
    .replaceAll(/\$__timeFilter\(([^()]+)\)/g, `$1 BETWEEN '${from.toISOString()}' AND '${to.toISOString()}'`);
  const [left] = /\$[{\w]+/.exec(sql) ?? [];
  if (left !== undefined) throw new Error(`${left} is unknown to Grafana: ${rawSql}`);
  return sql;
}
