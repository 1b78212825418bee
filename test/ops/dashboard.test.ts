/** The dashboard as Grafana reads it, as far as that can be said without one: what it asks is tried in monitoring.db.test.ts. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface Target {
  refId: string;
  datasource: unknown;
  expr: string;
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
  templating: { list: { name: string; type: string; query: string }[] };
  panels: Panel[];
}

const GRID_COLUMNS = 24;
const dashboard = JSON.parse(
  readFileSync(new URL('../../ops/grafana/kasgres.json', import.meta.url), 'utf8'),
) as Dashboard;
const { panels } = dashboard;
const rows = panels.filter(({ type }) => type === 'row');
const charts = panels.filter(({ type }) => type !== 'row');

test('whoever imports it chooses the data source, and every panel and query asks that one', () => {
  expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource', query: 'prometheus' }]);
  const chosen = { type: 'prometheus', uid: '${datasource}' };
  for (const { title, datasource, targets = [] } of charts) {
    expect(targets, title).not.toEqual([]);
    for (const asked of [datasource, ...targets.map((target) => target.datasource)])
      expect(asked, title).toEqual(chosen);
  }
});

describe('panels', () => {
  test('have ids, and letters for their queries, that are not used twice', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, targets = [] } of charts) {
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    }
  });

  test('are of kinds that every Grafana has, and say what they show', () => {
    expect(new Set(charts.map(({ type }) => type))).toEqual(new Set(['stat', 'timeseries']));
    expect(charts.filter(({ description = '' }) => description === '').map(({ title }) => title)).toEqual([]);
  });

  test('lie on the grid, none over another', () => {
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

  test('come in the order in which they lie, in rows that are open', () => {
    const lines = panels.map(({ gridPos }) => gridPos.y);
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
    // Those of a closed row would be inside it.
    expect(rows.flatMap((row) => row.panels ?? [])).toEqual([]);
  });
});
