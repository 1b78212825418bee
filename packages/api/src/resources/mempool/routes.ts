/** Operations on the mempool of the node. */
import { toHex } from '@kasgres/kaspa';
import { decodeEntry, type ListedEntry, NodeResponseTooLargeError, readEntryId, type UseListing } from '@kasgres/node';
import {
  addressesInput,
  badRequest,
  flag,
  hashInput,
  type HttpError,
  requireNetworkOfAll,
  SharedRead,
  Slices,
  unavailable,
} from '@kasgres/reads';
import { z } from 'zod';
import { required } from '../../node/node-calls.ts';
import { type ApiPlugin, type RequestContext, route } from '../../openapi/route.ts';
import { rpc } from '../shared.ts';
import { mempoolEntry, toMempoolEntry } from './to-mempool-entry.ts';

/**
 * Entries per response: usually about ten megabytes of JSON. A mempool may have a million entries.
 */
const MAX_ENTRIES = 5_000;
/** With the largest transactions, the JSON would take hundreds of megabytes. */
const MAX_BYTES = 32_000_000;
/** The node lists a transaction again for each address that it pays or spends from. */
const MAX_LISTED_ENTRIES = 50_000;
/** A longer response is refused before it is received. */
const MAX_RECEIVED_BYTES = 128 * 1024 * 1024;
/** A full mempool empties over minutes. */
const RETRY_AFTER_SECONDS = 60;
/**
 * Under load, the listing of a whole pool is at most a second old. Its megabytes are not kept
 * without requests.
 */
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

/** The JSON of the entries of a listing, each once, within its limits. */
class ListingJson {
  readonly #pieces = new Map<string, Buffer>();
  readonly #tooLarge: (size: string) => HttpError;
  #bytes = 0;

  /** @param tooLarge makes the error for a listing beyond the limits */
  constructor(tooLarge: (size: string) => HttpError) {
    this.#tooLarge = tooLarge;
  }

  /** Returns the id of an entry, which is decoded only if it is new. */
  add({ bytes }: ListedEntry): string {
    const id = readEntryId(bytes);
    if (this.#pieces.has(id)) return id;
    const piece = Buffer.from(JSON.stringify(toMempoolEntry(decodeEntry(bytes))));
    this.#bytes += piece.length;
    if (this.#bytes > MAX_BYTES) throw this.#tooLarge(`more than ${MAX_BYTES} bytes of JSON`);
    this.#pieces.set(id, piece);
    if (this.#pieces.size > MAX_ENTRIES) throw this.#tooLarge(`more than ${MAX_ENTRIES} transactions`);
    return id;
  }

  /** @param ids the order of the entries; default: the order in which they were added */
  toBuffer(ids: Iterable<string> = this.#pieces.keys()): Buffer {
    const parts: Buffer[] = [];
    for (const id of ids) {
      parts.push(parts.length === 0 ? OPEN : COMMA, this.#pieces.get(id) as Buffer);
    }
    return Buffer.concat([...(parts.length === 0 ? [OPEN] : parts), CLOSE]);
  }
}

const OPEN = Buffer.from('{"entries":[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']}');

/**
 * Sends the text of a listing. Each takes a turn, since hundreds of clients may wait for the same
 * one.
 */
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
  // The size is read first, since a mempool that is too large would have to be received and decoded
  // to find out.
  const { mempoolSize } = await nodeCalls.of(FOR_ALL).call('getInfo', {});
  if (mempoolSize > MAX_ENTRIES) throw tooLarge(`${mempoolSize} transactions of at most ${MAX_ENTRIES}`);
  const slices = new Slices(turns, FOR_ALL);
  const use: UseListing<Buffer> = async (pieces) => {
    const json = new ListingJson(tooLarge);
    for await (const entries of pieces) await slices.forEach(entries, (entry) => void json.add(entry));
    return json.toBuffer();
  };
  return nodeCalls
    .list(FOR_ALL, 'getMempoolEntries', pools, use, { limitBytes: MAX_RECEIVED_BYTES })
    .catch(refuseLarge(tooLarge));
}

/** Makes the error of a response that is too long to be received. */
const refuseLarge =
  (toError: (size: string) => HttpError) =>
  (error: unknown): never => {
    throw error instanceof NodeResponseTooLargeError ? toError(`${error.bytes} bytes`) : error;
  };

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
    const slices = new Slices(turns, context.caller);
    const use: UseListing<Buffer> = async (pieces) => {
      const json = new ListingJson(tooMany);
      const idsOf = new Map<string, string[]>(body.addresses.map((address) => [address, []]));
      let count = 0;
      for await (const entries of pieces) {
        count += entries.length;
        if (count > MAX_LISTED_ENTRIES) throw tooMany(`more than ${MAX_LISTED_ENTRIES} entries`);
        await slices.forEach(entries, (entry) => idsOf.get(entry.address as string)?.push(json.add(entry)));
      }
      return json.toBuffer(new Set([...idsOf.values()].flat()));
    };
    const text = nodeCalls
      .list(context.caller, 'getMempoolEntriesByAddresses', body, use, { limitBytes: MAX_RECEIVED_BYTES })
      .catch(refuseLarge(tooMany));
    return send(context, text);
  },
);
