/** GET /v1/addresses/{address}/transactions: what an address sent and received, newest first. */
import type { Database } from '@kasgres/database';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { pageMetadata, pageQuery } from '../../pages/page-query.ts';
import { type Listing, readPage, type Slice } from '../../pages/read-page.ts';
import { requireNetwork } from '../../schemas/address.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { addressInput, hashInput, sompi, sompiChange } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { isAccepted } from '../transactions/earlier.ts';
import { loadRestTransactions } from '../transactions/rest/load-rest-transactions.ts';
import {
  acceptedOnly,
  includePayload,
  type RestTransactionJson,
  restTransaction,
} from '../transactions/rest/schemas.ts';
import { findScriptId } from './find-script.ts';

const params = z.strictObject({ address: addressInput });

const query = pageQuery(hashInput, { accepted_only: acceptedOnly, include_payload: includePayload });

const addressTransaction = restTransaction
  .extend({
    amountSent: sompi.meta({ description: 'Sum of the inputs that spend UTXOs of the address' }),
    amountReceived: sompi.meta({ description: 'Sum of the outputs that pay the address' }),
    balanceChange: sompiChange.meta({ description: 'amountReceived - amountSent; it counts while it is accepted' }),
  })
  .meta({ id: 'AddressTransaction' });

type AddressTransactionJson = z.infer<typeof addressTransaction>;

const page = z.object({
  transactions: z.array(addressTransaction).meta({ description: 'Newest first' }),
  metadata: pageMetadata,
});

/** The key of a transaction that touches the script. */
async function findPosition(
  db: Kysely<Database>,
  scriptId: bigint,
  transactionId: Uint8Array,
): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('transactions')
    .innerJoin('address_transactions as touch', 'touch.transaction_id', 'transactions.id')
    .select('transactions.id')
    .where('transactions.transaction_id', '=', Buffer.from(transactionId))
    .where('touch.script_id', '=', scriptId)
    .executeTakeFirst();
  return row?.id;
}

/**
 * Keys of the transactions that touch the script, nearest to the start of the slice first. Whether one is accepted is looked up row
 * by row (`offset 0` keeps Postgres from turning that into a join), so that reading stops with the page: it costs a look-up for each
 * row shown and two for each left out. Those left out are a small part anywhere but at an address that nobody would accept payments of.
 */
async function listKeys(
  db: Kysely<Database>,
  scriptId: bigint,
  { from, isBackward, limit }: Slice<bigint>,
  onlyAccepted: boolean,
): Promise<bigint[]> {
  const accepted = sql<boolean>`exists (
    select from transactions where id = address_transactions.transaction_id and ${isAccepted()} offset 0)`;
  const rows = await db
    .selectFrom('address_transactions')
    .select('transaction_id')
    .where('script_id', '=', scriptId)
    .$if(from !== undefined, (all) => all.where('transaction_id', isBackward ? '>' : '<', from as bigint))
    .$if(onlyAccepted, (all) => all.where(accepted))
    .orderBy('transaction_id', isBackward ? 'asc' : 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => row.transaction_id);
}

/** A script that was never seen has no items, and so no cursors. */
function listingOf(
  db: Kysely<Database>,
  scriptId: bigint | undefined,
  onlyAccepted: boolean,
): Listing<Uint8Array, bigint, bigint> {
  if (scriptId === undefined) return { findPosition: async () => undefined, list: async () => [] };
  return {
    findPosition: (transactionId) => findPosition(db, scriptId, transactionId),
    list: (slice) => listKeys(db, scriptId, slice, onlyAccepted),
  };
}

/** Sums of what the transaction shows, so that a UTXO that does not exist counts as little here as there. */
function toAddressTransaction(transaction: RestTransactionJson, address: string): AddressTransactionJson {
  const spent = transaction.inputs.map((input) => input.previousOutput);
  const sent = sumOf(spent.filter((utxo) => utxo.scriptPublicKeyAddress === address));
  const received = sumOf(transaction.outputs.filter((utxo) => utxo.scriptPublicKeyAddress === address));
  return {
    ...transaction,
    amountSent: String(sent),
    amountReceived: String(received),
    balanceChange: String(received - sent),
  };
}

const sumOf = (utxos: readonly { amount: string | null }[]): bigint =>
  utxos.reduce((sum, { amount }) => sum + BigInt(amount ?? 0), 0n);

async function getPage(
  reading: Reading,
  address: string,
  request: z.infer<typeof query>,
): Promise<z.infer<typeof page>> {
  const { db, state } = reading;
  requireNetwork(state.network, address, 'address');
  requireCaughtUp(state);
  const scriptId = await findScriptId(db, address);
  const { rows, metadata } = await readPage(request, listingOf(db, scriptId, request.accepted_only));
  const transactions = await loadRestTransactions(reading, rows, { includePayload: request.include_payload });
  return { transactions: transactions.map((transaction) => toAddressTransaction(transaction, address)), metadata };
}

export const addressTransactionsRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/addresses/:address/transactions',
    {
      config: { cost: 0.5 },
      schema: {
        operationId: 'listAddressTransactions',
        summary: 'Transactions that an address sent or received, newest first',
        tags: ['Address'],
        params,
        querystring: query,
        response: answers(page, 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, (reading) => getPage(reading, request.params.address, request.query)),
  );
};
