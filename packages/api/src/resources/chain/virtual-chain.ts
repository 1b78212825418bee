/**
 * getVirtualChainFromBlock: what a client that knows the chain up to a block has to remove and to add to be at the sink. The node's
 * semantics, over the whole indexed history (API.md, "Where each answer comes from").
 */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import type { Reading } from '../../index-state/state.ts';
import { hash, hashInput } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { type Gap, gapAbove, gapInTheWay, listGaps } from './parts.ts';
import { getPathToChain } from './path-to-chain.ts';

/** The node's batch at ten blocks a second: merged blocks an answer when ids are asked for, else chain blocks. */
const MAX_ADDED = 2480;

/** Accepted ids a response, which then has 17 MB. The node has no such limit; clients go on from the last block as they do anyway. */
const MAX_ACCEPTED = 250_000;

const body = z.strictObject({ startHash: hashInput, includeAcceptedTransactionIds: z.boolean() });

const acceptedTransactionIds = z
  .object({ acceptingBlockHash: hash, acceptedTransactionIds: z.array(hash) })
  .meta({ id: 'AcceptedTransactionIds' });

const virtualChain = z.object({
  removedChainBlockHashes: z
    .array(hash)
    .meta({ description: 'From the start down to the chain, without the chain block' }),
  addedChainBlockHashes: z.array(hash).meta({ description: 'From the chain block up, at most 2,480 merged blocks' }),
  acceptedTransactionIds: z.array(acceptedTransactionIds).meta({ description: 'One entry for each added block' }),
});

type VirtualChainJson = z.infer<typeof virtualChain>;

interface AddedRow {
  index: bigint;
  hash: string;
  merged: number;
}

/** The chain above an index up to the gap, if any, at most MAX_ADDED blocks, with how many blocks each merges. */
async function listChain(db: Kysely<Database>, aboveIndex: bigint, gap: Gap | undefined): Promise<AddedRow[]> {
  const { rows } = await sql<AddedRow>`
    select c.index, encode(b.hash, 'hex') as hash, cardinality(b.merge_set_blues) + cardinality(b.merge_set_reds) as merged
    from chain_blocks c join blocks b on b.id = c.block_id
    where c.index > ${aboveIndex} ${gap ? sql`and c.index <= ${gap.after.index}` : sql``}
    order by c.index
    limit ${MAX_ADDED}`.execute(db);
  return rows;
}

/** As many of the first as merge no more than MAX_ADDED blocks together. */
function withinMerged(added: readonly AddedRow[]): AddedRow[] {
  let merged = 0;
  const end = added.findIndex((row) => (merged += row.merged) > MAX_ADDED);
  return end === -1 ? [...added] : added.slice(0, end);
}

interface AcceptedRow {
  index: bigint;
  /** In hex, one after the other. */
  ids: string;
}

/**
 * Ids that the chain blocks of a range accept, in the node's order, by chain index: of as many of the first as accept no more than
 * MAX_ACCEPTED together, and of one at least. Postgres puts the ids together: a row for each of them would cost this process five times
 * as much. One list of keys is looked up several times faster than a join for each chain block.
 */
async function loadAccepted({ db, slices }: Reading, aboveIndex: bigint, size: number): Promise<Map<bigint, string[]>> {
  const { rows } = await sql<AcceptedRow>`
    with within as materialized (
      select index, accepted_transactions
      from (
        select index, accepted_transactions,
          sum(cardinality(accepted_transactions)) over (order by index) as accepted, row_number() over (order by index) as place
        from chain_blocks
        where index > ${aboveIndex} and index <= ${aboveIndex + BigInt(size)}
      ) as range
      where accepted <= ${MAX_ACCEPTED} or place = 1
    ), wanted as materialized (
      select within.index, accepted.key, accepted.place
      from within cross join unnest(within.accepted_transactions) with ordinality as accepted (key, place)
    ), found as materialized (
      select id, transaction_id from transactions where id = any(array(select key from wanted))
    ), joined as (
      select wanted.index, encode(string_agg(found.transaction_id, '' order by wanted.place), 'hex') as ids
      from wanted join found on found.id = wanted.key
      group by wanted.index
    )
    select within.index, coalesce(joined.ids, '') as ids
    from within left join joined on joined.index = within.index`.execute(db);
  return new Map(await slices.map(rows, ({ index, ids }) => [index, splitIds(ids)] as const));
}

const HEX_DIGITS = 64;

function splitIds(text: string): string[] {
  const ids: string[] = [];
  for (let start = 0; start < text.length; start += HEX_DIGITS) ids.push(text.slice(start, start + HEX_DIGITS));
  return ids;
}

async function getVirtualChain(reading: Reading, request: z.infer<typeof body>): Promise<VirtualChainJson> {
  const { db } = reading;
  const { offChain, chainBlock } = await getPathToChain(reading, request.startHash);
  const gap = gapAbove(await listGaps(reading), chainBlock.index);
  // Empty lists would say that the client is at the sink.
  if (offChain.length === 0 && gap?.after.index === chainBlock.index) throw gapInTheWay(gap);
  const removed = offChain.map((block) => block.hash);
  const chain = await listChain(db, chainBlock.index, gap);
  if (!request.includeAcceptedTransactionIds) return toVirtualChain(removed, chain);
  const added = withinMerged(chain);
  const accepted = await loadAccepted(reading, chainBlock.index, added.length);
  return toVirtualChain(removed, added.slice(0, accepted.size), accepted);
}

function toVirtualChain(
  removed: string[],
  added: readonly AddedRow[],
  accepted?: Map<bigint, string[]>,
): VirtualChainJson {
  const groups = added.map(({ index, hash }) => ({
    acceptingBlockHash: hash,
    acceptedTransactionIds: accepted?.get(index) ?? [],
  }));
  return {
    removedChainBlockHashes: removed,
    addedChainBlockHashes: added.map((row) => row.hash),
    acceptedTransactionIds: accepted === undefined ? [] : groups,
  };
}

export const virtualChainRoutes: ApiPlugin = async (app, { index }) => {
  app.post(
    '/v1/rpc/getVirtualChainFromBlock',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getVirtualChainFromBlock',
        summary: 'The virtual chain from a block to the sink',
        description:
          'An answer ends before a gap of the index. From the last block before it there is no way on: a 409 that names the first block after it.',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(virtualChain, 304, ...UNDER_KEY, ...WITH_BODY, 404, 409),
      },
    },
    (request, reply) => respondFromIndex(index, request, reply, (reading) => getVirtualChain(reading, request.body)),
  );
};
