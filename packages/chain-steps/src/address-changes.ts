/** Reads the amounts that accepted and removed transactions move from and to addresses. */
import { hex, jsonObject, text } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { ChangeRow } from './changes.ts';
import type { AddressChangeJson } from './event-schemas.ts';

/**
 * The amounts that an accepted or removed transaction moves from and to an address. The balance is
 * that at the sink of the state.
 */
export type AddressChange = Omit<AddressChangeJson, 'status' | 'balanceChange' | 'confirmations'>;

/**
 * Selects the changes of addresses. `limit 1` and `offset 0` make each join a look-up: Postgres
 * expects many more changes than there are, and would otherwise read whole tables for a step of one
 * block, or the whole history of an address.
 * @param addresses null for all
 */
export function selectAddressChanges(addresses: RawBuilder<readonly string[]>): RawBuilder<ChangeRow<AddressChange>> {
  const isWanted = sql`case when ${addresses} is null then script_id is not null
    else script_id in (select id from scripts where address = any(${addresses})) end`;
  const item = jsonObject<AddressChange>({
    address: sql`s.address`,
    transactionId: hex('t.transaction_id'),
    isCoinbase: sql`t.is_coinbase`,
    amountSent: text('moved.sent'),
    amountReceived: text('moved.received'),
    acceptingBlockHash: hex('moved.hash'),
    acceptingBlockBlueScore: text('moved.blue_score'),
    balance: sql`coalesce(b.balance, 0)::text`,
  });
  return sql`
    select moved.n, moved.status, moved.confirmations, moved.position, moved.transaction,
      s.address as name, ${item} as item
    from (
      select source.n, source.status, source.confirmations, source.position, source.hash,
        source.blue_score, a.id, a.transaction, d.script_id,
        sum(d.amount_sent)::bigint as sent, sum(d.amount_received)::bigint as received
      from source
      cross join unnest(source.accepted_transactions) with ordinality a (id, transaction)
      cross join lateral (
        select *, ${isWanted} as is_wanted from script_deltas
          where transaction_id = a.id offset 0) d
      where d.is_wanted
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9) moved
    cross join lateral (
      select transaction_id, subnetwork_id = 1 as is_coinbase
      from transactions where id = moved.id limit 1) t
    cross join lateral (
      select address from scripts where id = moved.script_id and address is not null limit 1) s
    left join lateral (
      select balance from balances where script_id = moved.script_id limit 1) b on true`;
}
