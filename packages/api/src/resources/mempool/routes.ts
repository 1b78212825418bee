/** Operations on the mempool of the node: one transaction, all of them, or those of some addresses. */
import { toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { z } from 'zod';
import { Slices } from '../../fairness/event-loop-turns.ts';
import { badRequest, unavailable } from '../../http/errors.ts';
import { required } from '../../node-calls.ts';
import { type ApiPlugin, type RequestContext, route } from '../../route.ts';
import { requireNetworkOfAll } from '../../schemas/address.ts';
import { addressesInput, flag, hashInput } from '../../schemas/values.ts';
import type { Services } from '../../services.ts';
import { MAX_BYTES, MAX_ENTRIES, type Pools, SharedListings, toListing } from './listings.ts';
import { mempoolEntry, toMempoolEntry } from './to-mempool-entry.ts';

/** A full mempool empties over minutes. */
const RETRY_AFTER_SECONDS = 60;

const poolFlags = {
  includeOrphanPool: flag.meta({ description: 'Include the pool of orphans' }),
  filterTransactionPool: flag.meta({ description: 'Exclude the pool of other transactions' }),
};

/** The node refuses flags that exclude both pools. */
const includesPool = (flags: Pools): boolean => flags.includeOrphanPool || !flags.filterTransactionPool;

const NO_POOL = {
  path: ['filterTransactionPool'],
  message: 'excludes all pools without includeOrphanPool',
};

const entriesBody = z.strictObject({ addresses: addressesInput, ...poolFlags }).refine(includesPool, NO_POOL);

const listing = z.object({ entries: z.array(mempoolEntry) });

/** Whole pools are read for all clients together, whoever requests them first. */
const FOR_ALL = 'mempool';

const tooLarge = (size: string) =>
  unavailable(
    `The mempool is too large to list, with ${size}: use getMempoolEntriesByAddresses, or retry later`,
    RETRY_AFTER_SECONDS,
  );

async function readPools({ nodeCalls, turns }: Services, flags: Pools): Promise<Buffer> {
  // The size is read first, since a mempool that is too large would have to be received and decoded to find out.
  const { mempoolSize } = await nodeCalls.of(FOR_ALL).call('getInfo', {});
  if (mempoolSize > MAX_ENTRIES) throw tooLarge(`${mempoolSize} transactions of at most ${MAX_ENTRIES}`);
  return nodeCalls.list(FOR_ALL, async (node) => {
    const { entries } = await node.call('getMempoolEntries', { ...flags });
    return toListing(entries, new Slices(turns, FOR_ALL), () => tooLarge(`more than ${MAX_BYTES} bytes of JSON`));
  });
}

const tooMany = (size: string) =>
  badRequest({ path: 'addresses', message: `have ${size} in the mempool: request fewer addresses at once` });

async function readEntries(
  { services: { index, nodeCalls, turns }, caller }: RequestContext,
  request: z.infer<typeof entriesBody>,
): Promise<Buffer> {
  requireNetworkOfAll(await index.getNetwork(), request.addresses);
  return nodeCalls.list(caller, async (node) => {
    const { entries } = await node.call('getMempoolEntriesByAddresses', request);
    const count = entries.reduce((sum, { sending, receiving }) => sum + sending.length + receiving.length, 0);
    if (count > MAX_ENTRIES) throw tooMany(`${count} entries, of at most ${MAX_ENTRIES},`);
    return toListing(flatten(request.addresses, entries), new Slices(turns, caller), () =>
      tooMany(`more than ${MAX_BYTES} bytes of JSON`),
    );
  });
}

/** Returns each transaction once: for each address in the given order, what spends from it, then what pays to it. */
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

/** Sends the text of a listing. Each takes a turn, since hundreds of clients may wait for the same one. */
async function send(
  { services, caller, reply }: RequestContext,
  text: Promise<Buffer>,
): Promise<z.infer<typeof listing>> {
  const buffer = await text;
  await services.turns.next(caller);
  reply.type('application/json; charset=utf-8');
  // The serializer passes a Buffer on unchanged.
  return buffer as unknown as z.infer<typeof listing>;
}

export const getMempoolEntry = route(
  {
    method: 'POST',
    url: '/v1/rpc/getMempoolEntry',
    operationId: 'getMempoolEntry',
    summary: 'One transaction of the mempool',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    body: z.strictObject({ transactionId: hashInput, ...poolFlags }).refine(includesPool, NO_POOL),
    response: z.object({ mempoolEntry }),
    errors: [404],
  },
  async ({ node }, { body: { transactionId, ...flags } }) => {
    const { entry } = await node.call('getMempoolEntry', { txId: toHex(transactionId), ...flags });
    return { mempoolEntry: toMempoolEntry(required(entry, 'entry')) };
  },
);

const SHARED_DESCRIPTION = 'Under load it is read once per second for all clients: a response may be one second old.';

export const mempoolListings: ApiPlugin = async (app, services) => {
  const shared = new SharedListings();
  const sendPools = (context: RequestContext, pools: Pools) =>
    send(
      context,
      shared.get(pools, () => readPools(context.services, pools)),
    );

  const getMempoolEntries = route(
    {
      method: 'GET',
      url: '/v1/rpc/getMempoolEntries',
      operationId: 'getMempoolEntries',
      summary: 'All transactions of the mempool without orphans',
      description: SHARED_DESCRIPTION,
      tag: 'Node RPC Proxy',
      cost: 0.1,
      response: listing,
    },
    (context) => sendPools(context, { includeOrphanPool: false, filterTransactionPool: false }),
  );

  const getMempoolEntriesOfPools = route(
    {
      method: 'POST',
      url: '/v1/rpc/getMempoolEntries',
      operationId: 'getMempoolEntriesOfPools',
      summary: 'All transactions of the mempool, its orphans, or both',
      description: SHARED_DESCRIPTION,
      tag: 'Node RPC Proxy',
      cost: 0.1,
      body: z.strictObject(poolFlags).refine(includesPool, NO_POOL),
      response: listing,
    },
    (context, { body }) => sendPools(context, body),
  );

  await app.register(getMempoolEntries, services);
  await app.register(getMempoolEntriesOfPools, services);
};

export const getMempoolEntriesByAddresses = route(
  {
    method: 'POST',
    url: '/v1/rpc/getMempoolEntriesByAddresses',
    operationId: 'getMempoolEntriesByAddresses',
    summary: 'Transactions of the mempool that spend from or pay to addresses',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    body: entriesBody,
    response: listing,
  },
  (context, { body }) => send(context, readEntries(context, body)),
);
