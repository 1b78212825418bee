/**
 * Responses of the API for pages of the explorer before any script runs: redirects, titles, 404s,
 * and the files that browsers and robots ask for.
 */
import { upsertTags } from '@kasgres/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, openHarness } from './harness.ts';
import { startApi, type Program } from '../support/programs.ts';

let harness: Harness;
let locked: { program: Program; url: string };
let ids: { block: string; transaction: string; address: string };

beforeAll(async () => {
  harness = await openHarness({ rounds: 120, variables: { ANONYMOUS_RATE_RU: '1000' } });
  const { rows } = await harness.database.pool.query<typeof ids>(
    `select (select encode(hash, 'hex') from chain_blocks where index = 50) as block,
       (select encode(transaction_id, 'hex') from transactions
         where subnetwork_id <> 1 and accepting_index is not null limit 1) as transaction,
       (select address from balances join scripts on id = script_id where address is not null
         order by balance desc limit 1) as address`,
  );
  ids = rows[0] as typeof ids;
  const tag = { address: ids.address, name: 'A <b>"name"</b>', link: '', labels: ['exchange'] };
  await upsertTags(harness.database.pool, [tag]);
  locked = await startApi({ nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url });
});
afterAll(async () => {
  await locked?.program.stop();
  await harness?.close();
});

const open = (path: string, url = harness.api.url) =>
  fetch(url + path, { redirect: 'manual', headers: { accept: 'text/html' } });

test('titles and og: tags have the data of the page, charged to the visitor', async () => {
  const { block, transaction, address } = ids;
  for (const [path, title, description] of [
    [`/blocks/${block}`, /^Block [0-9a-f]{8}…/, /chain block, blue score/],
    [`/transactions/${transaction}`, /^Transaction /, /KAS, accepted/],
    [`/addresses/${address}`, /^Address A &lt;b&gt;&quot;name&quot;&lt;\/b&gt;, kaspasim:/, /KAS, [\d,]+ transaction/],
    [`/tags/${encodeURIComponent('A <b>"name"</b>')}`, /^A &lt;b&gt;/, /exchange/],
  ] as const) {
    const response = await open(path);
    const html = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    expect(/<title>([^<]*)<\/title>/.exec(html)?.[1]).toMatch(title);
    expect(/property="og:title" content="([^"]*)"/.exec(html)?.[1]).toMatch(title);
    expect(/property="og:description" content="([^"]*)"/.exec(html)?.[1]).toMatch(description);
    expect(html).toContain('<div id="app">');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
});

test('what does not exist is a 404, and what is pending exists', async () => {
  const nothing = 'ab'.repeat(32);
  for (const path of [
    `/blocks/${nothing}`,
    `/transactions/${nothing}`,
    '/addresses/kaspasim:qqqq',
    '/tags/nobody',
    `/covenants/${nothing}`,
    `/programs/${nothing}`,
    `/templates/${nothing}`,
    '/lanes/abcdef01',
    '/lanes/x',
    '/blocks/x',
  ])
    expect([path, (await open(path)).status]).toEqual([path, 404]);
  harness.simulatedDag.pay(3);
  const { entries } = await harness.node.call('getMempoolEntries', {});
  const pending = entries[0]?.transaction?.verboseData?.transactionId as string;
  const response = await open(`/transactions/${pending}`);
  expect([response.status, await response.text()]).toEqual([200, expect.stringMatching(/KAS, pending/)]);
});

test('without anonymous access the document tells nothing', async () => {
  for (const path of [`/addresses/${ids.address}`, `/transactions/${'ab'.repeat(32)}`]) {
    const response = await open(path, locked.url);
    expect([response.status, await response.text()]).toEqual([200, expect.not.stringContaining('og:')]);
  }
});

test('paths of other explorers lead to the page', async () => {
  for (const [path, page] of [
    [`/txs/${ids.transaction}`, `/transactions/${ids.transaction}`],
    ['/txs', '/transactions'],
    ['/addresses', '/rich-list'],
    [`/transaction/${ids.transaction}`, `/transactions/${ids.transaction}`],
    [`/tx/${ids.transaction}`, `/transactions/${ids.transaction}`],
    [`/address/${ids.address}?tab=utxos`, `/addresses/${ids.address}?tab=utxos`],
    [`/addr/${ids.address}`, `/addresses/${ids.address}`],
    [`/block/${ids.block}`, `/blocks/${ids.block}`],
    ['/tx/%2F%2Fevil.example', '/transactions/%2F%2Fevil.example'],
    ['/covenants/', '/covenants'],
    ['/addresses/', '/rich-list'],
    ['/txs/?page=2', '/transactions?page=2'],
    [`/tx/${ids.transaction}/`, `/transactions/${ids.transaction}`],
    [`/transactions/${ids.transaction}/?a=b/`, `/transactions/${ids.transaction}?a=b/`],
    ['/tags/%2F%2Fevil.example/', '/tags/%2F%2Fevil.example'],
    [`/blocks/0x${ids.block.toUpperCase()}?show=accepted`, `/blocks/${ids.block}?show=accepted`],
    ['/tags/100%?page=2', '/tags/100%25?page=2'],
    ['/tags/100%/', '/tags/100%25'],
    ['/tx/%zz', '/transactions/%25zz'],
  ]) {
    const response = await open(path as string);
    expect([path, response.status, response.headers.get('location')]).toEqual([path, 301, page]);
  }
});

test('browsers and robots get their files', async () => {
  const icon = await open('/favicon.ico');
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/x-icon']);
  expect(Buffer.from(await icon.arrayBuffer()).readUInt32LE(0)).toBe(0x10000);
  const robots = await open('/robots.txt');
  expect([robots.status, await robots.text()]).toEqual([200, expect.stringContaining('Disallow: /v1/')]);
});

test('a search takes what pages show', async () => {
  const find = async (q: string) =>
    (await harness.api.get(`/v1/search?q=${encodeURIComponent(q)}`)).json['results'] as { type: string; id: string }[];
  const [best] = await find('20');
  for (const q of [
    `https://explorer.kaspa.org/addresses/${ids.address}`,
    `explorer.example/addr/${encodeURIComponent(ids.address)}?page=2#top`,
    `${harness.api.url}/addresses/${ids.address}/utxos`,
  ])
    expect([q, (await find(q))[0]]).toMatchObject([q, { type: 'address', id: ids.address }]);
  expect((await find(`https://kas.fyi/transaction/${ids.transaction}`))[0]).toMatchObject({ id: ids.transaction });
  expect((await find(`${ids.transaction}:1`))[0]).toMatchObject({ type: 'transaction', id: ids.transaction });
  expect((await find(`https://kaspa.stream/blocks/${ids.block}`))[0]).toMatchObject({ type: 'block', id: ids.block });
  expect(best).toMatchObject({ type: 'block' });
  const { rows } = await harness.database.pool.query<{ score: string; hash: string }>(
    "select daa_score::text as score, encode(hash, 'hex') as hash from blocks where daa_score >= 100 order by daa_score limit 1",
  );
  expect(rows[0]?.score).toMatch(/^\d{3}$/);
  expect(await find('1,000,000')).toEqual(await find('1000000'));
});

interface RestOperation {
  parameters: { name: string; required: boolean }[];
  responses: Record<string, object>;
}

test('/rest has a separate document, which the documentation links', async () => {
  const response = await fetch(`${harness.api.url}/rest/openapi.json`);
  const document = (await response.json()) as {
    paths: Record<string, Record<string, RestOperation>>;
  };
  const page = document.paths['/addresses/{address}/full-transactions-page']?.['get'];
  expect(page?.parameters.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['address', 'limit', 'before', 'after', 'acceptance']),
  );
  expect(document.paths['/transactions']).toHaveProperty('post.requestBody');
  expect(Object.keys(document.paths).length).toBeGreaterThan(40);
  const required = document.paths['/virtual-chain']?.['get']?.parameters.filter((parameter) => parameter.required);
  expect(required?.map(({ name }) => name)).toEqual(['blueScoreGte']);
  const statuses = Object.keys(document.paths['/transactions']?.['post']?.responses ?? {});
  expect(statuses).toEqual(expect.arrayContaining(['304', '403', '408', '409', '413', '415', '431', '500']));
  // Its 503 has the form of the original.
  expect(document.paths['/info/health']?.['get']?.responses['503']).not.toHaveProperty('content');
  expect(await (await fetch(`${harness.api.url}/openapi.json`)).text()).toContain('/rest/openapi.json');
});
