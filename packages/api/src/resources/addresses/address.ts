/** GET /v1/addresses/{address}, and its tag alone. */
import { findClusterTag, findOwnTag, type Tag } from '@kasgres/database';
import { addressToScript } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import type { Db } from '../../index-state/sql.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { addressTag, automaticLabels, findScriptOfRequest, requireNetwork } from '../../schemas/address.ts';
import { address, addressInput, count, sompi, timestamp } from '../../schemas/values.ts';
import { lookUp } from '../shared.ts';
import { loadRestTransactions } from '../transactions/rest/load-rest-transactions.ts';

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

interface BalanceRow {
  balance: string;
  utxoCount: number;
  transactionCount: number;
  labels: string[];
  /** Keys of the first and last transactions; null if only the bootstrap UTXO set has the script. */
  first: bigint | null;
  last: bigint | null;
}

async function findBalance(db: Db, scriptId: bigint | undefined): Promise<BalanceRow | undefined> {
  const { rows } = await sql<BalanceRow>`
    select balance::text as balance, utxo_count::float8 as "utxoCount", transaction_count::float8 as "transactionCount",
      automatic_labels(script_id) as labels,
      (select min(transaction_id) from address_transactions a where a.script_id = balances.script_id) as first,
      (select max(transaction_id) from address_transactions a where a.script_id = balances.script_id) as last
    from balances where script_id = ${scriptId ?? null}`.execute(db);
  return rows[0];
}

async function findTag({ db, state }: Reading, address: string): Promise<Tag | undefined> {
  const own = await findOwnTag(db, address);
  if (own !== undefined) return own;
  requireCaughtUp(state);
  const ofCluster = await findClusterTag(db, addressToScript(address));
  return ofCluster && { ...ofCluster, address };
}

export const getAddress = indexRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address', 'getAddress'),
    summary: 'Balance, activity, tag and labels of an address',
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ address: addressDetails }),
  },
  async (reading, { params: { address } }) => {
    const found = await findBalance(reading.db, await findScriptOfRequest(reading, address));
    const keys = [found?.first, found?.last].filter((key) => typeof key === 'bigint');
    const [first, last] = await loadRestTransactions(reading, keys);
    return {
      address: {
        address,
        balance: found?.balance ?? '0',
        utxoCount: found?.utxoCount ?? 0,
        transactionCount: found?.transactionCount ?? 0,
        firstSeen: first?.blockTime ?? null,
        lastSeen: last?.blockTime ?? null,
        tag: (await findTag(reading, address)) ?? null,
        automaticLabels: found?.labels ?? [],
      },
    };
  },
);

export const getAddressTag = indexRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address/tag', 'getAddressTag'),
    summary: 'Tag of an address, else of its cluster',
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ tag: addressTag }),
    errors: [404],
  },
  async (reading, { params: { address } }) => {
    requireNetwork(reading.state.network, address, 'address');
    const tag = await findTag(reading, address);
    if (tag === undefined) throw notFound('This address has no tag');
    return { tag };
  },
);
