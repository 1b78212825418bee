/**
 * The result of every query of the cookbook, run as an analyst of an index of the demo network, equals one recomputed from the DAG of the
 * simulated node. docs/cookbook.md shows the results, which are in cookbook/generated/results.json; `npm run generate:cookbook` writes both.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Analyst, openAnalyst, type Response, type Text } from './analyst.ts';
import { type DemoIndex, openDemoIndex } from './demo-network.ts';
import { type Cell, demoModel, EXPECTED } from './expected.ts';
import { readHistory } from './history.ts';
import { readRequests } from './requests.ts';

const requests = readRequests();
const FILE = '../../cookbook/generated/results.json';

let index: DemoIndex;
let analyst: Analyst;
let model: ReturnType<typeof demoModel>;
const responses: Record<string, Response> = {};

beforeAll(async () => {
  index = await openDemoIndex();
  analyst = await openAnalyst(index.database);
  model = demoModel(readHistory(index.node), index.tags);
});
afterAll(async () => {
  await analyst?.close();
  await index?.close();
});

test('it has expected results for each of the thirty requests', () => {
  expect(requests).toHaveLength(30);
  expect(requests.map(({ name }) => name)).toEqual(Object.keys(EXPECTED));
});

describe.each(requests)('$name', ({ name, title, explanation, sql }) => {
  test('it has a title and an explanation', () => {
    expect(title).toMatch(/^[A-Z].*\?$/);
    expect(explanation.length).toBeGreaterThan(100);
  });

  test('it is one statement', () => {
    expect(sql.match(/;/g)).toEqual([';']);
    expect(sql).toMatch(/;$/);
  });

  test('it returns the expected results', async () => {
    const { columns, rows } = await analyst.ask(sql);
    const expected = EXPECTED[name]?.(model) ?? [];
    expect(expected).not.toEqual([]);
    expect(rows.map((row, line) => row.map((text, column) => matched(text, expected[line]?.[column])))).toEqual(
      expected,
    );
    // Cells that differ in every run are omitted.
    const stableRows = rows.map((row, line) =>
      row.map((text, column) => (expected[line]?.[column] === undefined ? '…' : text)),
    );
    responses[name] = { columns, rows: stableRows };
  });
});

/** Returns the expected cell if the text equals it up to its last decimal, otherwise the text, so that a failure shows the difference. */
function matched(text: Text, cell: Cell): Cell {
  if (cell === undefined) return cell;
  if (text === null || cell === null) return text;
  if (cell instanceof Date) return Date.parse(text) === cell.getTime() ? cell : text;
  if (typeof cell === 'bigint') return text === String(cell) ? cell : text;
  if (typeof cell === 'number') return Math.abs(Number(text) - cell) <= tolerance(text, cell) ? cell : text;
  return text;
}

/** Returns half of the last decimal plus the error of a double. */
function tolerance(text: string, cell: number): number {
  const decimals = text.split('.')[1]?.length ?? 0;
  return 0.500001 * 10 ** -decimals + 1e-12 * Math.abs(cell);
}

test('it returns the committed results', async () => {
  await expect(`${JSON.stringify(responses, undefined, 1)}\n`).toMatchFileSnapshot(FILE);
});
