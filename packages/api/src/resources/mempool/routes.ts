/** What the node's mempool holds: one transaction, all of them, or those that spend from or pay to some addresses. Live from the node. */
import { toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Slices } from '../../fairness/event-loop-turns.ts';
import { callerOf } from '../../http/caller.ts';
import type { NodeCaller } from '../../node-calls.ts';
import { requireNetworkOfAll } from '../../schemas/address.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { addressesInput, hashInput } from '../../schemas/values.ts';
import { required } from '../../node-messages.ts';
import { badRequest, unavailable } from '../../http/errors.ts';
import type { ApiPlugin, Services } from '../../services.ts';
import { MAX_BYTES, MAX_ENTRIES, type Pools, SharedListings, toListing } from './listings.ts';
import { leavesPool, mempoolEntry, NO_POOL, poolFlags } from './schemas.ts';
import { toMempoolEntry } from './to-mempool-entry.ts';

/** A mempool that is full empties over minutes. */
const RETRY_AFTER_SECONDS = 60;
const SHARED = 'Under load it is read once a second for all clients, so that a response may be a second old.';
const ASK_FOR_LESS = 'ask for those of addresses (getMempoolEntriesByAddresses), or later';

const entryBody = z.strictObject({ transactionId: hashInput, ...poolFlags }).refine(leavesPool, NO_POOL);

const poolsBody = z.strictObject(poolFlags).refine(leavesPool, NO_POOL);

const entriesBody = z.strictObject({ addresses: addressesInput, ...poolFlags }).refine(leavesPool, NO_POOL);

const entryResponse = z.object({ mempoolEntry });
const entriesResponse = z.object({ entries: z.array(mempoolEntry) });

async function getEntry(
  node: NodeCaller,
  { transactionId, ...flags }: z.infer<typeof entryBody>,
): Promise<z.infer<typeof entryResponse>> {
  const { entry } = await node.call('getMempoolEntry', { txId: toHex(transactionId), ...flags });
  return { mempoolEntry: toMempoolEntry(required(entry, 'entry')) };
}

/** Whole pools are read for the program itself, whichever key asks first. */
const FOR_ALL = 'mempool';

async function getPools({ nodeCalls, turns }: Services, flags: Pools): Promise<Buffer> {
  // Asked first, since the whole mempool would have to be received and decoded to find out that it is too large.
  const { mempoolSize } = await nodeCalls.of(FOR_ALL).call('getInfo', {});
  if (mempoolSize > MAX_ENTRIES) {
    throw unavailable(
      `The mempool holds ${mempoolSize} transactions, and it is listed up to ${MAX_ENTRIES} only: ${ASK_FOR_LESS}`,
      RETRY_AFTER_SECONDS,
    );
  }
  return nodeCalls.list(FOR_ALL, async (node) => {
    const { entries } = await node.call('getMempoolEntries', { ...flags });
    return toListing(entries, new Slices(turns, FOR_ALL), () =>
      unavailable(
        `The mempool is listed up to ${MAX_BYTES} bytes of JSON only, and it has more: ${ASK_FOR_LESS}`,
        RETRY_AFTER_SECONDS,
      ),
    );
  });
}

async function getEntries(
  { index, nodeCalls, turns }: Services,
  caller: string,
  request: z.infer<typeof entriesBody>,
): Promise<Buffer> {
  requireNetworkOfAll(await index.getNetwork(), request.addresses);
  return nodeCalls.list(caller, async (node) => {
    const { entries } = await node.call('getMempoolEntriesByAddresses', request);
    const count = entries.reduce((sum, { sending, receiving }) => sum + sending.length + receiving.length, 0);
    if (count > MAX_ENTRIES) {
      throw tooMany(
        `These addresses have ${count} entries in the mempool, and at most ${MAX_ENTRIES} are listed at once: ask for fewer addresses`,
      );
    }
    return toListing(flatten(request.addresses, entries), new Slices(turns, caller), () =>
      tooMany(`These entries take more than ${MAX_BYTES} bytes of JSON: ask for fewer addresses`),
    );
  });
}

const tooMany = (message: string) => badRequest({ path: 'addresses', message });

/** For each address in the order asked, what sends from it, then what it receives; each transaction once. */
function flatten(
  addresses: readonly string[],
  found: readonly protocol.AddressMempoolEntries[],
): protocol.MempoolEntry[] {
  const entriesOf = new Map(found.map((entries) => [entries.address, [...entries.sending, ...entries.receiving]]));
  const byId = new Map<string, protocol.MempoolEntry>();
  for (const entry of addresses.flatMap((address) => entriesOf.get(address) ?? [])) {
    const { transactionId } = required(entry.transaction?.verboseData, 'verbose data of a transaction');
    if (!byId.has(transactionId)) byId.set(transactionId, entry);
  }
  return [...byId.values()];
}

export const mempoolRoutes: ApiPlugin = async (app, services) => {
  const shared = new SharedListings();
  /** Sends the text of a listing, which `entriesResponse` describes. Each is written in a turn of its own: there may be a hundred at once. */
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    listing: Promise<Buffer>,
  ): Promise<z.infer<typeof entriesResponse>> => {
    const text = await listing;
    await services.turns.next(callerOf(request));
    reply.type('application/json; charset=utf-8');
    return text as unknown as z.infer<typeof entriesResponse>;
  };
  const getShared = (pools: Pools): Promise<Buffer> => shared.get(pools, () => getPools(services, pools));

  app.post(
    '/v1/rpc/getMempoolEntry',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getMempoolEntry',
        summary: 'One transaction of the mempool',
        tags: ['Node RPC Proxy'],
        body: entryBody,
        response: answers(entryResponse, ...UNDER_KEY, ...WITH_BODY, 404),
      },
    },
    (request) => getEntry(services.nodeCalls.of(callerOf(request)), request.body),
  );

  app.get(
    '/v1/rpc/getMempoolEntries',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getMempoolEntries',
        summary: 'All transactions of the mempool, without orphans',
        description: SHARED,
        tags: ['Node RPC Proxy'],
        response: answers(entriesResponse, ...UNDER_KEY),
      },
    },
    (request, reply) => send(request, reply, getShared({ includeOrphanPool: false, filterTransactionPool: false })),
  );

  app.post(
    '/v1/rpc/getMempoolEntries',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getMempoolEntriesOfPools',
        summary: 'All transactions of the mempool, its orphans, or both',
        description: SHARED,
        tags: ['Node RPC Proxy'],
        body: poolsBody,
        response: answers(entriesResponse, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) => send(request, reply, getShared(request.body)),
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
        response: answers(entriesResponse, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) => send(request, reply, getEntries(services, callerOf(request), request.body)),
  );
};
