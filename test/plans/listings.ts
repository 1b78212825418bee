/** Every listing of the API on the large index, and pages at positions in it. */
import type { Pool } from 'pg';
import {
  addresses,
  addressTransactions,
  addressUtxos,
  blocks,
  addressCovenants,
  clusterMembers,
  inscriptions,
  covenantEvents,
  covenants,
  newestCovenantEvents,
  templateCovenants,
  templates,
  lanes,
  laneTransactions,
  type Listing,
  listCursors,
  type Owner,
  tags,
  transactions,
} from '../api/listings.ts';
import { BUSY_COVENANT, COMMON_TEMPLATE } from './covenant-rows.ts';
import { addressOf } from './large-index.ts';
import { BUSY, BUSY_NAMESPACE, BUSY_TICK, COMMON_LABEL, memberOfLarge, PAID_BY_ALL } from './large-index-rows.ts';
import type { Request } from './harness.ts';

export function owner(scriptId: number): Owner {
  return { address: addressOf(scriptId), scriptId };
}

export function listings(): Record<string, Listing> {
  return {
    transactions: transactions(),
    'accepted transactions': transactions(true),
    blocks: blocks(),
    'chain blocks': blocks(true),
    addresses: addresses(),
    'addresses with a tag': addresses(true),
    tags: tags(),
    'tags with a label that half of them have': tags(COMMON_LABEL),
    'transactions of the address of a million': addressTransactions(owner(PAID_BY_ALL)),
    'accepted transactions of the address of a million': addressTransactions(owner(PAID_BY_ALL), true),
    'transactions of a busy address': addressTransactions(owner(BUSY)),
    'UTXOs of the address of a million': addressUtxos(owner(PAID_BY_ALL)),
    'members of a large cluster': clusterMembers(owner(memberOfLarge(0))),
    inscriptions: inscriptions(),
    'inscriptions of a busy tick': inscriptions({ tick: BUSY_TICK }),
    'inscriptions of the address of a million': inscriptions({ address: addressOf(PAID_BY_ALL) }),
    lanes: lanes(),
    'transactions of a busy lane': laneTransactions(BUSY_NAMESPACE),
    'accepted transactions of a busy lane': laneTransactions(BUSY_NAMESPACE, true),
    covenants: covenants(),
    'covenants by their creation': covenants({ order: 'created' }),
    'live covenants': covenants({ liveOnly: true }),
    'covenants that have the template of half of all': templateCovenants(COMMON_TEMPLATE),
    'covenants that have a template, by their creation': covenants({ order: 'created', template: COMMON_TEMPLATE }),
    'covenants of the address that everybody pays': addressCovenants(owner(PAID_BY_ALL)),
    'events of a covenant of many': covenantEvents(BUSY_COVENANT),
    'events of covenants': newestCovenantEvents(),
    templates: templates(),
  };
}

export function pageOf(
  { template, values, query }: Listing,
  limit: number,
  cursor: { starting_after?: string; ending_before?: string } = {},
): Request {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  const parameters = new URLSearchParams({ limit: String(limit), ...cursor, ...query });
  return { method: 'get', url: `${path}?${parameters.toString()}` };
}

/**
 * Returns pages of one listing: at both ends, and at the thousandth, or at the middle of a shorter
 * listing.
 */
export async function pagesOf(pool: Pool, listing: Listing, limit: number): Promise<Record<string, Request>> {
  const cursors = await listCursors(pool, listing.items);
  const cursorAt = (position: number): string => {
    const cursor = cursors.at(position);
    if (cursor === undefined) throw new Error(`${listing.template} has only ${cursors.length} items`);
    return cursor;
  };
  const far = Math.min(1000, Math.floor(cursors.length / (2 * limit)));
  const after = (position: number) => pageOf(listing, limit, { starting_after: cursorAt(position) });
  const before = (position: number) => pageOf(listing, limit, { ending_before: cursorAt(position) });
  return {
    'page 1': pageOf(listing, limit),
    'page 2': after(limit - 1),
    'page 1,000': after((far - 1) * limit - 1),
    'the last page': after(-limit - 1),
    'page 1,000 backwards': before(far * limit),
    'page 1 backwards': before(limit),
    'the last page backwards': before(-1),
  };
}
