import { afterEach, expect, test, vi } from 'vitest';
import { StreamHub } from './hub.ts';
import type { FromHub, PageState } from './messages.ts';

// The package is its build, which may be older than its source.
vi.mock('@kasgres/client', async () => import('../../../client/src/index.ts'));

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const SINK = { network: 'mainnet', sink: 'ab', blueScore: '1', timestamp: 1 };

/**
 * A server that refuses an address, or requests with a key. Returns the addresses and cursors of
 * the streams that it opened, and what the latest one sends.
 */
function stubServer({ refusesKeys = false } = {}) {
  const opened: string[][] = [];
  const cursors: (string | null)[] = [];
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const sink = { ...SINK };
  vi.stubGlobal('fetch', async (request: Request) => {
    if (refusesKeys && request.headers.get('x-api-key') !== null)
      return Response.json({ statusCode: 403, message: 'not with this key' }, { status: 403 });
    if (request.method === 'GET') return Response.json(sink);
    const { addresses } = (await request.json()) as { addresses: string[] };
    const wrong = addresses.indexOf('wrong');
    if (wrong !== -1) {
      const details = [{ path: `addresses.${wrong}`, message: 'must be an address' }];
      return Response.json({ statusCode: 400, message: 'The request is not valid', details }, { status: 400 });
    }
    opened.push(addresses);
    cursors.push(request.headers.get('last-event-id'));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        streams.push(controller);
        controller.enqueue(new TextEncoder().encode('event: heartbeat\nid: ab\ndata: {}\n\n'));
      },
    });
    return new Response(body);
  });
  const send = (event: string, data: object): void =>
    streams.at(-1)?.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
  return { opened, cursors, sink, send, end: () => streams.at(-1)?.close() };
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
  const { opened } = stubServer();
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
  const { opened } = stubServer({ refusesKeys: true });
  const hub = new StreamHub('http://127.0.0.1');
  const withKey = openPage(hub, { apiKey: 'a key' });
  await vi.waitFor(() => expect(withKey.messages).toContainEqual({ type: 'refused', message: 'not with this key' }));
  const without = openPage(hub, { addresses: ['good'] });
  await vi.waitFor(() => expect(opened).toEqual([['good']]));
  expect(without.wasLost()).toBe(false);
  for (const page of [withKey, without]) page.close();
});

test('a hidden page receives nothing until it is shown, and is then told the present state', async () => {
  const { opened, send } = stubServer();
  const hub = new StreamHub('http://127.0.0.1');
  const [visible, hidden] = [openPage(hub, { wantsMempool: true }), openPage(hub, { wantsMempool: true })];
  await vi.waitFor(() => expect(opened).toHaveLength(1));
  hidden.show({ isVisible: false, wantsMempool: true });
  hidden.messages.length = 0;
  send('mempool', { added: [], removed: [], isSnapshot: true });
  await vi.waitFor(() => expect(visible.messages.at(-1)?.type).toBe('events'));
  expect(hidden.messages).toEqual([]);
  hidden.show({ wantsMempool: true });
  expect(hidden.messages.map(({ type }) => type)).toEqual(['begin', 'events']);
  for (const page of [visible, hidden]) page.close();
});

test('after a long silence, the stream begins at the sink instead of catching up', async () => {
  const { cursors, sink, end } = stubServer();
  const hub = new StreamHub('http://127.0.0.1');
  const page = openPage(hub, {});
  await vi.waitFor(() => expect(cursors).toEqual(['ab']));
  sink.sink = 'cd';
  end();
  await vi.waitFor(() => expect(cursors).toEqual(['ab', 'ab']), { timeout: 5000 });
  const slept = Date.now() + 3_600_000;
  vi.spyOn(Date, 'now').mockImplementation(() => slept);
  end();
  await vi.waitFor(() => expect(cursors).toEqual(['ab', 'ab', 'cd']), { timeout: 5000 });
  expect(page.messages.filter(({ type }) => type === 'begin')).toHaveLength(2);
  expect(page.wasLost()).toBe(false);
  page.close();
});
