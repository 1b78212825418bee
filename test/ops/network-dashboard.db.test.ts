/**
 * The Grafana dashboard over SQL on an index of the demo network: each of its queries runs as an
 * analyst and returns rows in the form that its panel needs.
 */
import { readFileSync } from 'node:fs';
import { types } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Analyst, openAnalyst } from '../cookbook/analyst.ts';
import { type DemoIndex, openDemoIndex } from '../cookbook/demo-network.ts';

interface SqlTarget {
  refId: string;
  datasource: unknown;
  rawQuery: boolean;
  format: 'table' | 'time_series';
  rawSql: string;
}

interface SqlPanel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: unknown;
  targets?: SqlTarget[];
  panels?: SqlPanel[];
}

interface SqlDashboard {
  templating: { list: { name: string; type: string; query: string; datasource?: unknown }[] };
  panels: SqlPanel[];
}

const sqlDashboard = JSON.parse(
  readFileSync(new URL('../../ops/grafana/kasgres-network.json', import.meta.url), 'utf8'),
) as SqlDashboard;

interface Shown {
  from: Date;
  to: Date;
  variables: Record<string, string>;
}

/**
 * Expands variables, then macros, as the PostgreSQL data source of Grafana does:
 * https://grafana.com/docs/grafana/latest/datasources/postgres/. @throws if a variable or macro
 * remains
 */
function expand(rawSql: string, { from, to, variables }: Shown): string {
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

const { panels, templating } = sqlDashboard;
const queries = panels.flatMap(({ title, type, targets = [] }) =>
  targets.map(({ refId, format, rawQuery, rawSql }) => ({ title, type, refId, format, rawQuery, rawSql })),
);
const intervals = templating.list.find(({ name }) => name === 'interval')?.query.split(',') ?? [];

let index: DemoIndex;
let analyst: Analyst;
let shown: Shown;

beforeAll(async () => {
  index = await openDemoIndex();
  analyst = await openAnalyst(index.database);
  const addresses = templating.list.find(({ name }) => name === 'address')?.query ?? '';
  const { rows } = await analyst.client.query<{ address: string }>(addresses);
  shown = { ...index.span, variables: { interval: 'hours', address: rows[0]?.address ?? '' } };
});
afterAll(async () => {
  await analyst?.close();
  await index?.close();
});

test('it offers the intervals that exist as views', () => {
  expect(intervals).toEqual(['minutes', 'hours', 'days']);
});

describe.each(queries)('$title', ({ type, format, rawQuery, rawSql }) => {
  test('it is raw SQL with a table or a time series as result', () => {
    expect(rawQuery).toBe(true);
    expect(format).toBe(type === 'timeseries' ? 'time_series' : 'table');
  });

  test.each(rawSql.includes('${interval}') ? intervals : ['hours'])('it returns rows by %s', async (interval) => {
    const sql = expand(rawSql, { ...shown, variables: { ...shown.variables, interval } });
    const { rows, fields } = await analyst.client.query<Record<string, unknown>>(sql);
    expect(rows).not.toEqual([]);
    if (format !== 'time_series') return;
    const [time, ...values] = fields;
    expect(time).toMatchObject({ name: 'time', dataTypeID: types.builtins.TIMESTAMPTZ });
    const times = rows.map((row) => Number(row['time']));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const { name } of values)
      expect(
        rows.some((row) => Number(row[name]) > 0),
        name,
      ).toBe(true);
  });
});

test('it shows only the chosen time range', async () => {
  const wholeDay = { ...shown, to: new Date(shown.from.getTime() + 86_400_000) };
  for (const { title, rawSql } of queries.filter((query) => query.rawSql.includes('$__timeFilter'))) {
    const all = await analyst.client.query(expand(rawSql, shown));
    const part = await analyst.client.query(expand(rawSql, wholeDay));
    expect(part.rowCount, title).toBeGreaterThan(0);
    if ((all.rowCount ?? 0) < LIMIT) expect(part.rowCount, title).toBeLessThan(all.rowCount ?? 0);
  }
});

/** The largest number of rows of tables. */
const LIMIT = 50;
