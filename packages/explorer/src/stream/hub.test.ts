import { afterEach, expect, test, vi } from 'vitest';
import { StreamHub } from './hub.ts';
import type { FromHub, PageState } from './messages.ts';

// The package is its build, which may be older than its source.
vi.mock('@kasgres/client', async () => import('../../../client/src/index.ts'));

afterEach(() => void vi.unstubAllGlobals());

const SINK = { network: 'mainnet', sink: 'ab', blueScore: '1', timestamp: 1 };

/**
 * A server that refuses an address, or requests with a key. Returns the bodies of the streams that
 * it opened.
 */
function stubServer({ refusesKeys = false } = {}) {
  const opened: string[][] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    if (refusesKeys && request.headers.get('x-api-key') !== null)
      return Response.json({ statusCode: 403, message: 'not with this key' }, { status: 403 });
    if (request.method === 'GET') return Response.json(SINK);
    const { addresses } = (await request.json()) as { addresses: string[] };
    const wrong = addresses.indexOf('wrong');
    if (wrong !== -1) {
      const details = [{ path: `addresses.${wrong}`, message: 'must be an address' }];
      return Response.json({ statusCode: 400, message: 'The request is not valid', details }, { status: 400 });
    }
    opened.push(addresses);
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('event: heartbeat\nid: ab\ndata: {}\n\n')),
    });
    return new Response(body);
  });
  return opened;
}

function openPage(hub: StreamHub, state: Partial<PageState>) {
  const messages: FromHub[] = [];
  const { update, close } = hub.connect((message) => messages.push(message));
  const show = (more: Partial<PageState>) =>
    update({ isVisible: true, apiKey: undefined, addresses: [], wantsMempool: false, ...more });
  show(state);
  return { messages, show, close, wasLost: () => messages.some((one) => one.type === 'connection' && one.isLost) };
}

test('an address that the server refuses ends the stream of its page alone', async () => {
  const opened = stubServer();
  const hub = new StreamHub('http://127.0.0.1');
  const good = openPage(hub, { addresses: ['good'] });
  await vi.waitFor(() => expect(opened).toEqual([['good']]));
  const bad = openPage(hub, { addresses: ['wrong'] });
  await vi.waitFor(() => expect(bad.messages).toContainEqual({ type: 'refused', message: 'The request is not valid' }));
  await vi.waitFor(() => expect(opened.at(-1)).toEqual(['good']));
  expect(good.wasLost()).toBe(false);
  expect(good.messages.some(({ type }) => type === 'refused')).toBe(false);
  // The page shows something else.
  bad.show({ addresses: ['other'] });
  await vi.waitFor(() => expect(opened.at(-1)).toEqual(['good', 'other']));
  for (const page of [good, bad]) page.close();
});

test('a key that the server refuses ends the stream of the pages with that key', async () => {
  const opened = stubServer({ refusesKeys: true });
  const hub = new StreamHub('http://127.0.0.1');
  const withKey = openPage(hub, { apiKey: 'a key' });
  await vi.waitFor(() => expect(withKey.messages).toContainEqual({ type: 'refused', message: 'not with this key' }));
  const without = openPage(hub, { addresses: ['good'] });
  await vi.waitFor(() => expect(opened).toEqual([['good']]));
  expect(without.wasLost()).toBe(false);
  for (const page of [withKey, without]) page.close();
});
