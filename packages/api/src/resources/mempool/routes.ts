/** What the node's mempool holds: one transaction, all of them, or those that spend from or pay to some addresses. Live from the node. */
import { toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { z } from 'zod';
import { requireNetworkOfAll } from '../../schemas/address.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { addressesInput, hashInput } from '../../schemas/values.ts';
import { required } from '../../node-messages.ts';
import type { ApiPlugin, Services } from '../../services.ts';
import { type MempoolEntryJson, leavesPool, mempoolEntry, NO_POOL, poolFlags } from './schemas.ts';
import { toMempoolEntry } from './to-mempool-entry.ts';

const entryBody = z.strictObject({ transactionId: hashInput, ...poolFlags }).refine(leavesPool, NO_POOL);

const poolsBody = z.strictObject(poolFlags).refine(leavesPool, NO_POOL);

const entriesBody = z.strictObject({ addresses: addressesInput, ...poolFlags }).refine(leavesPool, NO_POOL);

const entryAnswer = z.object({ mempoolEntry });
const entriesAnswer = z.object({ entries: z.array(mempoolEntry) });

async function getEntry(
  { node }: Services,
  { transactionId, ...flags }: z.infer<typeof entryBody>,
): Promise<z.infer<typeof entryAnswer>> {
  const { entry } = await node.call('getMempoolEntry', { txId: toHex(transactionId), ...flags });
  return { mempoolEntry: toMempoolEntry(required(entry, 'entry')) };
}

async function getPools({ node }: Services, flags: z.infer<typeof poolsBody>): Promise<z.infer<typeof entriesAnswer>> {
  const { entries } = await node.call('getMempoolEntries', flags);
  return { entries: entries.map(toMempoolEntry) };
}

async function getEntries(
  { index, node }: Services,
  request: z.infer<typeof entriesBody>,
): Promise<z.infer<typeof entriesAnswer>> {
  requireNetworkOfAll(await index.getNetwork(), request.addresses);
  const { entries } = await node.call('getMempoolEntriesByAddresses', request);
  return { entries: flatten(request.addresses, entries) };
}

/** For each address in the order asked, what sends from it, then what it receives; each transaction once. */
function flatten(addresses: readonly string[], found: readonly protocol.AddressMempoolEntries[]): MempoolEntryJson[] {
  const entriesOf = new Map(found.map((entries) => [entries.address, [...entries.sending, ...entries.receiving]]));
  const byId = new Map<string, MempoolEntryJson>();
  for (const entry of addresses.flatMap((address) => entriesOf.get(address) ?? []).map(toMempoolEntry)) {
    const { transactionId } = entry.transaction.verboseData;
    if (!byId.has(transactionId)) byId.set(transactionId, entry);
  }
  return [...byId.values()];
}

export const mempoolRoutes: ApiPlugin = async (app, services) => {
  app.post(
    '/v1/rpc/getMempoolEntry',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getMempoolEntry',
        summary: 'One transaction of the mempool',
        tags: ['Node RPC Proxy'],
        body: entryBody,
        response: answers(entryAnswer, ...UNDER_KEY, ...WITH_BODY, 404),
      },
    },
    (request) => getEntry(services, request.body),
  );

  app.get(
    '/v1/rpc/getMempoolEntries',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getMempoolEntries',
        summary: 'All transactions of the mempool, without orphans',
        tags: ['Node RPC Proxy'],
        response: answers(entriesAnswer, ...UNDER_KEY),
      },
    },
    () => getPools(services, { includeOrphanPool: false, filterTransactionPool: false }),
  );

  app.post(
    '/v1/rpc/getMempoolEntries',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getMempoolEntriesOfPools',
        summary: 'All transactions of the mempool, its orphans, or both',
        tags: ['Node RPC Proxy'],
        body: poolsBody,
        response: answers(entriesAnswer, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request) => getPools(services, request.body),
  );

  app.post(
    '/v1/rpc/getMempoolEntriesByAddresses',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getMempoolEntriesByAddresses',
        summary: 'Transactions of the mempool that spend from or pay to some addresses',
        tags: ['Node RPC Proxy'],
        body: entriesBody,
        response: answers(entriesAnswer, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request) => getEntries(services, request.body),
  );
};
