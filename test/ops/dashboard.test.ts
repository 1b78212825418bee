/**
 * The dashboards as Grafana reads them, as far as that can be said without one: what they ask is
 * tried in monitoring.db.test.ts, and in network-dashboard.db.test.ts.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface Target {
  refId: string;
  datasource: unknown;
}
interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: unknown;
  targets?: Target[];
  panels?: Panel[];
}
interface Dashboard {
  uid: string;
  schemaVersion: number;
  title: string;
  templating: { list: { name: string; type: string; query: string; datasource?: unknown }[] };
  panels: Panel[];
}

const GRID_COLUMNS = 24;
const read = (name: string): Dashboard =>
  JSON.parse(readFileSync(new URL(`../../ops/grafana/${name}`, import.meta.url), 'utf8')) as Dashboard;

/** The query of each, and the kinds of panels that it has: every Grafana has them. */
const dashboards = [
  { name: 'kasgres.json', source: 'prometheus', kinds: ['stat', 'timeseries'] },
  { name: 'kasgres-network.json', source: 'grafana-postgresql-datasource', kinds: ['stat', 'table', 'timeseries'] },
];

test('it has distinct ids for all dashboards of one Grafana', () => {
  const all = dashboards.map(({ name }) => read(name));
  expect(new Set(all.map(({ uid }) => uid)).size).toBe(dashboards.length);
  expect(new Set(all.map(({ title }) => title)).size).toBe(dashboards.length);
});

describe.each(dashboards)('$name', ({ name, source, kinds }) => {
  const dashboard = read(name);
  const { panels } = dashboard;
  const rows = panels.filter(({ type }) => type === 'row');
  const charts = panels.filter(({ type }) => type !== 'row');

  test('it asks for the data source at import and uses it in every panel, query and variable', () => {
    const [first, ...others] = dashboard.templating.list;
    expect(first).toMatchObject({ name: 'datasource', type: 'datasource', query: source });
    const chosen = { type: source, uid: '${datasource}' };
    for (const { title, datasource, targets = [] } of charts) {
      expect(targets, title).not.toEqual([]);
      for (const asked of [datasource, ...targets.map((target) => target.datasource)])
        expect(asked, title).toEqual(chosen);
    }
    for (const variable of others.filter(({ type }) => type === 'query')) expect(variable.datasource).toEqual(chosen);
  });

  test('it has unique panel ids and query letters', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, targets = [] } of charts) {
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    }
  });

  test('it uses built-in kinds of panels with descriptions', () => {
    expect([...new Set(charts.map(({ type }) => type))].toSorted()).toEqual(kinds);
    expect(charts.filter(({ description = '' }) => description === '').map(({ title }) => title)).toEqual([]);
  });

  test('it places panels on the grid without overlap', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      const { x, y, w, h } = gridPos;
      expect(x + w, title).toBeLessThanOrEqual(GRID_COLUMNS);
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          const place = `${column},${line}`;
          expect(taken.get(place), `under ${title}`).toBeUndefined();
          taken.set(place, title);
        }
      }
    }
  });

  test('it lists panels in reading order in open rows', () => {
    const lines = panels.map(({ gridPos }) => gridPos.y);
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
    // Those of a closed row would be inside it.
    expect(rows.flatMap((row) => row.panels ?? [])).toEqual([]);
  });
});
