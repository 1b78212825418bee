/**
 * Examples that somebody executes on /docs as they stand find something: the document of the page
 * has examples from the very index that serves it. The committed document stays as it is.
 */
import { readFile } from 'node:fs/promises';
import { upsertTags } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from '../support/programs.ts';
import { mineRewards, payInLane } from '../support/lane-payments.ts';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';
import { cluster } from '../simulation/clusters-harness.ts';
import type { ApiResponse } from '../support/openapi.ts';
import { openHarness, type Harness } from './harness.ts';

interface Operation {
  operationId: string;
  parameters?: { name?: string; in?: string; required?: boolean; example?: unknown }[];
  requestBody?: { content: { 'application/json': { example?: object } } };
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** They cannot be carried out, and the node says why. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  // That of the committed document, which spends what is not on this chain, and is on top of blocks
  // that are not.
  getTransactionMass: /neither the transaction/,
  submitTransaction: /orphan|missing|not found|spent/i,
  submitBlock: /./,
  // kaspad has no such call.
  getSubnetwork: /not implemented|not supported/i,
  // The simulated node has no such call.
  getSeqCommitLaneProof: /not implemented/i,
};

const STATUS_SAMPLE = `import { createClient } from '@kasgres/client';

const client = createClient({ baseUrl: 'http://127.0.0.1:3000', apiKey: 'kdp_…' });

const response = await client.get('/v1/status');
`;

let harness: Harness;

beforeAll(async () => {
  // Another chain than that of the committed examples, long enough for a hash rate.
  harness = await openHarness({
    seed: 'docs',
    simulation: { applicationRate: APPLICATION_RATE },
    mine: (dag) => {
      mineRewards(dag, 1);
      payInLane(dag, 5);
      dag.mine(1050);
    },
  });
  await harness.indexer.stop();
  harness.simulatedDag.pay(3);
  await cluster(harness.database, { depth: 100n });
  const { rows } = await harness.database.pool.query<{ address: string }>(
    'select address from scripts where address is not null order by id desc limit 1',
  );
  const address = rows[0]?.address ?? '';
  await upsertTags(harness.database.pool, [{ address, name: 'Somebody', link: '', labels: ['exchange'] }]);
});
afterAll(() => harness.close());

async function getDocument(path: string, url = harness.api.url): Promise<Document> {
  return (await (await fetch(`${url}${path}`)).json()) as Document;
}

/** Examples of parameters are strings, numbers and booleans. */
const asText = (example: unknown): string => (typeof example === 'string' ? example : JSON.stringify(example));

/** As the page does it when Send is pressed: every parameter and body is what its example says. */
async function execute(path: string, method: string, operation: Operation): Promise<ApiResponse> {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name = '', in: where, required, example } of operation.parameters ?? []) {
    if (where === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(asText(example)));
    else if (where === 'query' && example !== undefined) query.set(name, asText(example));
    else expect(required, `${operation.operationId} ${name}`).not.toBe(true);
  }
  const url = query.size === 0 ? filled : `${filled}?${query.toString()}`;
  const body = operation.requestBody?.content['application/json'].example;
  if (method === 'post') expect(body, operation.operationId).toBeDefined();
  return harness.api.request(url, body && { body });
}

/** Whether there is something in it: of several lists one is enough. */
function hasContent(json: unknown): boolean {
  const values = Object.values(json as Record<string, unknown>);
  const lists = values.filter((value) => Array.isArray(value));
  return lists.length === 0
    ? values.some((value) => value !== null && value !== '')
    : lists.some(({ length }) => length > 0);
}

test('it finds data for every operation with the examples of /docs', async () => {
  const { paths } = await getDocument('/docs/json');
  const wrong: string[] = [];
  let executed = 0;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { operationId } = operation;
      // Streams do not end (stream.db.test.ts), and webhooks are created first
      // (webhooks.db.test.ts).
      if (/stream|websocket|webhook/i.test(operationId)) continue;
      const { status, text, json } = await execute(path, method, operation);
      executed += 1;
      const refusal = REFUSED[operationId];
      const isRight =
        refusal === undefined
          ? status === 200 && (hasContent(json) || /^[\d.]+$/.test(text))
          : status === 400 && refusal.test(text);
      if (!isRight) wrong.push(`${operationId}: ${status} ${text.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(executed).toBeGreaterThan(40);
});

test('it takes the examples of /docs from the index', async () => {
  const { paths } = await getDocument('/docs/json');
  const example = (path: string): unknown => paths[path]?.['get']?.parameters?.[0]?.example;
  const { rows } = await harness.database.pool.query<{ known: boolean }>(
    `select exists (select from transactions
      where transaction_id = decode($1, 'hex') and accepting_index is not null
        and subnetwork_id <> 1)
       and exists (select from blocks where hash = decode($2, 'hex'))
         and exists (select from tags where address = $3) as known`,
    [example('/v1/transactions/{transactionId}'), example('/v1/blocks/{hash}'), example('/v1/addresses/{address}/tag')],
  );
  expect(rows).toEqual([{ known: true }]);
});

const without = ({ paths }: Document, names: readonly string[]): unknown =>
  JSON.parse(JSON.stringify(paths, (name, value: unknown) => (names.includes(name) ? undefined : value)));

test('the served OpenAPI document is the committed one, and the one of /docs has the same operations', async () => {
  const committed = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')) as Document;
  expect(await getDocument('/openapi.json')).toEqual(committed);
  const withoutExamples = (document: Document) => without(document, ['example', 'x-codeSamples']);
  expect(withoutExamples(await getDocument('/docs/json'))).toEqual(withoutExamples(committed));
});

test('it reads the examples of /docs once a minute', async () => {
  const before = await (await fetch(`${harness.api.url}/docs/json`)).text();
  harness.resumeIndexing();
  harness.simulatedDag.mine(10);
  await harness.atRest();
  expect(await (await fetch(`${harness.api.url}/docs/json`)).text()).toBe(before);
});

test('it shows the committed examples on an empty index', async () => {
  const database = await createTestDatabase();
  const env = { nodeUrl: harness.simulatedDag.server.url, databaseUrl: database.url };
  const { program, url } = await startApi(env);
  try {
    const { paths } = await getDocument('/docs/json', url);
    expect(without({ paths }, ['x-codeSamples'])).toEqual((await getDocument('/openapi.json')).paths);
    expect(paths['/v1/status']?.['get']).toHaveProperty('x-codeSamples.0.source', STATUS_SAMPLE);
  } finally {
    await program.stop();
    await database.drop();
  }
});
