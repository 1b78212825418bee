import { describe, expect, it, vi } from 'vitest';
import type { Notification } from './calls.ts';
import { NotifyCommand } from './generated/kaspad_pb.ts';
import { connect, type FakeStream, type KaspadRequest, startNode } from './testing/fake-node.ts';

const daaScoreChanged = (virtualDaaScore: bigint) =>
  ({ case: 'virtualDaaScoreChangedNotification', value: { virtualDaaScore } }) as const;

/** Confirms every subscription. */
function confirm({ id, payload }: KaspadRequest, stream: FakeStream): void {
  stream.respond(id, { case: `${payload.case?.replace('Request', 'Response')}`, value: {} } as never);
}

/** The subscription requests in short: `notifyBlockAdded`, or with `stop` before it. */
function asked(requests: readonly KaspadRequest[]): string[] {
  return requests.map(({ payload }) => {
    const { command } = payload.value as { command: NotifyCommand };
    return `${command === NotifyCommand.NOTIFY_STOP ? 'stop ' : ''}${payload.case?.replace('Request', '')}`;
  });
}

describe('a subscription', () => {
  it('delivers only its topics', async () => {
    const node = await startNode(confirm);
    const client = connect(node.url);
    const onSubscribed = vi.fn<() => void>();
    const received: Notification[] = [];
    client.subscribe(['virtualDaaScoreChanged', 'newBlockTemplate'], (n) => received.push(n), { onSubscribed });
    await expect.poll(() => onSubscribed).toHaveBeenCalledTimes(1);
    const [stream] = node.streams;
    stream?.respond(0n, { case: 'sinkBlueScoreChangedNotification', value: { sinkBlueScore: 1n } });
    stream?.respond(0n, daaScoreChanged(2n));
    stream?.respond(0n, { case: 'newBlockTemplateNotification', value: {} });
    await expect.poll(() => received).toHaveLength(2);
    expect(received[0]).toMatchObject({ topic: 'virtualDaaScoreChanged', message: { virtualDaaScore: 2n } });
    expect(received[1]).toMatchObject({ topic: 'newBlockTemplate' });
    expect(asked(node.requests)).toEqual(['notifyVirtualDaaScoreChanged', 'notifyNewBlockTemplate']);
  });

  it('requests accepted transaction ids if a subscriber needs them', async () => {
    const node = await startNode(confirm);
    const client = connect(node.url);
    client.subscribe(['virtualChainChanged'], () => undefined, { includeAcceptedTransactionIds: true });
    await expect.poll(() => node.requests).toHaveLength(1);
    expect(node.requests[0]?.payload.value).toMatchObject({ includeAcceptedTransactionIds: true });
  });

  it('ends the connection of a node that sends notifications without end', async () => {
    const node = await startNode(confirm);
    const client = connect(node.url);
    const onSubscribed = vi.fn<() => void>();
    client.subscribe(['virtualDaaScoreChanged'], () => undefined, { onSubscribed });
    await expect.poll(() => onSubscribed).toHaveBeenCalledTimes(1);
    const [stream] = node.streams;
    for (let sent = 0; sent < 60_000; sent += 1) stream?.respond(0n, daaScoreChanged(2n));
    await expect.poll(() => stream?.http2Stream.destroyed, { timeout: 10_000 }).toBe(true);
    await expect.poll(() => onSubscribed, { timeout: 5_000 }).toHaveBeenCalledTimes(2);
  });

  it('is renewed on each new stream, and calls onSubscribed', async () => {
    const node = await startNode(confirm);
    const client = connect(node.url);
    const onSubscribed = vi.fn<() => void>();
    const received: Notification[] = [];
    client.subscribe(['virtualDaaScoreChanged'], (n) => received.push(n), { onSubscribed });
    await expect.poll(() => onSubscribed).toHaveBeenCalledTimes(1);
    node.disconnectAll();
    await vi.waitFor(() => expect(onSubscribed).toHaveBeenCalledTimes(2), { timeout: 5_000 });
    node.streams[1]?.respond(0n, daaScoreChanged(7n));
    await expect.poll(() => received).toHaveLength(1);
  });

  it('is retried on a new stream if it is not confirmed', async () => {
    const node = await startNode((request, stream) => {
      if (node.streams.length > 1) confirm(request, stream);
    });
    const onSubscribed = vi.fn<() => void>();
    connect(node.url, { deadlineMs: 100 }).subscribe(['blockAdded'], () => undefined, { onSubscribed });
    await vi.waitFor(() => expect(onSubscribed).toHaveBeenCalledTimes(1), { timeout: 5_000 });
    expect(node.streams).toHaveLength(2);
  });

  it('stops topics without other subscribers when it is closed directly or by its signal', async () => {
    const node = await startNode(confirm);
    const client = connect(node.url);
    await client.waitUntilConnected();
    const abort = new AbortController();
    client.subscribe(['blockAdded', 'newBlockTemplate'], () => undefined, { signal: abort.signal });
    const other = client.subscribe(['blockAdded'], () => undefined);
    abort.abort();
    await expect.poll(() => asked(node.requests)).toContain('stop notifyNewBlockTemplate');
    expect(asked(node.requests)).not.toContain('stop notifyBlockAdded');
    other.close();
    await expect.poll(() => asked(node.requests)).toContain('stop notifyBlockAdded');
  });

  it('survives a handler that throws', async () => {
    const node = await startNode(confirm);
    const client = connect(node.url);
    const onSubscribed = vi.fn<() => void>();
    const scores: bigint[] = [];
    client.subscribe(
      ['virtualDaaScoreChanged'],
      (notification) => {
        if (notification.topic === 'virtualDaaScoreChanged') scores.push(notification.message.virtualDaaScore);
        throw new Error('a bug of the subscriber');
      },
      { onSubscribed },
    );
    await expect.poll(() => onSubscribed).toHaveBeenCalledTimes(1);
    node.streams[0]?.respond(0n, daaScoreChanged(1n));
    node.streams[0]?.respond(0n, daaScoreChanged(2n));
    await expect.poll(() => scores).toEqual([1n, 2n]);
    expect(client.connected).toBe(true);
  });
});
