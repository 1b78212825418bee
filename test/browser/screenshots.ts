/**
 * Takes the pictures of docs/images from the demo: `npm start`, then `npx node
 * test/browser/screenshots.ts http://127.0.0.1:3000` after an hour, when its charts have something
 * to show.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../support/client.ts';
import { launchChromium } from './chromium.ts';

const IMAGES = join(import.meta.dirname, '../../docs/images');
const SETTLED_MS = 4000;

const [baseUrl = 'http://127.0.0.1:3000'] = process.argv.slice(2);
const client = createClient({ baseUrl });
const { tags } = await client.get('/v1/tags', { params: { query: { limit: 50 } } });
const address = tags.find(({ labels }) => labels.includes('exchange'))?.address ?? '';
const { blocks } = await client.get('/v1/blocks', { params: { query: { limit: 40, chain_only: true } } });
const { covenants } = await client.get('/v1/covenants', { params: { query: { limit: 100, live_only: true } } });
const covenant = covenants.toSorted((one, other) => other.eventCount - one.eventCount)[0];

const PICTURES = [
  { name: 'explorer', path: '/', colorScheme: 'dark', width: 1200, height: 860 },
  { name: 'explorer-light', path: '/', colorScheme: 'light', width: 1200, height: 860 },
  { name: 'explorer-block', path: `/blocks/${blocks.at(-1)?.hash}`, colorScheme: 'light', width: 1200, height: 860 },
  { name: 'explorer-address', path: `/addresses/${address}`, colorScheme: 'dark', width: 1200, height: 860 },
  {
    name: 'explorer-covenant',
    path: `/covenants/${covenant?.covenantId}`,
    colorScheme: 'light',
    width: 1200,
    height: 1000,
  },
  { name: 'explorer-charts', path: '/charts', colorScheme: 'light', width: 1200, height: 860 },
  { name: 'explorer-phone', path: '/', colorScheme: 'dark', width: 360, height: 740 },
] as const;

await mkdir(IMAGES, { recursive: true });
const browser = await launchChromium();
for (const { name, path, colorScheme, width, height } of PICTURES) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height } });
  const page = await context.newPage();
  await page.goto(baseUrl + path);
  await page.waitForTimeout(SETTLED_MS);
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  await context.close();
}
await browser.close();
