/** GET /v1/addresses/{address}: the balance and the activity of an address. */
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { addressTag, automaticLabels, findScriptOfRequest } from '../../schemas/address.ts';
import { address, addressInput, count, sompi, timestamp } from '../../schemas/values.ts';
import { loadRestTransactions } from '../transactions/rest/load-rest-transactions.ts';
import { findTag } from './tag.ts';

const addressDetails = z
  .object({
    address,
    balance: sompi,
    utxoCount: count,
    transactionCount: count.meta({ description: 'Transactions that spend from it or pay to it, accepted or not' }),
    firstSeen: timestamp
      .nullable()
      .meta({ description: '`blockTime` of the first of these transactions; null if there are none' }),
    lastSeen: timestamp.nullable().meta({ description: '`blockTime` of the last of these transactions' }),
    tag: addressTag.nullable().meta({ description: 'Tag of the address, else of its cluster' }),
    automaticLabels,
  })
  .meta({ id: 'AddressDetails' });

/** Returns undefined for a script that no transaction touches. */
function findBalance(db: Db, scriptId: bigint) {
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

/** Finds the key of the first or last transaction of the script. */
async function findTransactionKey(db: Db, scriptId: bigint, end: 'first' | 'last'): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('address_transactions')
    .select('transaction_id')
    .where('script_id', '=', scriptId)
    .orderBy('transaction_id', end === 'first' ? 'asc' : 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.transaction_id;
}

interface Activity {
  firstSeen: number | null;
  lastSeen: number | null;
}

async function findActivity(reading: Reading, scriptId: bigint): Promise<Activity> {
  const firstKey = await findTransactionKey(reading.db, scriptId, 'first');
  const lastKey = await findTransactionKey(reading.db, scriptId, 'last');
  if (firstKey === undefined || lastKey === undefined) return { firstSeen: null, lastSeen: null };
  const [first, last] = await loadRestTransactions(reading, [firstKey, lastKey], { includePayload: false });
  return { firstSeen: first?.blockTime ?? null, lastSeen: last?.blockTime ?? null };
}

async function getDetails(reading: Reading, address: string): Promise<z.infer<typeof addressDetails>> {
  const { db } = reading;
  const scriptId = await findScriptOfRequest(reading, address);
  const balance = scriptId === undefined ? undefined : await findBalance(db, scriptId);
  const activity = scriptId === undefined ? undefined : await findActivity(reading, scriptId);
  return {
    address,
    balance: String(balance?.balance ?? 0n),
    utxoCount: Number(balance?.utxo_count ?? 0n),
    transactionCount: Number(balance?.transaction_count ?? 0n),
    firstSeen: activity?.firstSeen ?? null,
    lastSeen: activity?.lastSeen ?? null,
    tag: (await findTag(reading, address)) ?? null,
    automaticLabels: balance?.automatic_labels ?? [],
  };
}

export const getAddress = indexRoute(
  {
    method: 'GET',
    url: '/v1/addresses/:address',
    operationId: 'getAddress',
    summary: 'Balance, activity, tag and labels of an address',
    tag: 'Address',
    cost: 0.1,
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ address: addressDetails }),
  },
  async (reading, { params }) => ({ address: await getDetails(reading, params.address) }),
);
