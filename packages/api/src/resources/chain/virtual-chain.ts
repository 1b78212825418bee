/**
 * getVirtualChainFromBlock: the changes of the chain from a block to the sink, as the node returns
 * them, over the whole indexed history.
 */
import {
  cannotCross,
  type Db,
  type Gap,
  gapAbove,
  getPathToChain,
  hash,
  hashInput,
  listGaps,
  type Reading,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { z } from 'zod';
import { indexRoute } from '../../openapi/route.ts';
import { rpc } from '../shared.ts';

/**
 * The limit of the node at ten blocks per second: merged blocks if ids are requested, else chain
 * blocks.
 */
const MAX_ADDED = 2480;

/**
 * Accepted ids per response, which then has 17 MB. The node has no such limit; clients continue
 * from the last block in any case.
 */
const MAX_ACCEPTED = 250_000;

const acceptedTransactionIds = z
  .object({ acceptingBlockHash: hash, acceptedTransactionIds: z.array(hash) })
  .meta({ id: 'AcceptedTransactionIds' });

/**
 * Lists at most MAX_ADDED chain blocks above an index, up to the gap, with the number of blocks
 * that each merges.
 */
async function listChain(db: Db, aboveIndex: bigint, gap: Gap | undefined) {
  const { rows } = await sql<{ index: bigint; hash: string; merged: number }>`
    select c.index, encode(b.hash, 'hex') as hash,
      cardinality(b.merge_set_blues) + cardinality(b.merge_set_reds) as merged
    from chain_blocks c join blocks b on b.id = c.block_id
    where c.index > ${aboveIndex} ${gap ? sql`and c.index <= ${gap.after.index}` : sql``}
    order by c.index
    limit ${MAX_ADDED}`.execute(db);
  return rows;
}

function countWithinLimit(added: readonly { merged: number }[]): number {
  let merged = 0;
  const end = added.findIndex((row) => (merged += row.merged) > MAX_ADDED);
  return end === -1 ? added.length : end;
}

/**
 * Loads the accepted ids of a range of chain blocks in the order of the node, by chain index: for
 * the longest prefix with at most MAX_ACCEPTED ids, and at least for one block. Postgres
 * concatenates the ids, since a row for each would cost this process five times as much. One
 * look-up of all keys is several times faster than a join for each chain block.
 */
async function loadAccepted({ db, slices }: Reading, aboveIndex: bigint, size: number): Promise<Map<bigint, string[]>> {
  const { rows } = await sql<{ index: bigint; ids: string }>`
    with within as materialized (
      select index, accepted_transactions
      from (
        select index, accepted_transactions,
          sum(cardinality(accepted_transactions)) over (order by index) as accepted,
          row_number() over (order by index) as position
        from chain_blocks
        where index > ${aboveIndex} and index <= ${aboveIndex + BigInt(size)}
      ) as range
      where accepted <= ${MAX_ACCEPTED} or position = 1
    ), wanted as materialized (
      select within.index, accepted.key, accepted.position
      from within cross join unnest(within.accepted_transactions)
        with ordinality as accepted (key, position)
    ), found as materialized (
      select id, transaction_id from transactions where id = any(array(select key from wanted))
    ), joined as (
      select wanted.index, encode(string_agg(found.transaction_id, ''
        order by wanted.position), 'hex') as ids
      from wanted join found on found.id = wanted.key
      group by wanted.index
    )
    select within.index, coalesce(joined.ids, '') as ids
    from within left join joined on joined.index = within.index`.execute(db);
  return new Map(await slices.map(rows, ({ index, ids }) => [index, ids.match(/.{64}/g) ?? []] as const));
}

/** @throws HttpError 404 or 409 if the start is not indexed */
export async function readVirtualChain(
  reading: Reading,
  { startHash, includeAcceptedTransactionIds }: { startHash: Uint8Array; includeAcceptedTransactionIds: boolean },
) {
  const { offChain, chainBlock } = await getPathToChain(reading, startHash);
  const gap = gapAbove(await listGaps(reading), chainBlock.index);
  // Empty lists would mean that the client is at the sink.
  if (offChain.length === 0 && gap?.after.index === chainBlock.index) throw cannotCross(gap);
  const chain = await listChain(reading.db, chainBlock.index, gap);
  const accepted = includeAcceptedTransactionIds
    ? await loadAccepted(reading, chainBlock.index, countWithinLimit(chain))
    : undefined;
  const added = chain.slice(0, accepted?.size);
  return {
    removedChainBlockHashes: offChain.map((block) => block.hash),
    addedChainBlockHashes: added.map((row) => row.hash),
    acceptedTransactionIds: accepted
      ? added.map(({ index, hash }) => ({
          acceptingBlockHash: hash,
          acceptedTransactionIds: accepted.get(index) ?? [],
        }))
      : [],
  };
}

export const getVirtualChainFromBlock = indexRoute(
  {
    ...rpc('POST', 'getVirtualChainFromBlock'),
    summary: 'Changes of the virtual chain from a block to the sink',
    description:
      'A response ends before a gap of the index; a request from the last block before a gap is a 409 that names the first block after it.',
    body: z.strictObject({ startHash: hashInput, includeAcceptedTransactionIds: z.boolean() }),
    response: z.object({
      removedChainBlockHashes: z
        .array(hash)
        .meta({ description: 'From `startHash` down to the chain, without the chain block' }),
      addedChainBlockHashes: z.array(hash).meta({
        description: 'From the chain block upwards, as many as merge 2,480 blocks, or 2,480 without transaction ids',
      }),
      acceptedTransactionIds: z
        .array(acceptedTransactionIds)
        .meta({ description: 'One entry for each added block; empty unless requested' }),
    }),
    errors: [404, 409],
  },
  (reading, { body }) => readVirtualChain(reading, body),
);
