/** GET /v1/addresses/{address}: what an address sums up to. */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { respondByContent } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { requireNetwork } from '../../schemas/address.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { automaticLabels } from '../../schemas/automatic-labels.ts';
import { addressTag } from '../../schemas/tag.ts';
import { address, addressInput, count, sompi, timestamp } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { loadRestTransactions } from '../transactions/rest/load-rest-transactions.ts';
import { findScriptId } from './find-script.ts';
import { findTag } from './tag.ts';

const params = z.strictObject({ address: addressInput });

const addressDetails = z
  .object({
    address,
    balance: sompi,
    utxoCount: count,
    transactionCount: count.meta({ description: 'Transactions that spend from it or pay to it, accepted or not' }),
    firstSeen: timestamp.nullable().meta({ description: '`blockTime` of the first of these; null without any' }),
    lastSeen: timestamp.nullable().meta({ description: '`blockTime` of the last of these' }),
    tag: addressTag.nullable().meta({ description: 'Its own, else that of its cluster' }),
    automaticLabels,
  })
  .meta({ id: 'AddressDetails' });

type AddressDetailsJson = z.infer<typeof addressDetails>;

/** What is kept of the script; undefined for one that no transaction touches. */
function findSums(db: Kysely<Database>, scriptId: bigint) {
  return db
    .selectFrom('balances')
    .select([
      'balance',
      'utxo_count',
      'transaction_count',
      sql<string[]>`automatic_labels(script_id)`.as('automatic_labels'),
    ])
    .where('script_id', '=', scriptId)
    .executeTakeFirst();
}

/** Key of the transaction at one end of the listing of the address. */
async function findEndOfListing(
  db: Kysely<Database>,
  scriptId: bigint,
  end: 'oldest' | 'newest',
): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('address_transactions')
    .select('transaction_id')
    .where('script_id', '=', scriptId)
    .orderBy('transaction_id', end === 'oldest' ? 'asc' : 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.transaction_id;
}

interface Seen {
  firstSeen: number | null;
  lastSeen: number | null;
}

async function findWhenSeen(reading: Reading, scriptId: bigint): Promise<Seen> {
  const oldest = await findEndOfListing(reading.db, scriptId, 'oldest');
  const newest = await findEndOfListing(reading.db, scriptId, 'newest');
  if (oldest === undefined || newest === undefined) return { firstSeen: null, lastSeen: null };
  const [first, last] = await loadRestTransactions(reading, [oldest, newest], { includePayload: false });
  return { firstSeen: first?.blockTime ?? null, lastSeen: last?.blockTime ?? null };
}

async function getAddress(reading: Reading, asked: string): Promise<AddressDetailsJson> {
  const { db, state } = reading;
  requireNetwork(state.network, asked, 'address');
  requireCaughtUp(state);
  const scriptId = await findScriptId(db, asked);
  const sums = scriptId === undefined ? undefined : await findSums(db, scriptId);
  const seen = scriptId === undefined ? undefined : await findWhenSeen(reading, scriptId);
  return {
    address: asked,
    balance: String(sums?.balance ?? 0n),
    utxoCount: Number(sums?.utxo_count ?? 0n),
    transactionCount: Number(sums?.transaction_count ?? 0n),
    firstSeen: seen?.firstSeen ?? null,
    lastSeen: seen?.lastSeen ?? null,
    tag: (await findTag(reading, asked)) ?? null,
    automaticLabels: sums?.automatic_labels ?? [],
  };
}

export const addressRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/addresses/:address',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getAddress',
        summary: 'What an address holds, and when it was used',
        tags: ['Address'],
        params,
        response: answers(z.object({ address: addressDetails }), 304, ...UNDER_KEY, 400),
      },
    },
    (request, reply) =>
      respondByContent(index, request, reply, async (reading) => ({
        address: await getAddress(reading, request.params.address),
      })),
  );
};
