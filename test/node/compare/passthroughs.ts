/** The endpoints under /v1/rpc beyond the twelve, but for UTXOs and what is submitted. */
import type { NodeClient } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { meet } from '../differences.ts';
import {
  expectedBlock,
  expectedDagInfo,
  expectedFees,
  expectedInfo,
  expectedMempoolEntry,
  expectedServerInfo,
} from '../expected.ts';
import { firstDifference } from './first-difference.ts';
import { inParallel } from './in-parallel.ts';
import { byId, FLAGS, idOf, REFUSED_FLAGS } from './mempool.ts';

type Json = Record<string, unknown>;

/** Every block, with its transactions and without. */
export async function compareBlocksByHash(
  node: NodeClient,
  api: ApiClient,
  hashes: readonly string[],
): Promise<string[]> {
  const wrong: string[] = [];
  await inParallel(hashes, async (hash) => {
    for (const includeTransactions of [false, true]) {
      const request = { hash, includeTransactions };
      const { block } = await node.call('getBlock', request);
      const answer = await api.post('/v1/rpc/getBlock', request);
      const expected = { block: block && expectedBlock(block, { withTransactions: includeTransactions }) };
      if (childrenOf(expected).join() !== childrenOf(answer.body).join()) meet('childrenOrder');
      childrenOf(expected).sort();
      childrenOf(answer.body).sort();
      const difference = firstDifference({ status: 200, body: expected }, answer);
      if (difference !== undefined) wrong.push(`getBlock ${JSON.stringify(request)}: ${difference}`);
    }
  });
  return wrong;
}

function childrenOf(answer: Json): string[] {
  const { block } = answer as { block?: { verboseData?: { childrenHashes?: string[] } } };
  return block?.verboseData?.childrenHashes ?? [];
}

/** What is asked without a field. Nothing may happen on the node meanwhile. */
export async function compareStates(node: NodeClient, api: ApiClient): Promise<string[]> {
  const info = await node.call('getBlockDagInfo', {});
  const { blockCount, headerCount } = await node.call('getBlockCount', {});
  const expected: Record<string, Json> = {
    getBlockDagInfo: expectedDagInfo(info),
    getBlockCount: { blockCount: String(blockCount), headerCount: String(headerCount) },
    getSink: { sink: (await node.call('getSink', {})).sink },
    getSinkBlueScore: { blueScore: String((await node.call('getSinkBlueScore', {})).blueScore) },
    getInfo: expectedInfo(await node.call('getInfo', {})),
    getServerInfo: expectedServerInfo(await node.call('getServerInfo', {})),
    getFeeEstimate: expectedFees(await node.call('getFeeEstimate', {})),
  };
  const wrong: string[] = [];
  for (const [op, body] of Object.entries(expected)) {
    const answer = await api.get(`/v1/rpc/${op}`);
    const difference = firstDifference({ status: 200, body: inOrder(body) }, { ...answer, body: inOrder(answer.body) });
    if (JSON.stringify(body) !== JSON.stringify(answer.body) && difference === undefined) meet('dagOrder');
    if (difference !== undefined) wrong.push(`${op}: ${difference}`);
  }
  return wrong;
}

/** Tips and virtual parents have no fixed order. */
const inOrder = (body: Json): Json =>
  Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, Array.isArray(value) ? value.map(String).sort() : value]),
  );

/** What the pools hold, in every combination of flags. */
export async function comparePools(node: NodeClient, api: ApiClient): Promise<string[]> {
  const path = '/v1/rpc/getMempoolEntries';
  const wrong: string[] = [];
  const compare = async (flags: (typeof FLAGS)[number], answer: { status: number; body: Json }): Promise<void> => {
    const { entries } = await node.call('getMempoolEntries', flags);
    const expected = entries.map(expectedMempoolEntry);
    const actual = (answer.body['entries'] ?? []) as Json[];
    if (expected.map(idOf).join() !== actual.map(idOf).join()) meet('poolOrder');
    const difference = firstDifference(
      { status: 200, body: byId(expected) },
      { status: answer.status, body: byId(actual) },
    );
    if (difference !== undefined) wrong.push(`mempool entries ${JSON.stringify(flags)}: ${difference}`);
  };
  for (const flags of FLAGS) await compare(flags, await api.post(path, flags));
  await compare({ includeOrphanPool: false, filterTransactionPool: false }, await api.get(path));
  const refused = await api.post(path, REFUSED_FLAGS);
  if (refused.status !== 400) wrong.push(`mempool entries with flags that the node refuses: status ${refused.status}`);
  return wrong;
}
