/** Listings to their end: page by page, each from behind the last item of the one before. */
import type { Answer, GetPath, Request, Schema } from './operations.ts';

/** What a page of any listing looks like. */
interface Page {
  metadata: Schema<'PageMetadata'>;
}

/** The operations that answer pages. */
export type ListingPath = {
  [Path in GetPath]: Answer<'get', Path> extends Page ? Path : never;
}[GetPath];

/** Under which names pages have their items; some have more beside them. */
type ItemsName = 'transactions' | 'utxos' | 'blocks' | 'addresses' | 'tags' | 'members';

type ItemsKey<Path extends ListingPath> = Extract<keyof Answer<'get', Path>, ItemsName>;

export type Item<Path extends ListingPath> = Answer<'get', Path>[ItemsKey<Path>] extends readonly (infer I)[]
  ? I
  : never;

/** As the request for the first page; `limit` is the size of each page, and `starting_after` where to begin. */
export type ListingRequest<Path extends ListingPath> = Request<'get', Path>;

type Items = { [Path in ListingPath as ItemsKey<Path>]: Item<Path> };

/** The id of an item, by the name of the items: what the next page starts after. */
const CURSORS: { [Name in ItemsName]: (item: Items[Name]) => string } = {
  transactions: (transaction) => transaction.transactionId,
  utxos: ({ transactionId, index }) => `${transactionId}:${index}`,
  blocks: (block) => block.hash,
  // The address alone would stand for its present position, which moves with its balance.
  addresses: ({ address, balance }) => `${balance}:${address}`,
  tags: ({ address }) => address,
  members: ({ address }) => address,
};

const NAMES = Object.keys(CURSORS) as ItemsName[];

type AnyRequest = { params?: { query?: Record<string, unknown> } };

/** @param getPage asks for one page */
export async function* paginate<Path extends ListingPath>(
  getPage: (request: ListingRequest<Path>) => Promise<Answer<'get', Path>>,
  request: ListingRequest<Path>,
): AsyncGenerator<Item<Path>, void, undefined> {
  const { params, ...rest } = request as AnyRequest;
  let cursor = {};
  for (;;) {
    const query = { ...params?.query, ...cursor };
    const page = await getPage({ ...rest, params: { ...params, query } } as ListingRequest<Path>);
    const { metadata, ...named } = page as Page & Partial<Record<ItemsName, Item<Path>[]>>;
    const name = NAMES.find((known) => known in named);
    if (name === undefined) return;
    const items = named[name] ?? [];
    yield* items;
    const last = items.at(-1);
    if (!metadata.hasMore || last === undefined) return;
    const cursorOf = CURSORS[name] as (item: Item<Path>) => string;
    cursor = { starting_after: cursorOf(last) };
  }
}
