/**
 * The explorer in a real browser, from the real API process, on a simulated chain that grows and
 * reorganises.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import type { AxeResults } from 'axe-core';
import { upsertTags } from '@kasgres/database';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Client, createClient, type ResponseBody } from '../support/client.ts';
import { type Harness, openHarness } from '../api/harness.ts';
import { cluster } from '../simulation/clusters-harness.ts';
import { freePort, startApi, startApiProgram } from '../support/programs.ts';
import { hasChromium, launchChromium } from './chromium.ts';

const FIRST_VIEW_BYTES = 200_000;
/** The goal on a quiet machine is one second; tests run beside others. */
const USABLE_WITHIN_MS = 5000;
/** Longer than the intervals at which the pages load data again. */
const SLOW_MS = 3000;
/** Longer than a second load would take to begin, and shorter than a page polls. */
const LOADED_WITHIN_MS = 1000;
/** Longer than the page gathers changes before it draws them. */
const DRAWN_WITHIN_MS = 500;
const TAG = 'Harbour Exchange';
/** The simulated chain begins in June 2025, long before the default range of the charts. */
const CHARTS = '/charts?interval=hour&from=2025-06-14T00:00';

const isUp = (url: string): Promise<boolean> =>
  fetch(`${url}/v1/status`).then(
    ({ ok }) => ok,
    () => false,
  );

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const setVisibility = (one: Page, state: 'hidden' | 'visible'): Promise<unknown> =>
  one.evaluate(`
    Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);

describe.skipIf(!hasChromium)('the explorer', () => {
  let harness: Harness;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let client: Client;
  let ids: { block: string; transaction: string; address: string };
  let requested: string[];
  let complaints: string[];

  const row = async <Row extends object>(text: string): Promise<Row> =>
    (await harness.database.pool.query<Row>(text)).rows[0] ?? expect.fail(`no row: ${text}`);

  beforeAll(async () => {
    harness = await openHarness({ rounds: 120, variables: { ANONYMOUS_RATE_RU: '100000' } });
    const { address } = await row<{ address: string }>(
      `select address from balances join scripts on scripts.id = script_id where address is not null
        order by balance desc limit 1`,
    );
    client = createClient({ baseUrl: harness.api.url, apiKey: harness.api.key });
    const { blocks } = await client.get('/v1/blocks', { params: { query: { limit: 20, chain_only: true } } });
    const block = blocks.at(-1)?.hash ?? '';
    const query = { limit: 50, accepted_only: true };
    const { transactions } = await client.get('/v1/transactions', { params: { query } });
    const transaction = transactions.find(({ inputs }) => inputs.length > 0)?.transactionId ?? '';
    ids = { block, transaction, address };
    await upsertTags(harness.database.pool, [{ address, name: TAG, link: '', labels: ['exchange'] }]);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.close();
  });

  beforeEach(async () => {
    await openContext({});
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
    const foreign = requested.filter((url) => !/^(?:http:\/\/127\.0\.0\.1:\d+\/|data:)/.test(url));
    expect(foreign).toEqual([]);
  });

  async function openContext(options: Parameters<Browser['newContext']>[0]): Promise<void> {
    await context?.close();
    context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    requested = [];
    complaints = [];
    context.on('request', (request) => requested.push(request.url()));
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(error.error().message));
    page = await context.newPage();
  }

  const open = (path: string) => page.goto(`${harness.api.url}${path}`);
  const heading = (): Promise<string> => page.locator('h1').innerText();
  const blocksOfDag = () => page.locator('svg.dag a');

  const countPolls = (): number => requested.filter((url) => url.endsWith('/v1/mempool')).length;

  async function mine(rounds: number): Promise<void> {
    harness.simulatedDag.mine(rounds);
    await harness.atRest();
  }

  /** Mines until the sink has a larger blue score: a round may add only blocks beside the chain. */
  async function growChain(): Promise<void> {
    const { dag } = harness.simulatedDag.node;
    const before = dag.sink.header.blueScore;
    while (dag.sink.header.blueScore <= before) harness.simulatedDag.mine(1);
    await harness.atRest();
  }

  /** Each page with what it must show once its data has arrived. */
  const pages = (): [path: string, shown: RegExp][] => [
    ['/', /Latest blocks[\s\S]*chain[\s\S]*Latest accepted transactions/],
    ['/blocks', /Txs[\s\S]*chain/],
    [
      `/blocks/${ids.block}`,
      /Position in the DAG[\s\S]*Merged by[\s\S]*Subsidy[\s\S]*Transactions[\s\S]*coinbase[\s\S]*UTXO commitment/,
    ],
    ['/transactions', /accepted/],
    [`/transactions/${ids.transaction}`, /Confirmations[\s\S]*Inputs and outputs/],
    [`/addresses/${ids.address}`, /Harbour Exchange[\s\S]*Balance over time[\s\S]*Cluster[\s\S]*Transactions/],
    [`/addresses/${ids.address}?tab=utxos`, /Unspent outputs[\s\S]*Amount, KAS/],
    ['/tags', /Harbour Exchange/],
    [`/tags/${encodeURIComponent(TAG)}`, /exchange[\s\S]*Balance, KAS/],
    ['/rich-list', /Distribution[\s\S]*Harbour Exchange/],
    ['/mempool', /Recommended fees[\s\S]*Priority[\s\S]*Fee rates[\s\S]*Newest/],
    ['/miners?interval=week', /Share[\s\S]*%/],
    [CHARTS, /Transactions per second[\s\S]*Hash rate[\s\S]*Supply/],
    ['/status', /in sync[\s\S]*0 s\s+nothing newer at the node[\s\S]*The index has no gaps/],
  ];

  async function expectPage(path: string, shown: RegExp): Promise<void> {
    await open(path);
    await expect.poll(() => page.locator('main').innerText(), { message: path, timeout: 15_000 }).toMatch(shown);
    await expect.poll(() => page.locator('.skeleton').count(), { message: path, timeout: 15_000 }).toBe(0);
    expect(await page.locator('[role=alert]').allInnerTexts(), path).toEqual([]);
  }

  test('every page opens, shows its data and is accessible, dark and light', async () => {
    await openContext({ colorScheme: 'dark' });
    for (const [path, shown] of pages()) {
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectPage(path, shown);
      await page.evaluate(axeSource);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        const { violations } = await page.evaluate<AxeResults>('axe.run()');
        const serious = violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`);
        expect(serious, `${path}, ${colorScheme}`).toEqual([]);
      }
    }
  });

  test('a name that only the cluster has looks like a guess', async () => {
    await cluster(harness.database, { depth: 10n });
    const { address, id } = await row<{ address: string; id: string }>(
      `select address, clusters.id from clusters join scripts on scripts.id = clusters.id
        where address <> '${ids.address}' limit 1`,
    );
    await harness.database.pool.query("update clusters set name = 'Mill', labels = '{shop}' where id = $1", [id]);
    await expectPage(`/addresses/${address}`, /Transactions/);
    expect(await heading()).toMatch(/^Address\s+Mill\?/);
    expect(await page.title()).not.toContain('Mill');
    expect(await page.locator('.sides .name', { hasText: 'Mill' }).first().innerText()).toMatch(/^Mill\?/);
    const html = await (await fetch(`${harness.api.url}/addresses/${address}`)).text();
    expect(/<title>([^<]*)/.exec(html)?.[1]).not.toContain('Mill');
    await harness.database.pool.query('update clusters set name = null where id = $1', [id]);
  });

  test('every page fits on a phone', async () => {
    await openContext({ viewport: { width: 360, height: 740 } });
    for (const [path, shown] of pages()) {
      await expectPage(path, shown);
      const widths = () =>
        page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]');
      const [content = 0, window = 0] = (await widths()) as number[];
      expect({ path, isWithin: content <= window }).toEqual({ path, isWithin: true });
    }
  });

  test('the first view is small and usable at once', async () => {
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const startedAt = performance.now();
    await open('/');
    await blocksOfDag().first().waitFor();
    const usableMs = performance.now() - startedAt;
    await page.waitForLoadState('load');
    console.log(`first view: ${bytes} bytes, usable after ${Math.round(usableMs)} ms`);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(FIRST_VIEW_BYTES);
    expect(usableMs).toBeLessThan(USABLE_WITHIN_MS);
  });

  test('nothing is requested twice at load', async () => {
    for (const [path, shown] of pages()) {
      requested = [];
      await expectPage(path, shown);
      await setTimeout(LOADED_WITHIN_MS);
      // The picture is read again if the stream begins late, or lacks a block that was indexed
      // before it began.
      const asked = requested.filter((url) => url.includes('/v1/') && !/\/v1\/(?:stream|ws|dag)/.test(url));
      expect({ path, twice: asked.filter((url, place) => asked.indexOf(url) !== place) }).toEqual({ path, twice: [] });
    }
  });

  test('a person can walk from a spent output to its spender, and back to it', async () => {
    const { spender, id, index } = await row<{ spender: string; id: string; index: number }>(
      `select encode(spender.transaction_id, 'hex') as spender,
        encode(t.transaction_id, 'hex') as id, i.previous_index as index
       from transaction_inputs i join transactions t on t.id = i.previous_transaction_id
       join transactions spender on spender.id = i.transaction_id
       where t.accepting_index is not null and t.subnetwork_id <> 1
         and spender.accepting_index is not null
         and i.previous_index > 0 limit 1`,
    );
    await open(`/transactions/${id}`);
    const output = page.locator(`#output-${index}`);
    await output.locator('a.spent').click();
    await expect.poll(heading).toContain(spender);
    await page.locator(`a.outpoint[href="/transactions/${id}#output-${index}"]`).first().click();
    await expect.poll(heading).toContain(id);
    await page.locator('.scripts summary').click();
    await expect.poll(() => page.locator('.scripts').innerText()).toMatch(/Input 0[\s\S]*Sequence[\s\S]*Output 0/);
    expect(await page.locator('main').innerText()).toMatch(/Fee rate[\s\S]*sompi per gram/);
  });

  test('a coinbase that pays nothing leads to the reward', async () => {
    const { id, paid } = await row<{ id: string; paid: string }>(
      `select encode(t.transaction_id, 'hex') as id, encode(reward.transaction_id, 'hex') as paid
       from blocks b join block_transactions c on c.block_id = b.id and c.index = 0
       join transactions t on t.id = c.transaction_id and t.accepting_index is null
       join block_transactions m on m.block_id = b.merging_block_id and m.index = 0
       join transactions reward on reward.id = m.transaction_id
       where b.is_blue and not b.is_chain_block and b.merging_block_id is not null
         and (select count(*) from block_transactions other where other.transaction_id = t.id) = 1
           limit 1`,
    );
    await open(`/transactions/${id}`);
    await expect.poll(() => page.locator('main').innerText()).toMatch(/pays nothing; the reward is in/);
    expect(await page.locator(`main a[href="/transactions/${paid}"]`).count()).toBe(1);
    expect(await page.locator('[aria-label=Outputs]').innerText()).not.toContain('unspent');
  });

  test('assets are immutable and compressed, and the document has a strict policy', async () => {
    const document = await fetch(`${harness.api.url}/`);
    expect(document.headers.get('cache-control')).toBe('no-cache');
    expect(document.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self'/);
    const asset = /\/assets\/[\w.-]+\.js/.exec(await document.text())?.[0] ?? '';
    for (const encoding of ['br', 'gzip']) {
      const { headers } = await fetch(harness.api.url + asset, { headers: { 'accept-encoding': encoding } });
      expect(headers.get('content-encoding')).toBe(encoding);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const etag = headers.get('etag') ?? '';
      const known = await fetch(harness.api.url + asset, {
        headers: { 'accept-encoding': encoding, 'if-none-match': etag },
      });
      expect(known.status).toBe(304);
    }
  });

  test('an unknown path is a page for browsers, and an error of the API for others', async () => {
    for (const path of ['/nothing', '/v1/nothing', '/assets/nothing.js', '/blocks/a/b']) {
      const response = await fetch(harness.api.url + path);
      expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ statusCode: 404 })]);
    }
    const ofApi = await open('/v1/nothing');
    expect([ofApi?.status(), await ofApi?.json()]).toEqual([404, expect.objectContaining({ statusCode: 404 })]);
    const ofExplorer = await open('/nothing');
    expect(ofExplorer?.status()).toBe(404);
    expect(await heading()).toBe('Page not found');
    await page.getByRole('link', { name: 'Show the DAG' }).click();
    await blocksOfDag().first().waitFor();
    // The page loads again when its stream begins.
    await page.close();
    // The browser itself tells of responses that are errors.
    expect(complaints.splice(0).every((text) => /status of 404/.test(text))).toBe(true);
  });

  test('a page that cannot be rendered says so, and others still open', async () => {
    await page.route('**/v1/miners?*', (route) => route.fulfill({ json: { miners: [null] } }));
    await open('/miners');
    await page.getByRole('button', { name: 'Load again' }).waitFor();
    expect(await heading()).toBe('This page failed');
    expect(complaints.splice(0)).toContainEqual(expect.stringContaining('TypeError'));
    await page.getByRole('link', { name: 'Status', exact: true }).click();
    await expect.poll(heading).toBe('Status of the index');
    await page.unroute('**/v1/miners?*');
    await page.getByRole('link', { name: 'Miners', exact: true }).click();
    await page.locator('main table').waitFor();
  });

  test('ages do not depend on the clock of the visitor', async () => {
    const age = async (): Promise<string> => await page.locator('main time').first().innerText();
    await open('/blocks');
    await expect.poll(age).toMatch(/ago$/);
    const expected = await age();
    // Shortly before the chain began, by which every block would be new.
    await page.clock.setSystemTime(new Date('2025-06-01T00:00:00Z'));
    await open('/blocks');
    await expect.poll(age).toBe(expected);
  });

  test('a theme is that of all tabs', async () => {
    const other = await context.newPage();
    for (const one of [page, other]) await one.goto(`${harness.api.url}/status`);
    await page.bringToFront();
    for (const theme of ['dark', 'light']) {
      await page.getByRole('button', { name: `Use the ${theme} theme` }).click();
      await expect.poll(() => other.locator('html').getAttribute('data-theme')).toBe(theme);
      await other.getByRole('button', { name: `Use the ${theme === 'dark' ? 'light' : 'dark'} theme` }).waitFor();
    }
  });

  test('new blocks appear by themselves', async () => {
    await open('/');
    await blocksOfDag().first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await mine(3);
    const { sink } = await client.get('/v1/rpc/getSink');
    const newest = page.locator(`svg.dag a[data-hash="${sink}"]`);
    await newest.waitFor();
    await expect.poll(() => newest.getAttribute('class')).toBe('block chain');
    await page.locator(`main table a[href="/blocks/${sink}"]`).waitFor();
  });

  test('a pause holds the picture, and resuming catches up', async () => {
    let windows = 0;
    const passed = Promise.withResolvers<void>();
    // New blocks do not connect to the first window, so the page loads another one, which is on its
    // way while the pause begins.
    const outdated = JSON.stringify(await client.get('/v1/dag'));
    await mine(20);
    await page.route('**/v1/dag', async (route) => {
      windows += 1;
      if (windows === 1) return route.fulfill({ body: outdated, contentType: 'application/json' });
      if (windows === 2) await passed.promise;
      return route.continue();
    });
    await open('/');
    await blocksOfDag().first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await growChain();
    await expect.poll(() => windows).toBe(2);
    await page.getByRole('button', { name: 'Pause' }).click();
    await growChain();
    const { sink } = await client.get('/v1/rpc/getSink');
    const newest = page.locator(`svg.dag a[data-hash="${sink}"]`);
    await page.locator(`main table a[href="/blocks/${sink}"]`).waitFor();
    const window = page.waitForResponse('**/v1/dag');
    passed.resolve();
    await (await window).finished();
    await setTimeout(DRAWN_WITHIN_MS);
    expect(await newest.count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await newest.waitFor();
  });

  test('a reorganisation moves the chain, and no block along x', async () => {
    await open('/');
    await blocksOfDag().first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const { sink } = await client.get('/v1/rpc/getSink');
    const old = page.locator(`svg.dag a[data-hash="${sink}"]`);
    await old.waitFor();
    await expect.poll(() => old.getAttribute('class')).toBe('block chain');
    // The picture stands still, so that the old sink stays in it.
    await old.focus();
    const positionOf = async (): Promise<string[]> =>
      /translate\((.*?)px, (.*?)px\)/.exec((await old.getAttribute('style')) ?? '')?.slice(1) ?? [];
    const [xBefore, yBefore] = await positionOf();
    // A branch from before the picture would begin a new one.
    harness.simulatedDag.reorganise(10);
    await harness.atRest();
    await expect.poll(() => old.getAttribute('class')).not.toContain('chain');
    // It leaves the centre line once the new chain block of its column is known.
    await expect.poll(async () => (await positionOf())[1]).not.toBe(yBefore);
    expect((await positionOf())[0]).toBe(xBefore);
    await page.getByText(/^Reorganisation: \d+ chain blocks? replaced$/).waitFor();
    expect(Number(await page.locator('.dag-frame').getAttribute('data-removed'))).toBeGreaterThan(0);
  });

  test('a block is shown in the DAG, and the keyboard leads to its parent', async () => {
    await open(`/blocks/${ids.block}`);
    const marked = page.locator('svg.dag a[aria-current]');
    await marked.waitFor();
    expect(await marked.getAttribute('data-hash')).toBe(ids.block);
    const { block } = await client.get('/v1/blocks/{hash}', { params: { path: { hash: ids.block } } });
    expect(await marked.getAttribute('class')).toBe(`block ${block.isChainBlock ? 'chain' : (block.color ?? 'open')}`);
    await marked.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/blocks/${block.verboseData.selectedParentHash}`);
    await expect.poll(() => marked.getAttribute('data-hash')).toBe(block.verboseData.selectedParentHash);
  });

  test('dragging the picture holds it, and resuming follows the chain again', async () => {
    await open('/');
    await blocksOfDag().first().waitFor();
    const shiftOf = async (): Promise<number> =>
      Number(/translateX\((.*?)px\)/.exec((await page.locator('svg.dag .camera').getAttribute('style')) ?? '')?.[1]);
    const before = await shiftOf();
    const { x = 0, y = 0 } = (await page.locator('svg.dag').boundingBox()) ?? {};
    await page.mouse.move(x + 300, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + 420, y + 10, { steps: 4 });
    await page.mouse.up();
    expect(await shiftOf()).toBe(before + 120);
    expect(page.url()).toBe(`${harness.api.url}/`);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(shiftOf).toBeLessThanOrEqual(before);
  });

  test('the mempool follows the stream, without polling', async () => {
    await open('/mempool');
    await page.getByText('Live', { exact: true }).waitFor();
    const size = () => page.locator('.stat', { hasText: 'Transactions' }).locator('.figure').innerText();
    const differs = async (): Promise<number> => Number(await size()) - (await client.get('/v1/mempool')).size;
    // The page polls until it has the snapshot of the stream.
    await page.waitForTimeout(3000);
    const pollsBefore = countPolls();
    const before = Number(await size());
    harness.simulatedDag.pay(5);
    await expect.poll(async () => Number(await size())).toBeGreaterThan(before);
    await expect.poll(differs).toBe(0);
    await mine(4);
    await page.waitForTimeout(2500);
    await expect.poll(differs).toBe(0);
    expect(countPolls()).toBe(pollsBefore);
  });

  test('a search can be entered before its results are there', async () => {
    await open('/');
    await page.getByRole('combobox').fill(TAG);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/addresses/${ids.address}`);
  });

  test('a slow search does not leave a page that was opened after it', async () => {
    await page.route('**/v1/search?*', async (route) => {
      await setTimeout(SLOW_MS);
      await route.continue();
    });
    await open('/');
    const searching = page.waitForRequest('**/v1/search?*');
    await page.getByRole('combobox').fill(TAG);
    await page.keyboard.press('Enter');
    await searching;
    // The list of results covers the link.
    await page.getByRole('link', { name: 'Miners' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForTimeout(SLOW_MS + 1000);
    expect(page.url()).toBe(`${harness.api.url}/miners`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('from the search for a name to a block in the DAG it takes less than a minute', async () => {
    const startedAt = performance.now();
    await open('/');
    await page.getByRole('combobox').fill(TAG.slice(0, 5));
    await page.getByRole('option', { name: TAG }).click();
    await page.locator('.transactions a[href^="/transactions/"]').first().click();
    await page.locator('dd a[href^="/blocks/"]').last().click();
    const marked = page.locator('svg.dag a[aria-current]');
    await marked.waitFor();
    expect(page.url()).toBe(`${harness.api.url}/blocks/${await marked.getAttribute('data-hash')}`);
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  });

  test('confirmations grow with the chain', async () => {
    const query = { limit: 1, accepted_only: true };
    const { transactions } = await client.get('/v1/transactions', { params: { query } });
    await open(`/transactions/${transactions[0]?.transactionId}`);
    const confirmations = async (): Promise<number> =>
      Number((await page.locator('#confirmations').innerText()).replaceAll(',', ''));
    await page.getByText('Live', { exact: true }).waitFor();
    const before = await confirmations();
    await growChain();
    await expect.poll(confirmations).toBeGreaterThan(before);
  });

  test('an address follows its transactions', async () => {
    await open(`/addresses/${ids.address}`);
    const count = () => page.locator('.stat', { hasText: 'Transactions' }).locator('.figure').innerText();
    await expect.poll(count).toMatch(/^\d+$/);
    await page.getByText('Live', { exact: true }).waitFor();
    const before = Number(await count());
    await mine(8);
    await expect.poll(async () => Number(await count())).toBeGreaterThan(before);
  });

  test('the last day of a filter ends at midnight, also when daylight saving time begins', async () => {
    await openContext({ timezoneId: 'Europe/Berlin' });
    await open(`/addresses/${ids.address}?to=2025-03-30`);
    const end = Date.parse('2025-03-31T00:00+02:00');
    const isFiltered = (url: string): boolean => new URL(url).searchParams.get('to') === String(end);
    await expect.poll(() => requested.some(isFiltered)).toBe(true);
  });

  test('a list shows newer rows on request', async () => {
    await open('/blocks');
    await page.locator('tbody a').first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await growChain();
    const { sink } = await client.get('/v1/rpc/getSink');
    expect(await page.locator(`tbody a[href="/blocks/${sink}"]`).count()).toBe(0);
    await page.getByRole('button', { name: 'Show newer' }).click();
    await page.locator(`tbody a[href="/blocks/${sink}"]`).waitFor();
  });

  test('the keyboard is enough to search, to move in the DAG and to change the theme', async () => {
    await open('/');
    await blocksOfDag().first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('harb');
    await page.getByRole('option', { name: TAG }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${harness.api.url}/addresses/${ids.address}`);

    await page.keyboard.press('/');
    await page.keyboard.type(ids.block.slice(0, 12));
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${harness.api.url}/blocks/${ids.block}`);

    await open('/');
    const entry = page.locator('svg.dag a[tabindex="0"]');
    await entry.waitFor();
    await entry.focus();
    const focused = () => page.evaluate<string | null>("document.activeElement.getAttribute('data-hash')");
    const first = await focused();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(focused).not.toBe(first);
    const parent = await focused();
    expect(parent).toMatch(/^[0-9a-f]{64}$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${harness.api.url}/blocks/${parent}`);

    await page.getByRole('button', { name: /theme$/ }).focus();
    await page.keyboard.press('Enter');
    const theme = await page.evaluate('document.documentElement.dataset.theme');
    await page.reload();
    await page.getByRole('button', { name: /theme$/ }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(theme);
  });

  test('pages of a listing have addresses', async () => {
    await open('/blocks');
    await page.getByRole('link', { name: /^Older/ }).click();
    await page.waitForURL(/after=[0-9a-f]{64}/);
    const first = await page.locator('tbody a').first().innerText();
    await page.reload();
    await expect.poll(() => page.locator('tbody a').first().innerText()).toBe(first);
    await page.getByRole('link', { name: /Newer$/ }).click();
    await page.waitForURL(/before=[0-9a-f]{64}/);
    await page.goBack();
    await expect.poll(() => page.locator('tbody a').first().innerText()).toBe(first);
  });

  test('what does not exist has a page that says so', async () => {
    for (const [path, text] of [
      [`/blocks/${'f'.repeat(64)}`, 'No such block is indexed.'],
      [`/transactions/${'f'.repeat(64)}`, 'No such transaction is indexed or pending.'],
      ['/addresses/nonsense', 'This is no address of this network.'],
    ] as const) {
      await open(path);
      await page.getByText(text).waitFor();
    }
    // The page loads again when its stream begins.
    await page.close();
    // The browser itself tells of responses that are errors.
    expect(complaints.splice(0).filter((text) => !/status of 40[04]/.test(text))).toEqual([]);
  });

  test('a block says of its transactions when the chain accepts them', async () => {
    let isMerged = false;
    await page.route(`**/v1/blocks/${ids.block}{?,/transactions?}*`, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { block?: object; transactions?: object[] };
      if (!isMerged) {
        Object.assign(body.block ?? {}, { mergingBlockHash: null });
        for (const one of body.transactions ?? []) Object.assign(one, { isAccepted: false });
      }
      await route.fulfill({ response, json: body });
    });
    await expectPage(`/blocks/${ids.block}`, /coinbase\s+pays nothing/);
    await page.getByText('Live', { exact: true }).waitFor();
    isMerged = true;
    await growChain();
    await page.locator('.transactions').getByText('accepted', { exact: true }).first().waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('another page of a listing is shown from its top, and takes the focus', async () => {
    await open('/transactions');
    await page.getByRole('link', { name: /^Older/ }).click();
    await page.waitForURL(/after=/);
    await page.locator('.transactions > li').first().waitFor();
    expect(await page.evaluate('scrollY')).toBeLessThan(200);
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  });

  test('a range of the charts replaces one that was entered', async () => {
    await expectPage(CHARTS, /Transactions per second/);
    await page.getByRole('link', { name: '1 week' }).click();
    await page.waitForURL((url) => url.searchParams.get('range') === '168' && !url.searchParams.has('from'));
  });

  test('a chart that the server no longer has says so', async () => {
    await page.route('**/assets/uPlot*', (route) => route.abort());
    await open(CHARTS);
    await page.getByText('The chart could not be loaded. Reload the page.').first().waitFor();
    expect(complaints.splice(0).every((text) => /ERR_FAILED/.test(text))).toBe(true);
  });

  test('an output that an input leads to is in view, and marked', async () => {
    await openContext({ viewport: { width: 360, height: 400 } });
    await expectPage(`/transactions/${ids.transaction}`, /Inputs and outputs/);
    const href = await page.locator('a.outpoint').first().getAttribute('href');
    await page.locator('a.outpoint').first().click();
    const output = page.locator(`.sides li.target[id=${href?.split('#')[1]}]`);
    await output.waitFor();
    const header = await page.locator('header.top').boundingBox();
    const headerEnd = (header?.y ?? 0) + (header?.height ?? 0);
    await expect.poll(async () => (await output.boundingBox())?.y).toBeGreaterThanOrEqual(headerEnd);
  });

  test('a page that cannot be refreshed says why, and keeps what it shows', async () => {
    await expectPage(`/blocks/${ids.block}`, /Confirmations/);
    await page.getByText('Live', { exact: true }).waitFor();
    const message = 'The database is busy.';
    const away = (route: Route) => route.fulfill({ status: 503, json: { statusCode: 503, message } });
    await page.route(`**/v1/blocks/${ids.block}?*`, away);
    await growChain();
    await page.getByText(`This may be out of date: ${message}`).waitFor({ timeout: 15_000 });
    await page.getByText('Confirmations').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await growChain();
    await expect.poll(() => page.getByText(message).count(), { timeout: 15_000 }).toBe(0);
    // The browser itself tells of responses that are errors.
    expect(complaints.splice(0).every((text) => /status of 503/.test(text))).toBe(true);
  });

  test('a balance is that of the transactions beside it, also if one comes meanwhile', async () => {
    let reads = 0;
    await page.route('**/v1/rpc/getBalanceByAddress/*', async (route) => {
      reads += 1;
      const response = await route.fetch();
      const { balance } = (await response.json()) as { balance: string };
      await route.fulfill({ response, json: { balance: reads === 1 ? `${balance}1` : balance } });
    });
    await expectPage(`/addresses/${ids.address}?interval=recent`, /Balance, KAS/);
    expect(requested.filter((url) => /\/transactions\?.*limit=100/.test(url))).toHaveLength(3);
    expect(reads).toBe(3);
  });

  test('a key that the API does not know can be forgotten', async () => {
    await open('/');
    await page.evaluate("sessionStorage.setItem('kasgres-key', 'kdp_wrong')");
    await page.goto(`${harness.api.url}/blocks`);
    await page.getByText('API key needed').waitFor();
    await page.getByRole('button', { name: 'Forget the API key' }).click();
    await page.locator('tbody a').first().waitFor();
    expect(complaints.splice(0).every((text) => /status of 401/.test(text))).toBe(true);
  });

  test('genesis has no reward that is yet to come', async () => {
    const { hash } = await row<{ hash: string }>("select encode(hash, 'hex') as hash from blocks order by id limit 1");
    await open(`/blocks/${hash}`);
    await page.getByText('Nobody mined genesis, and it earns nothing.').waitFor();
    expect(await page.locator('main').innerText()).not.toMatch(/known once merged|not paid yet/);
  });

  test('an unknown input leads to the transaction that created it', async () => {
    const created = 'e'.repeat(64);
    await page.route(`**/v1/transactions/${ids.transaction}?*`, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as ResponseBody<'get', '/v1/transactions/{transactionId}'>;
      for (const { previousOutput } of body.transaction.inputs) {
        Object.assign(previousOutput, { transactionId: created, amount: null, scriptPublicKeyAddress: null });
      }
      await route.fulfill({ response, json: body });
    });
    await open(`/transactions/${ids.transaction}`);
    const unknown = page.getByRole('list', { name: 'Inputs' }).getByRole('listitem').first();
    expect(await unknown.getByRole('link').getAttribute('href')).toMatch(
      new RegExp(`^/transactions/${created}#output-\\d+$`),
    );
    await unknown.getByText('unknown').waitFor();
  });

  test('a transaction is not called unknown while the mempool cannot be read', async () => {
    const message = 'The node is away.';
    await page.route('**/v1/mempool/*', (route) => route.fulfill({ status: 503, json: { statusCode: 503, message } }));
    await open(`/transactions/${'f'.repeat(64)}`);
    await page.getByText('This could not be loaded.').waitFor();
    await page.getByText(message).waitFor();
    // The page loads again when its stream begins.
    await page.close();
    // The browser itself tells of responses that are errors.
    expect(complaints.splice(0).every((text) => /status of (?:404|503)/.test(text))).toBe(true);
  });

  test('a list that loads slowly is loaded once at a time, and again if the chain grew meanwhile', async () => {
    let running = 0;
    let mostRunning = 0;
    await page.route('**/v1/blocks?*', async (route) => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      const response = await route.fetch();
      await setTimeout(SLOW_MS);
      running -= 1;
      await route.fulfill({ response });
    });
    await open('/');
    await page.getByText('Live', { exact: true }).waitFor();
    for (let round = 0; round < 5; round += 1) await mine(1);
    const { sink } = await client.get('/v1/rpc/getSink');
    await page.locator(`main table a[href="/blocks/${sink}"]`).waitFor();
    expect(mostRunning).toBe(1);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('a page that polls shows errors that take longer than its interval', async () => {
    const message = 'The database is away.';
    await page.route('**/v1/status', async (route) => {
      await setTimeout(SLOW_MS);
      await route.fulfill({ status: 503, json: { statusCode: 503, message } });
    });
    await open('/status');
    await page.getByText(message).waitFor({ timeout: 4 * SLOW_MS });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // The page loads again when its stream begins.
    await page.close();
    // The browser itself tells of responses that are errors.
    expect(complaints.splice(0).every((text) => /status of 503/.test(text))).toBe(true);
  });

  test('a list does not decide later that its transactions were not accepted', async () => {
    await page.clock.install();
    await page.route('**/v1/transactions?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as ResponseBody<'get', '/v1/transactions'>;
      for (const one of body.transactions) Object.assign(one, { isAccepted: false, blockTime: Date.now() - 5000 });
      await route.fulfill({ response, json: body });
    });
    await open('/transactions');
    const first = page.locator('.transactions li header').first();
    await first.getByText('not accepted yet', { exact: true }).waitFor();
    await page.clock.fastForward(120_000);
    await first.getByText('2 min ago').waitFor();
    expect(await first.innerText()).toContain('not accepted yet');
  });

  test('the status says that the state of a node which is away is unknown', async () => {
    await page.route('**/v1/status', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as ResponseBody<'get', '/v1/status'>;
      await route.fulfill({ response, json: { ...body, nodeConnected: false, nodeSynced: null } });
    });
    await open('/status');
    const node = page.locator('.stat', { hasText: 'away' });
    await node.getByText('sync state unknown', { exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  async function countStreams(): Promise<number> {
    const text = await (await fetch(await harness.program.metricsUrl())).text();
    return Number(/^kasgres_api_streams\S* (\S+)/m.exec(text)?.[1]);
  }

  test('several pages share one stream, which closes while all are hidden', async () => {
    await open('/');
    const second = await context.newPage();
    await second.goto(`${harness.api.url}/blocks`);
    for (const one of [page, second]) await one.getByText('Live', { exact: true }).waitFor();
    await expect.poll(countStreams).toBe(1);
    for (const one of [page, second]) await setVisibility(one, 'hidden');
    await expect.poll(countStreams).toBe(0);
    await mine(1);
    const { sink } = await client.get('/v1/rpc/getSink');
    for (const one of [page, second]) await setVisibility(one, 'visible');
    await page.locator(`svg.dag a[data-hash="${sink}"]`).waitFor();
    await expect.poll(countStreams).toBe(1);
  });

  test.each(['beside a visible page', 'alone'])('an address is up to date after it was hidden %s', async (place) => {
    await open(`/addresses/${ids.address}`);
    const count = () => page.locator('.stat', { hasText: 'Transactions' }).locator('.figure').innerText();
    await page.getByText('Live', { exact: true }).waitFor();
    if (place === 'beside a visible page') {
      const second = await context.newPage();
      await second.goto(`${harness.api.url}/blocks`);
      await second.getByText('Live', { exact: true }).waitFor();
    }
    await setVisibility(page, 'hidden');
    const before = Number(await count());
    await mine(8);
    await setVisibility(page, 'visible');
    await expect.poll(async () => Number(await count())).toBeGreaterThan(before);
  });

  test('without anonymous access it asks for a key, and keeps it in the tab', async () => {
    const { database, simulatedDag } = harness;
    const { program, url } = await startApi({ nodeUrl: simulatedDag.server.url, databaseUrl: database.url });
    try {
      await page.goto(`${url}/blocks`);
      await page.getByText('API key needed').waitFor();
      await page.getByLabel('API key').fill('kdp_wrong');
      await page.keyboard.press('Enter');
      await page.getByText('Invalid API key').waitFor();
      await page.getByLabel('API key').fill(harness.api.key);
      await page.getByRole('button', { name: 'Use key' }).click();
      await page.locator('tbody a').first().waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      await page.reload();
      await page.locator('tbody a').first().waitFor();
      expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{}');

      // The stream keeps the key of this page while another one has none.
      const second = await context.newPage();
      await second.goto(`${url}/blocks`);
      await second.getByText('API key needed').waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      await growChain();
      await page.getByRole('button', { name: 'Show newer' }).waitFor();
      await second.close();

      await page.goto(`${url}/addresses/${ids.address}?direction=received&min=1`);
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download CSV' }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe(`${ids.address.replace(':', '-')}.csv`);
      const filtered = `${url}/v1/addresses/${ids.address}/transactions?direction=received&min_amount=100000000`;
      const headers = { 'x-api-key': harness.api.key, accept: 'text/csv' };
      const csv = await (await fetch(filtered, { headers })).text();
      expect(csv.split('\n').length).toBeGreaterThan(2);
      expect(await readFile(await download.path(), 'utf8')).toBe(csv);

      await page.getByRole('button', { name: 'Forget the API key' }).click();
      await page.getByText('API key needed').waitFor();
      expect(await heading()).toBe('API key needed');
    } finally {
      await program.stop();
    }
    expect(complaints.splice(0).every((text) => /401|connection/i.test(text))).toBe(true);
  });

  test('while the server is away the page says so, and continues when it returns', async () => {
    const { database, simulatedDag } = harness;
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const start = async () => {
      const env = { nodeUrl: simulatedDag.server.url, databaseUrl: database.url };
      const started = startApiProgram(env, { ANONYMOUS_RATE_RU: '100000', PORT: String(port) });
      await expect.poll(() => isUp(url), { timeout: 60_000 }).toBe(true);
      return started;
    };
    let program = await start();
    try {
      await page.goto(url);
      await blocksOfDag().first().waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      await program.stop();
      await page.getByText(/^The server does not respond/).waitFor();
      expect(await blocksOfDag().count()).toBeGreaterThan(0);
      await page.getByRole('link', { name: 'Miners' }).click();
      await page.getByText('This could not be loaded.').waitFor();
      program = await start();
      await page.locator('tbody a').first().waitFor({ timeout: 60_000 });
      await page.getByText('Live', { exact: true }).waitFor();
      expect(await page.getByText(/^The server does not respond/).count()).toBe(0);
    } finally {
      await program.stop();
    }
    expect(complaints.splice(0).every((text) => /ERR_|connection/i.test(text))).toBe(true);
  });
});
