/** Invariant 9: every response comes from one state of the chain, also while the indexer writes and reorganises. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ rounds: 120 });
});
afterAll(() => stage.close());

interface Chain {
  addedChainBlockHashes: string[];
  acceptedTransactionIds: { acceptingBlockHash: string; acceptedTransactionIds: string[] }[];
}

test('what a response says agrees with the sink that it names', async () => {
  const { world, api, node } = stage;
  const { sink: start } = await node.call('getSink', {});
  const sinks = new Set<string>();
  for (let round = 0; round < 80; round += 1) {
    world.mine(2);
    const [chain, blocks] = await Promise.all([
      api.request('/v1/rpc/getVirtualChainFromBlock', {
        body: { startHash: start, includeAcceptedTransactionIds: true },
      }),
      api.request('/v1/rpc/getBlocks', { body: { lowHash: start, includeBlocks: false, includeTransactions: false } }),
    ]);
    const sink = chain.headers.get('x-kasgres-sink') ?? '';
    const { addedChainBlockHashes: added, acceptedTransactionIds: accepted } = chain.json as unknown as Chain;
    expect(added.at(-1) ?? start).toBe(sink);
    expect(accepted.map(({ acceptingBlockHash }) => acceptingBlockHash)).toEqual(added);
    expect((blocks.json as { blockHashes: string[] }).blockHashes).toContain(blocks.headers.get('x-kasgres-sink'));
    sinks.add(sink);

    const latest = accepted.at(-1);
    if (latest === undefined) continue;
    const asked = await api.request('/v1/transactions/acceptance', {
      body: { transactionIds: latest.acceptedTransactionIds.slice(0, 500) },
    });
    const confirmations = (
      asked.json as { transactions: { confirmations: number; acceptingBlockHash: string | null }[] }
    ).transactions;
    // One sink: whatever has the same accepting block has the same confirmations.
    const byBlock = new Map(confirmations.map((entry) => [entry.acceptingBlockHash, entry.confirmations]));
    for (const entry of confirmations) expect(entry.confirmations).toBe(byBlock.get(entry.acceptingBlockHash));
  }
  expect(sinks.size).toBeGreaterThan(20);
});
