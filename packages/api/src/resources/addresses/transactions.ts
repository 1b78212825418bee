/** GET /v1/addresses/{address}/transactions: transactions that spend from or pay to an address, newest first. */
import { sql } from 'kysely';
import { z } from 'zod';
import { pageQuery } from '../../pages/page-query.ts';
import { listKeys, readPage } from '../../pages/read-page.ts';
import { indexRoute } from '../../route.ts';
import { findScriptOfRequest } from '../../schemas/address.ts';
import { addressInput, hashInput, sompi, sompiDelta } from '../../schemas/values.ts';
import { listing, page } from '../shared.ts';
import { isAccepted } from '../transactions/queries.ts';
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
    response: page({ transactions: z.array(addressTransaction).meta({ description: 'Newest first' }) }),
  },
  async (reading, { params: { address }, query }) => {
    const { db } = reading;
    // A null script matches no row.
    const ofScript = sql`script_id = ${(await findScriptOfRequest(reading, address)) ?? null}`;
    // `offset 0` keeps Postgres from turning the look-up into a join, so that reading stops with the page. Few transactions are not accepted.
    const accepted = sql`exists (
      select from transactions where id = address_transactions.transaction_id and ${isAccepted()} offset 0)`;
    const where = query.accepted_only ? sql`${ofScript} and ${accepted}` : ofScript;
    const { rows, metadata } = await readPage(query, {
      findPosition: async (transactionId) => {
        const { rows } = await sql<{ id: bigint }>`
          select id from transactions join address_transactions touch on touch.transaction_id = transactions.id
          where transactions.transaction_id = ${transactionId} and ${ofScript}`.execute(db);
        return rows[0]?.id;
      },
      list: (slice) => listKeys(db, { table: 'address_transactions', column: 'transaction_id', where }, slice),
    });
    const transactions = await loadRestTransactions(reading, rows, query.include_payload);
    return { transactions: transactions.map((transaction) => toAddressTransaction(transaction, address)), metadata };
  },
);
