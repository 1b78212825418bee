/** GET /v1/addresses/{address}/transactions: transactions that spend from or pay to an address, newest first. */
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import type { JsonFields } from '../../index-state/json.ts';
import { hasTransactionId, text } from '../../index-state/sql.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { type ParameterOf, statementsBy } from '../../index-state/statement.ts';
import { cursorOf, keyPage, type PageParameters, pageProblems, type PageStart, startOf } from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { statementRoute } from '../../route.ts';
import { type AddressParameters, requireNetwork, scriptIdOf } from '../../schemas/address.ts';
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

/** Joins `amounts`: what a transaction moves from and to a script. Only a transaction that is not accepted can spend UTXOs that do not exist. */
const joinAmounts = (scriptId: RawBuilder<unknown>): RawBuilder<unknown> => {
  const sumOf = (table: 'input' | 'output', joins = sql``, condition = sql``): RawBuilder<unknown> => sql`(
    select coalesce(sum(${sql.ref(`${table}.amount`)}), 0)::bigint
    from ${sql.table(`transaction_${table}s`)} ${sql.ref(table)} ${joins}
    where ${sql.ref(`${table}.transaction_id`)} = transactions.id and ${sql.ref(`${table}.script_id`)} = ${scriptId} ${condition})`;
  return sql`cross join lateral (
    select ${sumOf('output')} as received,
      case when ${isAccepted()} then ${sumOf('input')} else ${sumOf('input', joinPrevious, sql`and ${utxoExists}`)} end as sent
    offset 0) amounts`;
};

const amounts: JsonFields<Amounts> = {
  amountSent: text('amounts.sent'),
  amountReceived: text('amounts.received'),
  balanceChange: sql`(amounts.received - amounts.sent)::text`,
};

interface Variant {
  start: PageStart;
  acceptedOnly: boolean;
  includePayload: boolean;
}

const transactionPage = statementsBy(
  'address transactions',
  (parameter: ParameterOf<PageParameters & AddressParameters>, { start, acceptedOnly, includePayload }: Variant) => {
    const scriptId = sql`(select id from script)`;
    const ofScript = sql`script_id = ${scriptId}`;
    // `offset 0` keeps Postgres from turning the look-up into a join, so that reading stops with the page. Few transactions are not accepted.
    const accepted = sql`exists (
      select from transactions where id = script_deltas.transaction_id and ${isAccepted()} offset 0)`;
    const { tables, items, metadata, ...parts } = keyPage(parameter, start, {
      table: 'script_deltas',
      column: 'transaction_id',
      isRepeated: true,
      where: acceptedOnly ? sql`${ofScript} and ${accepted}` : ofScript,
      cursorKey: sql`(
        select id from transactions
        where ${hasTransactionId('transactions', parameter('cursor', 'bytea'))} and exists (
          select from script_deltas touch where touch.transaction_id = transactions.id and touch.script_id = ${scriptId} offset 0))`,
    });
    return {
      ...parts,
      tables: { script: sql`select ${scriptIdOf(parameter)} as id`, ...tables },
      body: jsonBuildObject({
        transactions: restTransactions(items, { includePayload, more: amounts, joins: joinAmounts(scriptId) }),
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
      address,
      limit: query.limit,
      cursor: cursorOf(query),
    });
  },
  pageProblems,
);
