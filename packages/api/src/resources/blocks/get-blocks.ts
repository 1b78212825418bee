/** getBlocks: blocks from a low block upwards, a page at a time, in the node's selection and order. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import { anyOf, hex } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { block } from '../../schemas/block.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { flag, hash, hashOrEmptyInput } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { getFirstBlockHash } from '../chain/parts.ts';
import { loadBlocks } from './load-blocks.ts';
import { listMasses } from './queries.ts';
import { type SelectedBlocks, selectBlocks } from './select-blocks.ts';

/**
 * Compute mass of the transactions of a response: at least their bytes on the wire, and some 16,000 ordinary transactions or 50 MB of JSON.
 */
const MAX_MASS = 32_000_000;

const body = z
  .strictObject({
    lowHash: hashOrEmptyInput
      .optional()
      .meta({ description: 'Where the page starts; left out or empty: the first indexed block' }),
    includeBlocks: flag,
    includeTransactions: flag.meta({ description: 'Only together with `includeBlocks`' }),
  })
  .refine((request) => request.includeBlocks || !request.includeTransactions, {
    path: ['includeTransactions'],
    message: 'needs includeBlocks',
  });

const blocks = z.object({
  blockHashes: z.array(hash).meta({ description: '`lowHash` first' }),
  blocks: z.array(block).meta({ description: 'In the order of `blockHashes`; empty unless asked for' }),
});

type BlocksJson = z.infer<typeof blocks>;

/** In the order of the ids. */
async function listHashes(db: Kysely<Database>, ids: readonly bigint[]): Promise<string[]> {
  const rows = await db
    .selectFrom('blocks')
    .select(['id', hex('hash').as('hash')])
    .where('id', '=', anyOf(ids))
    .execute();
  const hashes = new Map(rows.map((row) => [row.id, row.hash]));
  return ids.map((id) => hashes.get(id) as string);
}

/** As many of the first blocks as contain no more than MAX_MASS of transactions, or the fewest that a response may have. */
async function withinMass(db: Kysely<Database>, { ids, shorterLengths }: SelectedBlocks): Promise<bigint[]> {
  const rows = await listMasses(db, ids);
  const massOf = new Map(rows.map((row) => [row.block_id, Number(row.mass)]));
  let mass = 0;
  const tooLong = ids.findIndex((id) => (mass += massOf.get(id) ?? 0) > MAX_MASS);
  if (tooLong === -1) return [...ids];
  const length = shorterLengths.findLast((shorter) => shorter <= tooLong) ?? shorterLengths[0];
  return ids.slice(0, length);
}

async function getBlocks(reading: Reading, request: z.infer<typeof body>): Promise<BlocksJson> {
  const { db } = reading;
  const selected = await selectBlocks(reading, request.lowHash ?? (await getFirstBlockHash(db)));
  const ids = request.includeTransactions ? await withinMass(db, selected) : selected.ids;
  if (!request.includeBlocks) return { blockHashes: await listHashes(db, ids), blocks: [] };
  const found = await loadBlocks(reading, ids, request.includeTransactions);
  return { blockHashes: found.map(({ header }) => header.hash), blocks: found };
}

export const getBlocksRoutes: ApiPlugin = async (app, { index }) => {
  app.post(
    '/v1/rpc/getBlocks',
    {
      config: { cost: 0.5 },
      schema: {
        operationId: 'getBlocks',
        summary: 'Blocks from a low block upwards, at most about 250 of them',
        description:
          'A response with transactions ends sooner, with a chain block as always, where these have more than 32,000,000 of compute mass together. An answer ends before a gap of the index. From the last block before it there is no way on: a 409 that names the first block after it. Blocks before the first block of the index, or of a part behind a gap, are shown by their hashes alone, as its parents and in its mergeset.',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(blocks, 304, ...UNDER_KEY, ...WITH_BODY, 404, 409),
      },
    },
    (request, reply) => respondFromIndex(index, request, reply, (reading) => getBlocks(reading, request.body)),
  );
};
