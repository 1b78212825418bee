/** GET /v1/addresses/{address}/transactions: transactions that spend from or pay to an address, newest first. */
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import { pageMetadata, pageQuery } from '../../pages/page-query.ts';
import { type Listing, listKeys, readPage } from '../../pages/read-page.ts';
import { indexRoute } from '../../route.ts';
import { findScriptOfRequest } from '../../schemas/address.ts';
import { addressInput, hashInput, sompi, sompiDelta } from '../../schemas/values.ts';
import { listing } from '../shared.ts';
import { isAccepted } from '../transactions/pre-bootstrap.ts';
import { loadRestTransactions } from '../transactions/rest/load-rest-transactions.ts';
import { type RestTransactionJson, restTransaction, transactionFlags } from '../transactions/rest/schemas.ts';

const addressTransaction = restTransaction
  .extend({
    amountSent: sompi.meta({ description: 'Sum of the UTXOs of the address that it spends' }),
    amountReceived: sompi.meta({ description: 'Sum of the outputs that pay the address' }),
    balanceChange: sompiDelta.meta({
      description: '`amountReceived` less `amountSent`; effective only while accepted',
    }),
  })
  .meta({ id: 'AddressTransaction' });

/** Finds the key of a transaction that touches the script. */
async function findPosition(db: Db, scriptId: bigint, transactionId: Uint8Array): Promise<bigint | undefined> {
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
 * Makes the listing of transactions that touch the script. Acceptance is looked up row by row (`offset 0` keeps Postgres from turning that into a
 * join), so that reading stops with the page. Few transactions are not accepted, and so skipped.
 */
function listingOf(db: Db, scriptId: bigint | undefined, onlyAccepted: boolean): Listing<Uint8Array, bigint, bigint> {
  if (scriptId === undefined) return { findPosition: async () => undefined, list: async () => [] };
  const accepted = sql`exists (
    select from transactions where id = address_transactions.transaction_id and ${isAccepted()} offset 0)`;
  const source = {
    table: 'address_transactions',
    column: 'transaction_id',
    where: sql`script_id = ${scriptId} ${onlyAccepted ? sql`and ${accepted}` : sql``}`,
  };
  return {
    findPosition: (transactionId) => findPosition(db, scriptId, transactionId),
    list: (slice) => listKeys(db, source, slice),
  };
}

/** Sums up the inputs and outputs shown, in which the amounts of UTXOs that do not exist are null. */
function toAddressTransaction(transaction: RestTransactionJson, address: string) {
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

export const listAddressTransactions = indexRoute(
  {
    ...listing('Address', '/v1/addresses/:address/transactions', 'listAddressTransactions'),
    summary: 'Transactions that spend from or pay to an address, newest first',
    params: z.strictObject({ address: addressInput }),
    query: pageQuery(hashInput, transactionFlags),
    response: z.object({
      transactions: z.array(addressTransaction).meta({ description: 'Newest first' }),
      metadata: pageMetadata,
    }),
  },
  async (reading, { params: { address }, query }) => {
    const scriptId = await findScriptOfRequest(reading, address);
    const { rows, metadata } = await readPage(query, listingOf(reading.db, scriptId, query.accepted_only));
    const transactions = await loadRestTransactions(reading, rows, { includePayload: query.include_payload });
    return { transactions: transactions.map((transaction) => toAddressTransaction(transaction, address)), metadata };
  },
);
