/**
 * Every request of the cookbook, asked as an analyst of an index of the demo network, says what really happened there: its response is
 * worked out again from the DAG of the simulated node. What it says is in cookbook/generated/results.json, which docs/cookbook.md shows:
 * `npm run generate:cookbook` writes both again.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Analyst, openAnalyst } from './analyst.ts';
import { type Response, ask } from './ask.ts';
import { ANYTHING, type Cell, expectResponse } from './cells.ts';
import { type DemoIndex, openDemoIndex } from './demo-index.ts';
import { Names } from './names.ts';
import { expectedResults } from './expected/results.ts';
import { readRequests } from './requests.ts';
import { readHistory, type History } from './history.ts';

const requests = readRequests();
const FILE = '../../cookbook/generated/results.json';

let index: DemoIndex;
let analyst: Analyst;
let history: History;
let names: Names;
const responses: Record<string, Response> = {};

beforeAll(async () => {
  index = await openDemoIndex();
  analyst = await openAnalyst(index.database);
  history = readHistory(index.network.node);
  names = new Names(history, index.network.tags);
});
afterAll(async () => {
  await analyst?.close();
  await index?.close();
});

test('it has expected results for each of the thirty requests', () => {
  expect(requests).toHaveLength(30);
  expect(requests.map(({ name }) => name)).toEqual(Object.keys(expectedResults));
});

describe.each(requests)('$name', ({ name, title, explanation, sql }) => {
  test('it has a title and an explanation', () => {
    expect(title).toMatch(/^[A-Z].*\?$/);
    expect(explanation.length).toBeGreaterThan(100);
  });

  test('is one statement', () => {
    expect(sql.match(/;/g)).toEqual([';']);
    expect(sql).toMatch(/;$/);
  });

  test('it returns the expected results', async () => {
    const response = await ask(analyst.client, sql);
    const expected = expectedResults[name]?.(history, names) ?? [];
    expect(expected).not.toEqual([]);
    expectResponse(response.rows, expected);
    responses[name] = withoutPassing(response, expected);
  });
});

/** The same without what the next run would say otherwise. */
function withoutPassing({ columns, rows }: Response, expected: readonly Cell[][]): Response {
  const kept = rows.map((row, line) => row.map((text, column) => (expected[line]?.[column] === ANYTHING ? '…' : text)));
  return { columns, rows: kept };
}

test('it returns the committed results', async () => {
  await expect(`${JSON.stringify(responses, undefined, 1)}\n`).toMatchFileSnapshot(FILE);
});
