/**
 * GET /v1/search: blocks, transactions, addresses, covenants, programs and names that a text may
 * mean, best match first.
 */
import { requireCaughtUp } from '@kasgres/reads';
import { z } from 'zod';
import type { NodeCaller } from '../../node/node-calls.ts';
import { statementRoute } from '../../openapi/route.ts';
import { queryNumber } from '../../pages/page-query.ts';
import { lookUp } from '../shared.ts';
import {
  meaningsOf,
  MIN_ADDRESS_START,
  MIN_BARE_ADDRESS_START,
  MIN_PREFIX_DIGITS,
  MIN_TAG_LENGTH,
} from './meanings.ts';
import { searchResult } from './schemas.ts';
import { searchFor } from './sources.ts';

const MAX_LENGTH = 200;
const MAX_RESULTS = 20;
const DEFAULT_RESULTS = 10;
const MEMPOOL_DEADLINE_MS = 500;

/** An unavailable node does not prevent a search. */
async function isInMempool(node: NodeCaller, id: Uint8Array): Promise<boolean> {
  const request = { txId: Buffer.from(id).toString('hex'), includeOrphanPool: true, filterTransactionPool: false };
  return node.call('getMempoolEntry', request, { deadlineMs: MEMPOOL_DEADLINE_MS }).then(
    () => true,
    () => false,
  );
}

export const search = statementRoute(
  {
    ...lookUp('Network', '/v1/search', 'search'),
    cost: 0.5,
    summary: 'Blocks, transactions, addresses, covenants, programs and names that a text may mean',
    description: `Hashes, ids and addresses with or without prefix; the first ${MIN_ADDRESS_START} or more characters of an address after its prefix, or ${MIN_BARE_ADDRESS_START} without it; blue and DAA scores, also with separators of thousands; the URL of a page of this or another explorer; the first ${MIN_PREFIX_DIGITS} or more digits of a block hash, a covenant id, or the hash of a program or template; the first ${MIN_TAG_LENGTH} or more characters of the name of a tag or template, in either case; a tick of an inscription; the namespace of a lane, in hex or as four characters.`,
    tagOf: 'content',
    query: z.strictObject({
      q: z
        .string()
        .max(MAX_LENGTH)
        .min(1, 'must not be empty')
        .transform((given) => given.trim())
        .refine((given) => given !== '' && !given.includes('\0'), 'must not be empty')
        .meta({ description: 'What to look for' }),
      limit: queryNumber(1, MAX_RESULTS, `Most results; ${DEFAULT_RESULTS} by default`).default(DEFAULT_RESULTS),
    }),
    response: z.object({
      results: z.array(searchResult).meta({ description: 'Best match first' }),
    }),
  },
  async ({ query: { q, limit } }, settled, { nodeCalls }, caller) => {
    requireCaughtUp(settled);
    const { network } = settled;
    const meanings = meaningsOf(network, q);
    const isPending = meanings.hash !== undefined && (await isInMempool(nodeCalls.of(caller), meanings.hash));
    return searchFor({ ...meanings, isPending, limit });
  },
);
