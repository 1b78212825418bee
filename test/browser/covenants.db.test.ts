/**
 * Pages of the explorer about covenants, programs, templates, lanes and protocols: of a simulated
 * chain, and of one with hostile texts.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, openHarness } from '../api/harness.ts';
import { hasChromium, launchChromium } from './chromium.ts';
import { HOSTILE_TEXT, IDS, OPERATIONS, respondWithCovenants, SHOWN_TEXT } from './covenant-chain.ts';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A double does not hold it. */
const LONG_NUMBER = '12345678901234567891';

describe.skipIf(!hasChromium)('the explorer', () => {
  let harness: Harness;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let requested: string[];
  let complaints: string[];

  beforeAll(async () => {
    harness = await openHarness({
      rounds: 80,
      simulation: { applicationRate: 0.5 },
      variables: { ANONYMOUS_RATE_RU: '100000' },
    });
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

  async function expectPage(path: string, shown: RegExp): Promise<void> {
    await page.goto(`${harness.api.url}${path}`);
    await expect.poll(() => page.locator('main').innerText(), { message: path, timeout: 15_000 }).toMatch(shown);
    await expect.poll(() => page.locator('.skeleton').count(), { message: path, timeout: 15_000 }).toBe(0);
    expect(await page.locator('[role=alert]').allInnerTexts(), path).toEqual([]);
  }

  /**
   * Responds to requests about covenants as if the chain had some. The documents of pages come from
   * the API, which does not know them.
   */
  async function useCovenantChain(): Promise<void> {
    await page.route('**/v1/**', async (route) => {
      const json = respondWithCovenants(new URL(route.request().url()).pathname);
      await (json === undefined ? route.fallback() : route.fulfill({ json }));
    });
    await page.route(/\/(?:covenants|programs|templates|lanes)\/[0-9a-f]+(?:\?.*)?$/, async (route) => {
      if (route.request().resourceType() !== 'document') return route.fallback();
      return route.fulfill({ response: await route.fetch({ url: `${harness.api.url}/` }) });
    });
  }

  const pages: readonly [path: string, shown: RegExp][] = [
    ['/covenants', /ended[\s\S]*incomplete[\s\S]*25/],
    ['/covenants?show=events', /burn[\s\S]*transition[\s\S]*genesis/],
    [`/covenants/${IDS.covenant}`, /Origin[\s\S]*Timeline[\s\S]*burn[\s\S]*next_amount[\s\S]*0.01 KAS[\s\S]*0.001 KAS/],
    [`/programs/${IDS.program}`, /introspection[\s\S]*83 bytes[\s\S]*OpTxInputIndex[\s\S]*next_amount[\s\S]*1 KAS/],
    ['/templates', /Spends[\s\S]*4/],
    [`/templates/${IDS.template}`, /Applies if[\s\S]*push 0 is 0a[\s\S]*look-alike[\s\S]*Covenants/],
    ['/lanes', /6b726f6e[\s\S]*“kron”[\s\S]*1,234/],
    [`/lanes/${IDS.namespace}`, /1,234[\s\S]*987,654[\s\S]*None of its transactions/],
    ['/protocols', /krc-20[\s\S]*303[\s\S]*10\.10%[\s\S]*Covenant events[\s\S]*Operations[\s\S]*mint/],
  ];

  test('every page shows its data and is accessible, dark and light', async () => {
    await openContext({ colorScheme: 'dark' });
    await useCovenantChain();
    for (const [path, shown] of pages) {
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

  test('the search finds protocols and ticks, also by the URLs of their pages', async () => {
    await page.goto(harness.api.url);
    for (const [text, parameters] of [
      ['KRC-20', 'protocol=krc-20'],
      [`${harness.api.url}/protocols?protocol=krc-20`, 'protocol=krc-20'],
      [`${harness.api.url}/protocols?protocol=krc-20&tick=TEST`, 'protocol=krc-20&tick=TEST'],
    ] as const) {
      await page.getByRole('combobox').fill(text);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/protocols?${parameters}`);
      await page.goto(harness.api.url);
    }
  });

  test('every page fits on a phone', async () => {
    await openContext({ viewport: { width: 360, height: 740 } });
    await useCovenantChain();
    for (const [path, shown] of pages) {
      await expectPage(path, shown);
      const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
      const [content = 0, window = 0] = await page.evaluate<number[]>(widths);
      expect({ path, isWithin: content <= window }).toEqual({ path, isWithin: true });
    }
  });

  test('a chain without covenants has pages that say so', async () => {
    await page.route(/\/v1\/(?:covenants|covenant-events|templates|lanes|inscriptions)(?:\?.*)?$/, (route) => {
      const metadata = { limit: 20, hasMore: false };
      return route.fulfill({
        json: { covenants: [], events: [], templates: [], lanes: [], inscriptions: [], metadata },
      });
    });
    await page.route('**/v1/network/protocols?*', (route) => route.fulfill({ json: { history: [], hasMore: false } }));
    for (const [path, shown] of [
      ['/covenants', /No output of the indexed blocks is bound to a covenant/],
      ['/covenants?show=events', /No output of the indexed blocks is bound to a covenant/],
      ['/covenants?live=true', /No covenants match/],
      ['/templates', /No spend of the indexed blocks reveals a program/],
      ['/lanes', /No transaction of the indexed blocks belongs to a user lane/],
      ['/protocols', /states an operation of a known protocol[\s\S]*No transaction states an operation/],
    ] as const)
      await expectPage(path, shown);
  });

  test('a person can walk from a covenant to its programs, their template, and its covenants', async () => {
    const { covenants } = (await harness.api.get('/v1/covenants?limit=50&complete_only=true')).json as {
      covenants: { covenantId: string; template: string | null; eventCount: number }[];
    };
    const longest = covenants
      .filter(({ template }) => template !== null)
      .sort((one, other) => other.eventCount - one.eventCount)[0];
    const { covenantId, template, eventCount } = longest ?? expect.fail('no covenant has a program');
    await expectPage(`/covenants/${covenantId}`, /Origin[\s\S]*Genesis[\s\S]*Timeline/);
    expect(await page.locator('.timeline > li').count()).toBe(Math.min(10, eventCount));
    await page.locator('.timeline a[href^="/programs/"]').first().click();
    await expect.poll(() => page.locator('h1').innerText()).toMatch(/^Program/);
    await expect.poll(() => page.locator('main').innerText()).toMatch(/Length[\s\S]*\d bytes[\s\S]*Instructions/);
    await page.locator('main a[href^="/templates/"]').first().click();
    await expect.poll(() => page.locator('h1').innerText()).toMatch(/^Template/);
    await expectPage(`/templates/${template}`, new RegExp(covenantId.slice(0, 8)));
    for (const [path, shown] of [
      ['/covenants?live=true', /live/],
      ['/covenants?show=created', /Covenant/],
      ['/covenants?show=events', /genesis/],
      ['/templates', /Covenants/],
      ['/lanes', /Gas/],
      ['/protocols?interval=hour', /Share of all[\s\S]*Operations[\s\S]*(?:payload|program of input)/],
    ] as const) {
      await expectPage(path, shown);
      expect(await page.locator('main table tbody tr').count(), path).toBeGreaterThan(0);
    }
    await page.goto(`${harness.api.url}/lanes`);
    await page.locator('main tbody a').first().click();
    await expect.poll(() => page.locator('main').innerText()).toMatch(/Transactions[\s\S]*accepted/);
  });

  test('a program that does not parse says from where on', async () => {
    await useCovenantChain();
    const { program } = respondWithCovenants(`/v1/programs/${IDS.program}`) as { program: object };
    await page.route('**/v1/programs/*', (route) =>
      route.fulfill({ json: { program: { ...program, template: null, length: 2, bytes: 'b94c' } } }),
    );
    await expectPage(`/programs/${IDS.program}`, /1 instruction\. From byte 1 on, it does not parse\./);
  });

  test('a timeline shows what changed from state to state', async () => {
    await useCovenantChain();
    await expectPage(`/covenants/${IDS.covenant}`, /next_amount/);
    const changes = page.locator('.timeline > li').locator('.changes tbody tr');
    await expect
      .poll(() => changes.allInnerTexts())
      .toEqual([
        '4 next_amount\t0.01 KAS\t0.001 KAS',
        '4 next_amount\t0.3 KAS\t0.01 KAS',
        '4 next_amount\t1 KAS\t0.3 KAS',
      ]);
    const first = page.locator('.timeline > li').last();
    expect(await first.innerText()).toContain('No UTXOs of it before');
    // Each program is loaded once, also if two states are compared with it.
    const programs = requested.filter((url) => url.includes('/v1/programs/'));
    expect(new Set(programs).size).toBe(programs.length);
  });

  test('a program shows the pushes that differ within its template', async () => {
    await useCovenantChain();
    await expectPage(`/programs/${IDS.program}`, /Marked pushes differ in 3 other programs/);
    expect(await page.locator('tr.varying').allInnerTexts()).toEqual([
      expect.stringMatching(/^19\tOpData4\t4\tnext_amount 1 KAS/),
    ]);
    await page.getByRole('link', { name: 'Differing pushes' }).click();
    await expect.poll(() => page.locator('.disassembly tbody tr').count()).toBe(1);
    // The name applies to programs with its required constant; that of the look-alike does not.
    expect(await page.locator('h1').innerText()).not.toContain('look-alike');
  });

  test('texts that others wrote show what cannot be seen, and load nothing', async () => {
    await useCovenantChain();
    await expectPage(`/programs/${IDS.program}`, /Marked pushes/);
    expect(await page.locator('h1').innerText()).toContain(SHOWN_TEXT);
    for (const path of [`/templates/${IDS.template}`, '/templates', `/covenants/${IDS.covenant}`, '/covenants']) {
      await expectPage(path, /img src/);
      expect(await page.locator('main').innerText(), path).not.toMatch(/[\u202e\u200b]/);
    }
    await expectPage('/protocols', /kspr\s+undecodable[\s\S]*kns\s+none\s/);
    for (const summary of await page.locator('details summary').all()) await summary.click();
    const shown = await page.locator('main').innerText();
    expect(shown.split(SHOWN_TEXT)).toHaveLength(4);
    expect(shown).not.toContain(HOSTILE_TEXT);
  });

  test('a transaction shows its covenant, programs, operations, payload and lane', async () => {
    const { json } = await harness.api.get('/v1/transactions?limit=1');
    const [found] = json['transactions'] as { transactionId: string }[];
    const { transactionId = '' } = found ?? {};
    await useCovenantChain();
    await page.route(`**/v1/transactions/${transactionId}?*`, async (route) => {
      expect(route.request().url()).toContain('include=tags%2Cprograms');
      const response = await route.fetch();
      const body = (await response.json()) as { transaction: { inputs: object[]; outputs: object[] } };
      const program = { hash: IDS.program, template: IDS.template };
      const previousOutput = { transactionId, index: 0, amount: '1', scriptPublicKeyAddress: null };
      Object.assign(body.transaction, {
        subnetworkId: `${IDS.namespace}${'0'.repeat(32)}`,
        inputs: [
          { index: 0, transactionId, signatureScript: '', sequence: '0', sigOpCount: 0, program, previousOutput },
        ],
        protocols: OPERATIONS,
        payload: `0x${Buffer.from('{"a":1}').toString('hex')}`,
        decodedPayload: { text: '{"a":1}', json: { a: HOSTILE_TEXT, amount: 'LONG' } },
      });
      for (const output of body.transaction.outputs) {
        Object.assign(output, {
          covenant: { authorizingInput: 0, covenantId: IDS.covenant },
          covenantEvent: 'genesis',
        });
      }
      await route.fulfill({ response, body: JSON.stringify(body).replace('"LONG"', LONG_NUMBER) });
    });
    await expectPage(
      `/transactions/${transactionId}`,
      /covenant, genesis[\s\S]*Protocols[\s\S]*krc-20[\s\S]*mint[\s\S]*Programs/,
    );
    for (const summary of await page.locator('details summary').all()) await summary.click();
    const main = page.locator('main');
    for (const path of [
      `/covenants/${IDS.covenant}`,
      `/programs/${IDS.program}`,
      `/lanes/${IDS.namespace}`,
      '/protocols?protocol=krc-20',
    ])
      expect(await main.locator(`a[href="${path}"]`).count(), path).toBeGreaterThan(0);
    expect((await main.innerText()).split(SHOWN_TEXT).length).toBeGreaterThan(4);
    expect(await main.innerText()).toContain(`"amount": ${LONG_NUMBER}`);
    expect(await main.innerText()).not.toMatch(/[\u202e\u200b]/);
  });

  test('a transaction has no links to programs that the index does not keep, and asks for none', async () => {
    const { json } = await harness.api.get('/v1/inscriptions?protocol=krc-20&limit=100');
    const inscriptions = json['inscriptions'] as { transactionId: string; source: unknown }[];
    const { transactionId } = inscriptions.find(({ source }) => source !== 'payload') ?? expect.fail('no envelope');
    await expectPage(`/transactions/${transactionId}`, /Protocols[\s\S]*Programs[\s\S]*ordinary program/);
    expect(await page.locator('main a[href^="/programs/"], main a[href^="/templates/"]').count()).toBe(0);
    expect(requested.filter((url) => url.includes('/v1/templates/'))).toEqual([]);
  });

  test('a transaction that is not accepted has no links to programs that only it reveals', async () => {
    const { json } = await harness.api.get('/v1/transactions?limit=1');
    const [found] = json['transactions'] as { transactionId: string }[];
    const { transactionId = '' } = found ?? {};
    await page.route(`**/v1/transactions/${transactionId}?*`, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { transaction: object };
      const previousOutput = { transactionId, index: 0, amount: '1', scriptPublicKeyAddress: null };
      // A program of OpTxInputIndex.
      const input = { index: 0, transactionId, signatureScript: '01b9', sequence: '0', sigOpCount: 0, previousOutput };
      const programs = [{ hash: 'ab'.repeat(32), template: 'cd'.repeat(32) }];
      const inputs = programs.map((program) => ({ ...input, program }));
      Object.assign(body.transaction, { inputs, isAccepted: false, acceptingBlockHash: null });
      await route.fulfill({ response, json: body });
    });
    await expectPage(`/transactions/${transactionId}`, /Programs[\s\S]*abababab…ababab[\s\S]*not indexed/);
    expect(await page.locator('main a[href^="/programs/"], main a[href^="/templates/"]').count()).toBe(0);
  });

  test('instructions of another kind are shown from the first one', async () => {
    await useCovenantChain();
    await expectPage(`/programs/${IDS.program}?from=5`, /Instructions/);
    await page.getByRole('link', { name: 'Pushes', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('from'));
  });

  test('charts of protocols begin with the second interval that is over', async () => {
    const { json } = await harness.api.get('/v1/network/protocols?interval=hour');
    const [interval] = (json['history'] as { protocols: object[] }[]).slice(-1);
    const isOver = [true, true, false];
    for (const [count, charts] of [
      [1, 0],
      [2, 1],
    ] as const) {
      await page.route('**/v1/network/protocols?*', (route) => {
        const history = isOver.slice(2 - count).map((over, day) => ({
          ...interval,
          start: Date.UTC(2026, 0, 1 + day),
          isOpen: !over,
        }));
        return route.fulfill({ json: { history, hasMore: false } });
      });
      await expectPage('/protocols', /since Jan 1, 2026[\s\S]*Operations/);
      expect(Math.min(1, await page.locator('.chart').count())).toBe(charts);
    }
  });

  test('ticks stay on one line on a phone', async () => {
    await openContext({ viewport: { width: 360, height: 740 } });
    const ticks = ['GHOST', 'cd'.repeat(32)];
    await page.route('**/v1/inscriptions?*', (route) => {
      const inscriptions = ticks.map((tick) => ({
        transactionId: IDS.covenant,
        source: { input: 0 },
        protocol: 'kns',
        operation: 'transfer',
        tick,
        body: null,
        isAccepted: true,
        timestamp: 0,
      }));
      return route.fulfill({ json: { inscriptions, metadata: { hasMore: false, count: 2 } } });
    });
    await expectPage('/protocols', /GHOST/);
    const links = page.locator('main td a[href*="tick="]');
    expect(await links.allInnerTexts()).toEqual(['GHOST', 'cdcdcdcd…cdcdcd']);
    for (const link of await links.all()) expect((await link.boundingBox())?.height).toBeLessThan(30);
  });

  test('an address lists its covenants', async () => {
    const { json } = await harness.api.get('/v1/addresses?limit=1');
    const [found] = json['addresses'] as { address: string }[];
    const path = `/addresses/${found?.address}?tab=covenants`;
    await expectPage(path, /No UTXO of this address is bound to a covenant/);
    await page.route('**/v1/addresses/*/covenants?*', (route) =>
      route.fulfill({ json: respondWithCovenants('/v1/covenants') as object }),
    );
    await expectPage(path, /ended[\s\S]*incomplete/);
    // The browser itself tells of responses that are errors: the address may be in no cluster.
    expect(complaints.splice(0).filter((text) => !/status of 404/.test(text))).toEqual([]);
  });
});
