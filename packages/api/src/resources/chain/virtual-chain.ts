/**
 * getVirtualChainFromBlock: the chain blocks that a client which knows the chain up to a block must remove and add to reach the sink. It has the
 * semantics of the node, over the whole indexed history.
 */
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { hash, hashInput } from '../../schemas/values.ts';
import { getPathToChain } from './path-to-chain.ts';
import { cannotCross, type Gap, gapAbove, listGaps } from './segments.ts';

/** The limit of the node at ten blocks per second: merged blocks if ids are requested, else chain blocks. */
const MAX_ADDED = 2480;

/** Accepted ids per response, which then has 17 MB. The node has no such limit; clients continue from the last block in any case. */
const MAX_ACCEPTED = 250_000;

const body = z.strictObject({ startHash: hashInput, includeAcceptedTransactionIds: z.boolean() });

const acceptedTransactionIds = z
  .object({ acceptingBlockHash: hash, acceptedTransactionIds: z.array(hash) })
  .meta({ id: 'AcceptedTransactionIds' });

const virtualChain = z.object({
  removedChainBlockHashes: z
    .array(hash)
    .meta({ description: 'From `startHash` down to the chain, without the chain block' }),
  addedChainBlockHashes: z.array(hash).meta({
    description: 'From the chain block upwards, as many as merge 2,480 blocks, or 2,480 without transaction ids',
  }),
  acceptedTransactionIds: z
    .array(acceptedTransactionIds)
    .meta({ description: 'One entry for each added block; empty unless requested' }),
});

type VirtualChainJson = z.infer<typeof virtualChain>;

interface AddedRow {
  index: bigint;
  hash: string;
  merged: number;
}

/** Lists at most MAX_ADDED chain blocks above an index, up to the gap, with the number of blocks that each merges. */
async function listChain(db: Db, aboveIndex: bigint, gap: Gap | undefined): Promise<AddedRow[]> {
  const { rows } = await sql<AddedRow>`
    select c.index, encode(b.hash, 'hex') as hash, cardinality(b.merge_set_blues) + cardinality(b.merge_set_reds) as merged
    from chain_blocks c join blocks b on b.id = c.block_id
    where c.index > ${aboveIndex} ${gap ? sql`and c.index <= ${gap.after.index}` : sql``}
    order by c.index
    limit ${MAX_ADDED}`.execute(db);
  return rows;
}

/** Returns the longest prefix that merges at most MAX_ADDED blocks. */
function withinMerged(added: readonly AddedRow[]): AddedRow[] {
  let merged = 0;
  const end = added.findIndex((row) => (merged += row.merged) > MAX_ADDED);
  return end === -1 ? [...added] : added.slice(0, end);
}

interface AcceptedRow {
  index: bigint;
  /** Concatenated, in hex. */
  ids: string;
}

/**
 * Loads the accepted ids of a range of chain blocks in the order of the node, by chain index: for the longest prefix with at most MAX_ACCEPTED
 * ids, and at least for one block. Postgres concatenates the ids, since a row for each would cost this process five times as much. One look-up of
 * all keys is several times faster than a join for each chain block.
 */
async function loadAccepted({ db, slices }: Reading, aboveIndex: bigint, size: number): Promise<Map<bigint, string[]>> {
  const { rows } = await sql<AcceptedRow>`
    with within as materialized (
      select index, accepted_transactions
      from (
        select index, accepted_transactions,
          sum(cardinality(accepted_transactions)) over (order by index) as accepted, row_number() over (order by index) as position
        from chain_blocks
        where index > ${aboveIndex} and index <= ${aboveIndex + BigInt(size)}
      ) as range
      where accepted <= ${MAX_ACCEPTED} or position = 1
    ), wanted as materialized (
      select within.index, accepted.key, accepted.position
      from within cross join unnest(within.accepted_transactions) with ordinality as accepted (key, position)
    ), found as materialized (
      select id, transaction_id from transactions where id = any(array(select key from wanted))
    ), joined as (
      select wanted.index, encode(string_agg(found.transaction_id, '' order by wanted.position), 'hex') as ids
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

async function readVirtualChain(reading: Reading, request: z.infer<typeof body>): Promise<VirtualChainJson> {
  const { db } = reading;
  const { offChain, chainBlock } = await getPathToChain(reading, request.startHash);
  const gap = gapAbove(await listGaps(reading), chainBlock.index);
  // Empty lists would mean that the client is at the sink.
  if (offChain.length === 0 && gap?.after.index === chainBlock.index) throw cannotCross(gap);
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

export const getVirtualChainFromBlock = indexRoute(
  {
    method: 'POST',
    url: '/v1/rpc/getVirtualChainFromBlock',
    operationId: 'getVirtualChainFromBlock',
    summary: 'Changes of the virtual chain from a block to the sink',
    description:
      'A response ends before a gap of the index; a request from the last block before a gap is a 409 that names the first block after it.',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    body,
    response: virtualChain,
    errors: [404, 409],
  },
  (reading, { body }) => readVirtualChain(reading, body),
);
