/**
 * Iterates over listings page by page: each page begins behind the last item of the previous one,
 * or behind what a filter has dropped. With `ending_before` it goes back, from the item before that
 * one to the first of the listing.
 */
import type { GetPath, Request, ResponseBody, Schema } from './operations.ts';

interface Page {
  metadata: Schema<'PageMetadata'>;
}

/** The operations whose responses are pages. */
export type ListingPath = {
  [Path in GetPath]: ResponseBody<'get', Path> extends Page ? Path : never;
}[GetPath];

/** Fields of pages that have the items. */
type ItemsName =
  | 'transactions'
  | 'utxos'
  | 'blocks'
  | 'addresses'
  | 'covenants'
  | 'events'
  | 'inscriptions'
  | 'lanes'
  | 'templates'
  | 'tags'
  | 'members';

/** Pages of transactions also have tags by address, which are no items. */
type ItemsKey<Path extends ListingPath> = {
  [Name in Extract<keyof ResponseBody<'get', Path>, ItemsName>]: ResponseBody<
    'get',
    Path
  >[Name] extends readonly unknown[]
    ? Name
    : never;
}[Extract<keyof ResponseBody<'get', Path>, ItemsName>];

export type Item<Path extends ListingPath> = ResponseBody<'get', Path>[ItemsKey<Path>] extends readonly (infer I)[]
  ? I
  : never;

/** The request for the first page: `limit` is the size of each page. */
export type ListingRequest<Path extends ListingPath> = Request<'get', Path>;

type Items = { [Path in ListingPath as ItemsKey<Path>]: Item<Path> };

/** Returns the cursor behind an item. */
const CURSORS: { [Name in ItemsName]: (item: Items[Name]) => string } = {
  transactions: (transaction) => transaction.transactionId,
  utxos: ({ transactionId, index }) => `${transactionId}:${index}`,
  blocks: (block) => block.hash,
  // These items move: their ids alone would stand for their current positions.
  addresses: ({ address, balance }) => `${balance}:${address}`,
  covenants: ({ covenantId, lastSeen }) => `${lastSeen}:${covenantId}`,
  lanes: ({ namespace, lastSeen }) => `${lastSeen}:${namespace}`,
  templates: ({ template, spendCount }) => `${spendCount}:${template}`,
  events: ({ transactionId }) => transactionId,
  inscriptions: ({ transactionId, source }) => `${transactionId}:${source === 'payload' ? source : source.input}`,
  tags: ({ address }) => address,
  members: ({ address }) => address,
};

const NAMES = Object.keys(CURSORS) as ItemsName[];

/** @param getPage requests one page */
export async function* paginate<Path extends ListingPath>(
  getPage: (request: ListingRequest<Path>) => Promise<ResponseBody<'get', Path>>,
  request: object = {},
): AsyncGenerator<Item<Path>, void, undefined> {
  const { params, ...rest } = request as { params?: { query?: Record<string, unknown> } };
  const isBack = params?.query?.['ending_before'] !== undefined;
  let cursor = {};
  for (;;) {
    const query = { ...params?.query, ...cursor };
    const page = await getPage({ ...rest, params: { ...params, query } } as ListingRequest<Path>);
    const { metadata, ...named } = page as Page & Partial<Record<ItemsName, Item<Path>[]>>;
    const name = NAMES.find((known) => known in named);
    if (name === undefined) return;
    const items = named[name] ?? [];
    if (isBack) items.reverse();
    yield* items;
    const last = items.at(-1);
    const cursorOf = CURSORS[name] as (item: Item<Path>) => string;
    const next = metadata.scannedTo ?? (last === undefined ? undefined : cursorOf(last));
    if (!metadata.hasMore || next === undefined) return;
    cursor = { [isBack ? 'ending_before' : 'starting_after']: next };
  }
}
