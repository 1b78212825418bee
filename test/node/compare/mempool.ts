/** What is live from the node: mempool entries by id and by address, and block templates. */
import { type NodeClient, NodeRpcError } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { meet } from '../differences.ts';
import { expectedMempoolEntry, expectedTemplate } from '../expected.ts';
import { firstDifference } from './first-difference.ts';

export const FLAGS = [
  { includeOrphanPool: false, filterTransactionPool: false },
  { includeOrphanPool: true, filterTransactionPool: false },
  { includeOrphanPool: true, filterTransactionPool: true },
];
/** The node refuses these two together, the API with 400. */
export const REFUSED_FLAGS = { includeOrphanPool: false, filterTransactionPool: true };

export async function compareMempoolEntries(
  node: NodeClient,
  api: ApiClient,
  ids: readonly string[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const transactionId of ids) {
    for (const flags of FLAGS) {
      const expected = await nodeEntry(node, transactionId, flags);
      const answer = await api.post('/v1/rpc/getMempoolEntry', { transactionId, ...flags });
      const difference =
        expected === undefined
          ? firstDifference(404, answer.status)
          : firstDifference({ status: 200, body: { mempoolEntry: expected } }, answer);
      if (difference !== undefined)
        wrong.push(`mempool entry ${transactionId} ${JSON.stringify(flags)}: ${difference}`);
    }
    const refused = await api.post('/v1/rpc/getMempoolEntry', { transactionId, ...REFUSED_FLAGS });
    if (refused.status !== 400) wrong.push(`mempool entry with flags that the node refuses: status ${refused.status}`);
  }
  return wrong;
}

async function nodeEntry(
  node: NodeClient,
  txId: string,
  flags: (typeof FLAGS)[number],
): Promise<Record<string, unknown> | undefined> {
  try {
    const { entry } = await node.call('getMempoolEntry', { txId, ...flags });
    return entry && expectedMempoolEntry(entry);
  } catch (error) {
    if (error instanceof NodeRpcError && error.message === `Transaction ${txId} not found`) return undefined;
    throw error;
  }
}

export async function compareMempoolByAddresses(
  node: NodeClient,
  api: ApiClient,
  addresses: readonly string[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const flags of FLAGS) {
    const { entries } = await node.call('getMempoolEntriesByAddresses', { addresses: [...addresses], ...flags });
    const answer = await api.post('/v1/rpc/getMempoolEntriesByAddresses', { addresses, ...flags });
    if (answer.status !== 200) {
      wrong.push(`mempool entries by addresses ${JSON.stringify(flags)}: status ${answer.status}`);
      continue;
    }
    const listed = answer.body['entries'] as Record<string, unknown>[];
    let at = 0;
    const seen = new Set<string>();
    // For each address its entries that no address before it had, those that it sends first: in each of these groups no order is fixed.
    for (const address of addresses) {
      const found = entries.find((entry) => entry.address === address);
      for (const group of [found?.sending ?? [], found?.receiving ?? []]) {
        const expected = group.map(expectedMempoolEntry).filter((entry) => !seen.has(idOf(entry)));
        for (const entry of expected) seen.add(idOf(entry));
        const actual = listed.slice(at, at + expected.length);
        at += expected.length;
        if (expected.map(idOf).join() !== actual.map(idOf).join()) meet('mempoolOrder');
        const difference = firstDifference(byId(expected), byId(actual));
        if (difference !== undefined)
          wrong.push(`mempool entries of ${address} ${JSON.stringify(flags)}: ${difference}`);
      }
    }
    if (listed.length > at) wrong.push(`mempool entries by addresses: ${listed.length - at} more than the node has`);
  }
  return wrong;
}

export function idOf(entry: Record<string, unknown>): string {
  return (entry as { transaction: { verboseData: { transactionId: string } } }).transaction.verboseData.transactionId;
}

export function byId(entries: Record<string, unknown>[]): Record<string, unknown>[] {
  return entries.toSorted((left, right) => (idOf(left) < idOf(right) ? -1 : 1));
}

export async function compareTemplate(
  node: NodeClient,
  api: ApiClient,
  request: { payAddress: string; extraData: string },
): Promise<string[]> {
  const before = await node.call('getBlockTemplate', request);
  const answer = await api.postExactly('/v1/rpc/getBlockTemplate', request);
  const after = await node.call('getBlockTemplate', request);
  if (before.block === undefined || after.block?.header === undefined || answer.status !== 200) {
    return [`block template: status ${answer.status}`];
  }
  const expected = expectedTemplate(before.block);
  const actual = answer.body['block'] as { header: Record<string, unknown> };
  const time = BigInt(String(actual.header['timestamp']));
  const earliest = before.block.header?.timestamp ?? 0n;
  if (time < earliest || time > after.block.header.timestamp)
    return [`block template: its time ${time} is not that of asking`];
  if (time !== earliest) meet('templateTime');
  const header = { ...(expected['header'] as object), timestamp: actual.header['timestamp'] };
  const difference = firstDifference({ ...expected, header }, actual);
  return difference === undefined ? [] : [`block template: ${difference}`];
}
