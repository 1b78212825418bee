/**
 * /docs in a real browser, from the real API process: somebody enters a key, tries a call, and
 * reads the response. Skipped, and said so, where there is no Chromium.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, openHarness } from '../api/harness.ts';
import { hasChromium, launchChromium } from './chromium.ts';

describe.skipIf(!hasChromium)('/docs', () => {
  let harness: Harness;
  let browser: Browser;
  let page: Page;
  /** Requests and complaints of the page. */
  let requested: string[];
  let complaints: string[];

  beforeAll(async () => {
    harness = await openHarness({ rounds: 40, variables: { EXPLORER: 'false' } });
    await harness.indexer.stop();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.close();
  });

  beforeEach(async () => {
    // Each test has a new profile: nothing is stored yet.
    const context = await browser.newContext();
    context.setDefaultTimeout(15_000);
    page = await context.newPage();
    requested = [];
    complaints = [];
    page.on('request', (request) => requested.push(request.url()));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints).toEqual([]);
    const foreign = requested.filter((url) => !url.startsWith(harness.api.url) && !url.startsWith('data:'));
    expect(foreign).toEqual([]);
  });

  /** Opens the page at an operation. */
  async function open(operationId: string): Promise<void> {
    const { paths } = (await (await fetch(`${harness.api.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
    };
    const operation = Object.values(paths)
      .flatMap((operations) => Object.values(operations))
      .find((each) => each.operationId === operationId);
    const tag = operation?.tags[0]?.toLowerCase().replaceAll(' ', '-');
    await page.goto(`${harness.api.url}/docs#tag/${tag}/${operationId}`);
    await page.locator(`section[id$="/${operationId}"]`).waitFor();
  }

  const keyInput = () => page.locator('.scalar-password-input').first();

  async function enterKey(key: string): Promise<void> {
    await page.goto(`${harness.api.url}/docs`);
    await keyInput().fill(key);
    await keyInput().blur();
    await expect.poll(() => page.evaluate('JSON.stringify(sessionStorage)')).toContain(key);
  }

  /**
   * Opens an operation, sends its request as it is filled in, and returns the status and the body
   * that the page shows.
   */
  async function tryOut(operationId: string): Promise<{ status: string; body: string; response: unknown }> {
    await open(operationId);
    await page
      .locator(`section[id$="/${operationId}"]`)
      .getByRole('button', { name: /^Test Request/ })
      .click();
    const client = page.getByRole('dialog', { name: 'API Client' });
    const responding = page.waitForResponse((response) => response.url().includes('/v1/'));
    await client.getByRole('button', { name: /^Send (?:get|post) request/i }).click();
    const response: unknown = await (await responding).json();
    const shown = client.getByRole('region', { name: 'Response' });
    const status = await shown.getByRole('link', { name: /^[1-5]\d\d / }).innerText();
    const body = await shown.getByRole('textbox').innerText();
    await page.keyboard.press('Escape');
    await client.waitFor({ state: 'hidden' });
    return { status, body, response };
  }

  test('/ leads to it without the explorer', async () => {
    await page.goto(`${harness.api.url}/`);
    expect(page.url()).toBe(`${harness.api.url}/docs`);
    await page.getByText('Kasgres').first().waitFor();
  });

  test('a call with the key shows the response of the API', async () => {
    await enterKey(harness.api.key);
    const { status, body, response } = await tryOut('getCoinSupply');
    const { json } = await harness.api.request('/v1/rpc/getCoinSupply');
    expect(status).toBe('200 OK');
    expect(response).toEqual(json);
    expect(JSON.parse(body)).toEqual(json);
  });

  test('examples work as they stand', async () => {
    await enterKey(harness.api.key);
    for (const operationId of [
      'getTransaction',
      'getAddress',
      'listAddressUtxos',
      'getBlocksByDaaScore',
      'getBlocks',
    ]) {
      const { status, response } = await tryOut(operationId);
      expect(status, operationId).toBe('200 OK');
      expect(response, operationId).not.toEqual({});
    }
  });

  test('without a key the page shows what the API says to that', async () => {
    const { status, body } = await tryOut('getCurrentNetwork');
    expect(status).toBe('401 Unauthorized');
    expect(JSON.parse(body)).toEqual({ statusCode: 401, message: 'x-api-key is missing from header' });
    // The browser itself tells of responses that are errors.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  test('there are samples for curl, the client, fetch and Python', async () => {
    await open('getBalanceByAddress');
    const operation = page.locator('section[id$="/getBalanceByAddress"]');
    for (const [group, client, text] of [
      ['Code Examples', '@kasgres/client', "client.get('/v1/rpc/getBalanceByAddress/{address}'"],
      ['JavaScript', 'Fetch', `fetch('${harness.api.url}/v1/rpc/getBalanceByAddress/`],
      ['Python', 'Requests', `requests.get( "${harness.api.url}/v1/rpc/getBalanceByAddress/`],
      ['Shell', 'Curl', `curl ${harness.api.url}/v1/rpc/getBalanceByAddress/`],
    ] as const) {
      await operation
        .getByRole('button', { name: /Curl|client$|Fetch|Requests/ })
        .first()
        .click();
      await page.getByRole('group', { name: group }).getByRole('option', { name: client, exact: true }).click();
      await expect.poll(async () => (await operation.innerText()).replaceAll(/\s+/g, ' ')).toContain(text);
    }
  });

  test('search finds an operation by what it is about', async () => {
    await page.goto(`${harness.api.url}/docs`);
    await keyInput().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Enter search query' }).fill('UTXOs of an address');
    await page.getByRole('option', { name: /UTXOs of an address at the sink/ }).click();
    await expect.poll(() => page.url()).toMatch(/#tag\/address\/listAddressUtxos$/);
  });

  test('it follows the colours of the system, and fits on a phone', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${harness.api.url}/docs`);
    await page.getByRole('heading', { name: 'Kasgres' }).waitFor();
    expect(await page.evaluate('document.body.classList.contains("dark-mode")')).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('the key is kept until the tab is closed', async () => {
    await enterKey(harness.api.key);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(harness.api.key);
    await page.reload();
    await expect.poll(() => keyInput().inputValue()).toBe(harness.api.key);
    const { status } = await tryOut('getCurrentNetwork');
    expect(status).toBe('200 OK');

    const other = await page.context().newPage();
    await other.goto(`${harness.api.url}/docs`);
    const input = other.locator('.scalar-password-input').first();
    await input.waitFor();
    expect(await input.inputValue()).toBe('');
  });
});
