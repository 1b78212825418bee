/** Selects transactions in the form of listings and look-ups, as JSON (index-state/statement.ts). */
import { type RawBuilder, sql } from 'kysely';
import { sinkBlueScore } from '../../../index-state/statement.ts';
import { bootstrapBlueScore } from '../queries.ts';
import type { RestTransactionJson } from './schemas.ts';

interface Options<More> {
  includePayload?: boolean;
  /** Selects further fields, of `joins`. */
  more?: RawBuilder<More>;
  joins?: RawBuilder<unknown>;
}

/**
 * Selects the transactions of `page` as a JSON array.
 * @param items limits and orders the rows of `page`
 */
export const restTransactions = <More = unknown>(
  items: RawBuilder<unknown>,
  options?: Options<More>,
): RawBuilder<(RestTransactionJson & More)[]> =>
  sql`(select coalesce(json_agg(listed), '[]') from (${selectTransactions(items, options)}) listed)`;

/** Selects the one transaction of `page` as JSON. */
export const restTransaction = (options?: Options<unknown>): RawBuilder<RestTransactionJson> =>
  sql`(select to_json(listed) from (${selectTransactions(sql``, options)}) listed)`;

/**
 * Of several variants of a transaction (docs/architecture.md), it selects the accepted one, else the first. For pre-bootstrap transactions,
 * confirmations are a lower bound. Must not be executed during the first catch-up, when indexes may be missing.
 */
function selectTransactions(
  items: RawBuilder<unknown>,
  { includePayload = false, more = sql``, joins = sql`` }: Options<unknown> = {},
) {
  const payload = sql`, case when octet_length(transactions.payload) = 0 then '' else '0x' || encode(transactions.payload, 'hex') end as payload`;
  return sql`
      select
        encode(transactions.transaction_id, 'hex') as "transactionId",
        transactions.version,
        containing."blockTime",
        encode(subnetworks.subnetwork_id, 'hex') as "subnetworkId",
        encode(coalesce(variant.hash, transactions.hash), 'hex') as hash,
        coalesce(variant.storage_mass, transactions.storage_mass)::text as mass,
        coalesce(variant.compute_mass, transactions.compute_mass)::text as "computeMass",
        ${fee} as fee,
        transactions.lock_time::text as "lockTime",
        transactions.gas::text as gas
        ${includePayload ? payload : sql``},
        containing."blockHashes",
        acceptance."isAccepted",
        encode(accepting.hash, 'hex') as "acceptingBlockHash",
        accepting.blue_score::text as "acceptingBlockBlueScore",
        case when acceptance."isAccepted"
          then ${sinkBlueScore} - coalesce(accepting.blue_score, ${bootstrapBlueScore}) else 0 end as confirmations,
        ${inputs} as inputs,
        ${outputs} as outputs
        ${more}
      from page
      join transactions on transactions.id = page.key
      join subnetworks on subnetworks.id = transactions.subnetwork_id
      left join blocks accepting on accepting.id = transactions.accepting_block_id
      left join transaction_bodies variant
        on variant.transaction_id = transactions.id and variant.body = transactions.accepted_body
      cross join lateral (select ${isAccepted('transactions')} as "isAccepted" offset 0) acceptance
      cross join lateral (${containing}) containing
      ${joins}
      ${items}`;
}

/** Tests whether a transaction is accepted, by an indexed block or before a bootstrap block. */
const isAccepted = (transactions: string): RawBuilder<boolean> => sql`(
  ${sql.ref(`${transactions}.accepting_block_id`)} is not null
  or exists (select from earlier_transactions where earlier_transactions.id = ${sql.ref(`${transactions}.id`)} offset 0))`;

/** The time is that of the blocks that the accepting block merges, since the transaction was accepted from one of them; of all if that is unknown. */
const containing = sql`
  select json_agg(encode(blocks.hash, 'hex') order by blocks.timestamp, blocks.hash) as "blockHashes",
    min(blocks.timestamp) filter (where transactions.accepting_block_id is null
      or blocks.merging_block_id = transactions.accepting_block_id) as "blockTime"
  from block_transactions contained
  join blocks on blocks.id = contained.block_id
  where contained.transaction_id = transactions.id`;

/** Joins an input with the transaction of the UTXO that it spends: `previous`, or `earlier` if that is pre-bootstrap. */
export const previousOfInput = sql`
  left join transactions previous on previous.id = input.previous_transaction_id
  left join earlier_transactions earlier on earlier.id = input.previous_transaction_id`;

/** A UTXO whose transaction is not accepted does not exist, and a transaction that spends it is not accepted either. */
export const exists = sql<boolean>`(
  acceptance."isAccepted" or previous.accepting_block_id is not null or earlier.id is not null)`;

const fee = sql`
  case when acceptance."isAccepted" or not exists (
    select from transaction_inputs input ${previousOfInput}
    where input.transaction_id = transactions.id and not ${exists}
  ) then transactions.fee::text end`;

const previousOutput = sql`(
  select to_json(utxo) from (
    select
      encode(coalesce(previous.transaction_id, earlier.transaction_id, input.previous_transaction_hash), 'hex') as "transactionId",
      input.previous_index as index,
      case when ${exists} then input.amount::text end as amount,
      case when ${exists} then encode(script.script, 'hex') end as "scriptPublicKey",
      case when ${exists} then script.address end as "scriptPublicKeyAddress",
      case when ${exists} then script.type end as "scriptPublicKeyType"
  ) utxo)`;

/** Inputs of transaction version 1 and later have a compute budget. */
const inputs = sql`(
  select coalesce(json_agg(listed.item), '[]') from (
    select case when transactions.version = 0 then ${input(sql``)}
      else ${input(sql`coalesce(body.compute_budget, input.compute_budget) as "computeBudget",`)} end as item
    from transaction_inputs input
    ${previousOfInput}
    left join scripts script on script.id = input.script_id
    left join transaction_body_inputs body on body.transaction_id = input.transaction_id
      and body.body = transactions.accepted_body and body.index = input.index
    where input.transaction_id = transactions.id
    order by input.index
  ) listed)`;

function input(budget: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select to_json(item) from (
      select
        encode(transactions.transaction_id, 'hex') as "transactionId",
        input.index,
        encode(coalesce(body.signature_script, input.signature_script), 'hex') as "signatureScript",
        input.sequence::text as sequence,
        coalesce(body.sig_op_count, input.sig_op_count) as "sigOpCount",
        ${budget}
        ${previousOutput} as "previousOutput"
    ) item)`;
}

/** At most one accepted transaction spends an output. */
const spentBy = sql`(
  select encode(spender.transaction_id, 'hex')
  from transaction_inputs spending
  join transactions spender on spender.id = spending.transaction_id
  where spending.previous_transaction_id = output.transaction_id and spending.previous_index = output.index
    and ${isAccepted('spender')})`;

const outputs = sql`(
  select coalesce(json_agg(listed.item), '[]') from (
    select case when output.covenant_id is null then ${output(sql``)} else ${output(sql`
      json_build_object('authorizingInput', output.covenant_authorizing_input,
        'covenantId', encode(output.covenant_id, 'hex')) as covenant,`)} end as item
    from transaction_outputs output
    join scripts script on script.id = output.script_id
    where output.transaction_id = transactions.id
    order by output.index
  ) listed)`;

function output(covenant: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select to_json(item) from (
      select
        encode(transactions.transaction_id, 'hex') as "transactionId",
        output.index,
        output.amount::text as amount,
        encode(script.script, 'hex') as "scriptPublicKey",
        script.address as "scriptPublicKeyAddress",
        script.type as "scriptPublicKeyType",
        ${covenant}
        ${spentBy} as "spentBy"
    ) item)`;
}
