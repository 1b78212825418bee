/**
 * /docs in a real browser, from the real API process: somebody enters a key, tries a call, and reads the response. Skipped, and said so,
 * where there is no Chromium.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, openHarness } from '../api/harness.ts';
import { hasChromium, launchChromium } from './chromium.ts';

describe.skipIf(!hasChromium)('/docs', () => {
  let harness: Harness;
  let browser: Browser;
  let page: Page;
  let address: string;
  /** What the page asked for, and what it complained of. */
  let requested: string[];
  let complaints: string[];

  beforeAll(async () => {
    harness = await openHarness({ rounds: 40, variables: { EXPLORER: 'false' } });
    await harness.indexer.stop();
    const script = await harness.database.kysely
      .selectFrom('balances')
      .innerJoin('scripts', 'scripts.id', 'balances.script_id')
      .select('scripts.address')
      .where('scripts.address', 'is not', null)
      .where('balances.balance', '>', 0n)
      .limit(1)
      .executeTakeFirstOrThrow();
    address = script.address as string;
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.close();
  });

  beforeEach(async () => {
    // Each test has a new profile: nothing is stored yet.
    const context = await browser.newContext();
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

  async function enterKey(key: string): Promise<void> {
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByLabel('auth-apikey-value').or(page.getByLabel('Value:')).fill(key);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
  }

  /** Opens an operation, fills in its parameters, sends it, and gives the status and the body that the page shows. */
  async function tryOut(
    operationId: string,
    parameters: Record<string, string>,
  ): Promise<{ status: string; body: string }> {
    const operation = page.locator(`[id$="-${operationId}"]`);
    await operation.locator('.opblock-summary-control').click();
    for (const [name, value] of Object.entries(parameters)) {
      await operation.locator(`[data-param-name="${name}"] input`).fill(value);
    }
    await operation.getByRole('button', { name: 'Execute' }).click();
    const response = operation.locator('.live-responses-table');
    await response.waitFor();
    return {
      status: (await response.locator('.response-col_status').last().innerText()).trim(),
      body: await response.locator('.highlight-code code').first().innerText(),
    };
  }

  test('/ leads to it without the explorer', async () => {
    await page.goto(`${harness.api.url}/`);
    expect(page.url()).toBe(`${harness.api.url}/docs`);
    await page.getByText('Kasgres').first().waitFor();
  });

  test('a call with the key shows the response of the API, and how long it took', async () => {
    await page.goto(`${harness.api.url}/docs`);
    await enterKey(harness.api.key);
    const shown = await tryOut('getBalanceByAddress', { address });
    const { json } = await harness.api.request(`/v1/rpc/getBalanceByAddress/${address}`);
    expect(shown.status).toMatch(/^200/);
    expect(JSON.parse(shown.body)).toEqual(json);
    await expect.poll(() => page.getByText(/^\d+ ms$/).count()).toBe(1);
  });

  test('examples work as they stand', async () => {
    await page.goto(`${harness.api.url}/docs`);
    await enterKey(harness.api.key);
    for (const operationId of [
      'getTransaction',
      'getAddress',
      'listAddressUtxos',
      'getBlocksByDaaScore',
      'getBlocks',
    ]) {
      const { status, body } = await tryOut(operationId, {});
      expect(status, operationId).toMatch(/^200/);
      expect(JSON.parse(body), operationId).not.toEqual({});
    }
  });

  test('without a key the page shows what the API says to that', async () => {
    await page.goto(`${harness.api.url}/docs`);
    const shown = await tryOut('getCoinSupply', {});
    expect(JSON.parse(shown.body)).toEqual({ statusCode: 401, message: 'x-api-key is missing from header' });
    // The browser itself tells of responses that are errors.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  const isAuthorized = () => page.locator('.auth-wrapper .authorize.locked').count();

  test('the key is forgotten with the page', async () => {
    await page.goto(`${harness.api.url}/docs`);
    await enterKey(harness.api.key);
    expect(await isAuthorized()).toBe(1);
    expect(await page.evaluate('localStorage.length')).toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'Authorize', exact: true }).waitFor();
    expect(await isAuthorized()).toBe(0);
  });

  test('the key is kept while somebody wants it kept, and no longer', async () => {
    await page.goto(`${harness.api.url}/docs`);
    const box = page.getByLabel('Keep the key in this browser');
    await box.check();
    await enterKey(harness.api.key);
    await page.reload();
    await expect.poll(isAuthorized).toBe(1);
    expect(await box.isChecked()).toBe(true);
    expect((await tryOut('getCurrentNetwork', {})).status).toMatch(/^200/);

    await box.uncheck();
    expect(await page.evaluate('localStorage.length')).toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'Authorize', exact: true }).waitFor();
    expect(await isAuthorized()).toBe(0);
  });
});
