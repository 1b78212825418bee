/** Creates fake nodes and clients that are closed at the end of the test. */
import { onTestFinished } from 'vitest';
import { NodeClient, type NodeClientOptions } from '../node-client.ts';
import { FakeNode, type OnRequest } from './fake-node.ts';

export async function startNode(onRequest: OnRequest, port = 0): Promise<FakeNode> {
  const node = await FakeNode.start(onRequest, port);
  onTestFinished(() => node.stop());
  return node;
}

/** Reconnects quickly, so that tests are short. */
export function connect(url: string, options: Partial<NodeClientOptions> = {}): NodeClient {
  const client = new NodeClient({ url, deadlineMs: 5_000, maxPauseMs: 200, ...options });
  onTestFinished(() => client.close());
  return client;
}
