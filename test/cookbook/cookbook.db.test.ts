/**
 * The result of every query of the cookbook, run as an analyst of an index of the demo network, equals one recomputed from the DAG of the
 * simulated node. docs/cookbook.md shows the results, which are in cookbook/generated/results.json; `npm run generate:cookbook` writes both.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Analyst, openAnalyst, type Response } from './analyst.ts';
import { ANYTHING, type Cell, expectResponse } from './cells.ts';
import { type DemoIndex, openDemoIndex } from './demo-network.ts';
import { Names } from './names.ts';
import * as ofAddresses from './expected/addresses.ts';
import * as ofNetwork from './expected/network.ts';
import { readRequests } from './requests.ts';
import { readHistory, type History } from './history.ts';

const requests = readRequests();
/** Computes the expected result of a query. Each is named like the file of its query: `networkByDay` for `01-network-by-day`. */
const oracles: Record<string, (history: History, names: Names) => Cell[][]> = { ...ofNetwork, ...ofAddresses };
const oracleName = (request: string): string =>
  request.replace(/^\d+-/, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const FILE = '../../cookbook/generated/results.json';

let index: DemoIndex;
let analyst: Analyst;
let history: History;
let names: Names;
const responses: Record<string, Response> = {};

beforeAll(async () => {
  index = await openDemoIndex();
  analyst = await openAnalyst(index.database);
  history = readHistory(index.node);
  names = new Names(history, index.tags);
});
afterAll(async () => {
  await analyst?.close();
  await index?.close();
});

test('it has expected results for each of the thirty requests', () => {
  expect(requests).toHaveLength(30);
  expect(requests.map(({ name }) => oracleName(name)).toSorted()).toEqual(Object.keys(oracles).toSorted());
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
    const response = await analyst.ask(sql);
    const expected = oracles[oracleName(name)]?.(history, names) ?? [];
    expect(expected).not.toEqual([]);
    expectResponse(response.rows, expected);
    responses[name] = withoutVarying(response, expected);
  });
});

/** Omits the cells that differ in every run. */
function withoutVarying({ columns, rows }: Response, expected: readonly Cell[][]): Response {
  const kept = rows.map((row, line) => row.map((text, column) => (expected[line]?.[column] === ANYTHING ? '…' : text)));
  return { columns, rows: kept };
}

test('it returns the committed results', async () => {
  await expect(`${JSON.stringify(responses, undefined, 1)}\n`).toMatchFileSnapshot(FILE);
});
