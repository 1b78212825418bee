/** GET /v1/addresses/{address}/transactions: transactions that spend from or pay to an address, newest first. */
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import type { JsonFields } from '../../index-state/json.ts';
import { text } from '../../index-state/sql.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { type ParameterOf, statementsBy } from '../../index-state/statement.ts';
import { cursorOf, keyPage, type PageParameters, pageProblems, type PageStart, startOf } from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { statementRoute } from '../../route.ts';
import { requireNetwork, scriptIdOf, type ScriptParameters, scriptParametersOf } from '../../schemas/address.ts';
import { addressInput, hashInput, sompi, sompiDelta } from '../../schemas/values.ts';
import { listing, page } from '../shared.ts';
import { isAccepted, joinPrevious } from '../transactions/fields.ts';
import { restTransaction, transactionFlags } from '../transactions/rest/schemas.ts';
import { restTransactions, utxoExists } from '../transactions/rest/select-transactions.ts';

const addressTransaction = restTransaction
  .extend({
    amountSent: sompi.meta({ description: 'Sum of the UTXOs of the address that it spends' }),
    amountReceived: sompi.meta({ description: 'Sum of the outputs that pay the address' }),
    balanceChange: sompiDelta.meta({
      description: '`amountReceived` less `amountSent`; effective only while accepted',
    }),
  })
  .meta({ id: 'AddressTransaction' });

type Amounts = Record<'amountSent' | 'amountReceived' | 'balanceChange', string>;

/** The kept amount counts UTXOs that do not exist, too, which only a transaction that is not accepted can spend. */
const amountSent = sql`case when ${isAccepted()} then touch.amount_sent else (
  select coalesce(sum(input.amount), 0)::bigint
  from transaction_inputs input ${joinPrevious}
  where input.transaction_id = transactions.id and input.script_id = touch.script_id and ${utxoExists}) end`;

const amounts: JsonFields<Amounts> = {
  amountSent: text('amounts.sent'),
  amountReceived: text('touch.amount_received'),
  balanceChange: sql`(touch.amount_received - amounts.sent)::text`,
};

interface Variant {
  start: PageStart;
  acceptedOnly: boolean;
  includePayload: boolean;
}

const transactionPage = statementsBy(
  'address transactions',
  (parameter: ParameterOf<PageParameters & ScriptParameters>, { start, acceptedOnly, includePayload }: Variant) => {
    const scriptId = sql`(select id from script)`;
    const ofScript = sql`script_id = ${scriptId}`;
    // `offset 0` keeps Postgres from turning the look-up into a join, so that reading stops with the page. Few transactions are not accepted.
    const accepted = sql`exists (
      select from transactions where id = address_transactions.transaction_id and ${isAccepted()} offset 0)`;
    const { tables, items, metadata, ...parts } = keyPage(parameter, start, {
      table: 'address_transactions',
      column: 'transaction_id',
      where: acceptedOnly ? sql`${ofScript} and ${accepted}` : ofScript,
      cursorKey: sql`(
        select touch.transaction_id from transactions join address_transactions touch on touch.transaction_id = transactions.id
        where transactions.transaction_id = ${parameter('cursor', 'bytea')} and touch.script_id = ${scriptId})`,
    });
    const touch = sql`
      join address_transactions touch on touch.transaction_id = page.key and touch.script_id = ${scriptId}
      cross join lateral (select ${amountSent} as sent offset 0) amounts`;
    return {
      ...parts,
      tables: { script: sql`select ${scriptIdOf(parameter)} as id`, ...tables },
      body: jsonBuildObject({
        transactions: restTransactions(items, { includePayload, more: amounts, joins: touch }),
        metadata,
      }),
    };
  },
);

export const listAddressTransactions = statementRoute(
  {
    ...listing('Address', '/v1/addresses/:address/transactions', 'listAddressTransactions'),
    summary: 'Transactions that spend from or pay to an address, newest first',
    params: z.strictObject({ address: addressInput }),
    query: pageQuery(hashInput, transactionFlags),
    response: page({ transactions: z.array(addressTransaction).meta({ description: 'Newest first' }) }),
  },
  ({ params: { address }, query }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    const variant = {
      start: startOf(query),
      acceptedOnly: query.accepted_only,
      includePayload: query.include_payload,
    };
    return transactionPage(variant).with({
      ...scriptParametersOf(address),
      limit: query.limit,
      cursor: cursorOf(query),
    });
  },
  pageProblems,
);
