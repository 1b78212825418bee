/** Operations on the mempool of the node. */
import { toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { z } from 'zod';
import { Slices } from '../../fairness/event-loop-turns.ts';
import { badRequest, type HttpError, unavailable } from '../../http/errors.ts';
import { required } from '../../node-calls.ts';
import { type ApiPlugin, type RequestContext, route } from '../../route.ts';
import { requireNetworkOfAll } from '../../schemas/address.ts';
import { addressesInput, flag, hashInput } from '../../schemas/values.ts';
import { SharedRead } from '../../shared-read.ts';
import { rpc } from '../shared.ts';
import { mempoolEntry, toMempoolEntry } from './to-mempool-entry.ts';

/** Entries per response: usually about ten megabytes of JSON. A mempool may have a million entries. */
const MAX_ENTRIES = 5_000;
/** With the largest transactions, the JSON would take hundreds of megabytes. */
const MAX_BYTES = 32_000_000;
/** A full mempool empties over minutes. */
const RETRY_AFTER_SECONDS = 60;
/** Under load, the listing of a whole pool is at most a second old. Its megabytes are not kept without requests. */
const SHARED = { lifeMs: 1000, burst: 5, keepMs: 2000 };
/** The caller for whole pools, which are read for all clients together. */
const FOR_ALL = 'mempool';

const poolFlags = {
  includeOrphanPool: flag.meta({ description: 'Include the pool of orphans' }),
  filterTransactionPool: flag.meta({ description: 'Exclude the pool of other transactions' }),
};

type Pools = Record<keyof typeof poolFlags, boolean>;

/** The node refuses flags that exclude both pools. */
const withPools = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject({ ...shape, ...poolFlags })
    .refine((flags) => (flags as Pools).includeOrphanPool || !(flags as Pools).filterTransactionPool, {
      path: ['filterTransactionPool'],
      message: 'excludes all pools without includeOrphanPool',
    });

const listing = z.object({ entries: z.array(mempoolEntry) });

/** Makes the JSON of a listing in slices. @throws the error of `tooLarge` if it has more than MAX_BYTES */
async function toListing(
  entries: readonly protocol.MempoolEntry[],
  slices: Slices,
  tooLarge: (size: string) => HttpError,
): Promise<Buffer> {
  const pieces = [Buffer.from('{"entries":[')];
  let bytes = 0;
  await slices.forEach(entries, (entry) => {
    const piece = Buffer.from(`${pieces.length === 1 ? '' : ','}${JSON.stringify(toMempoolEntry(entry))}`);
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw tooLarge(`more than ${MAX_BYTES} bytes of JSON`);
    pieces.push(piece);
  });
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}

const idOf = (entry: protocol.MempoolEntry): string =>
  required(entry.transaction?.verboseData, 'verbose data of a transaction').transactionId;

/** Returns each transaction once: for each address in the given order, what spends from it, then what pays to it. */
function flatten(
  addresses: readonly string[],
  found: readonly protocol.AddressMempoolEntries[],
): protocol.MempoolEntry[] {
  const entriesOf = new Map(found.map((entries) => [entries.address, [...entries.sending, ...entries.receiving]]));
  const entries = addresses.flatMap((address) => entriesOf.get(address) ?? []);
  return [...new Map(entries.map((entry) => [idOf(entry), entry])).values()];
}

/** Sends the text of a listing. Each takes a turn, since hundreds of clients may wait for the same one. */
async function send({ services, caller, reply }: RequestContext, text: Promise<Buffer>) {
  const buffer = await text;
  await services.turns.next(caller);
  reply.type('application/json; charset=utf-8');
  // The serializer passes a Buffer on unchanged.
  return buffer as unknown as z.infer<typeof listing>;
}

export const getMempoolEntry = route(
  {
    ...rpc('POST', 'getMempoolEntry'),
    summary: 'One transaction of the mempool',
    body: withPools({ transactionId: hashInput }),
    response: z.object({ mempoolEntry }),
    errors: [404],
  },
  async ({ node }, { body: { transactionId, ...flags } }) => {
    const { entry } = await node.call('getMempoolEntry', { txId: toHex(transactionId), ...flags });
    return { mempoolEntry: toMempoolEntry(required(entry, 'entry')) };
  },
);

const tooLarge = (size: string) =>
  unavailable(
    `The mempool is too large to list, with ${size}: use getMempoolEntriesByAddresses, or retry later`,
    RETRY_AFTER_SECONDS,
  );

async function readPools({ services: { nodeCalls, turns } }: RequestContext, pools: Pools): Promise<Buffer> {
  // The size is read first, since a mempool that is too large would have to be received and decoded to find out.
  const { mempoolSize } = await nodeCalls.of(FOR_ALL).call('getInfo', {});
  if (mempoolSize > MAX_ENTRIES) throw tooLarge(`${mempoolSize} transactions of at most ${MAX_ENTRIES}`);
  return nodeCalls.list(FOR_ALL, async (node) => {
    const { entries } = await node.call('getMempoolEntries', pools);
    return toListing(entries, new Slices(turns, FOR_ALL), tooLarge);
  });
}

const SHARED_DESCRIPTION = 'Under load it is read once per second for all clients: a response may be one second old.';

export const mempoolListings: ApiPlugin = async (app, services) => {
  const reads = new Map<string, SharedRead<Buffer>>();

  /** Shares listings of whole pools among clients. */
  const sendPools = (context: RequestContext, pools: Pools) => {
    const name = JSON.stringify(pools);
    const read = reads.get(name) ?? new SharedRead<Buffer>(SHARED);
    reads.set(name, read);
    const text = read.get(() => readPools(context, pools));
    return send(context, text);
  };

  const getMempoolEntries = route(
    {
      ...rpc('GET', 'getMempoolEntries'),
      summary: 'All transactions of the mempool without orphans',
      description: SHARED_DESCRIPTION,
      response: listing,
    },
    (context) => sendPools(context, { includeOrphanPool: false, filterTransactionPool: false }),
  );
  const getMempoolEntriesOfPools = route(
    {
      ...rpc('POST', 'getMempoolEntries'),
      operationId: 'getMempoolEntriesOfPools',
      summary: 'All transactions of the mempool, its orphans, or both',
      description: SHARED_DESCRIPTION,
      body: withPools({}),
      response: listing,
    },
    (context, { body }) => sendPools(context, body),
  );
  await app.register(getMempoolEntries, services);
  await app.register(getMempoolEntriesOfPools, services);
};

const tooMany = (size: string) =>
  badRequest({ path: 'addresses', message: `have ${size} in the mempool: request fewer addresses at once` });

export const getMempoolEntriesByAddresses = route(
  {
    ...rpc('POST', 'getMempoolEntriesByAddresses'),
    summary: 'Transactions of the mempool that spend from or pay to addresses',
    body: withPools({ addresses: addressesInput }),
    response: listing,
  },
  async (context, { body }) => {
    const { index, nodeCalls, turns } = context.services;
    requireNetworkOfAll(await index.getNetwork(), body.addresses);
    const text = nodeCalls.list(context.caller, async (node) => {
      const { entries } = await node.call('getMempoolEntriesByAddresses', body);
      const count = entries.reduce((sum, { sending, receiving }) => sum + sending.length + receiving.length, 0);
      if (count > MAX_ENTRIES) throw tooMany(`${count} entries, of at most ${MAX_ENTRIES},`);
      return toListing(flatten(body.addresses, entries), new Slices(turns, context.caller), tooMany);
    });
    return send(context, text);
  },
);
