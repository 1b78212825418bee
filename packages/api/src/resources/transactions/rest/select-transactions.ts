/** Selects transactions in the form of listings and look-ups, as JSON. */
import {
  badRequest,
  outputCovenant,
  hex,
  hexOrNull,
  type HttpError,
  inputFields,
  isAccepted,
  joinPrevious,
  jsonArray,
  type JsonFields,
  jsonObject,
  transactionPayload,
  sinkBlueScore,
  text,
  textOrNull,
  transactionFields,
  transactionId,
} from '@kasgres/reads';
import { type Expression, type RawBuilder, sql } from 'kysely';
import type { RestInputJson, RestOutputJson, RestTransactionJson } from './schemas.ts';

/**
 * A UTXO whose transaction is not accepted does not exist, and a transaction that spends it is not
 * accepted either.
 */
export const utxoExists = sql<boolean>`(
  ${isAccepted()} or previous.accepting_index is not null or is_pre_bootstrap(input.previous_transaction_id))`;

interface Options {
  includePayload?: boolean;
  /** Whether it selects what `include=programs` needs (programs.ts). */
  withPrograms?: boolean;
  /** Whether inputs have the covenant of the UTXO that they spend (rest-server/forms.ts). */
  withSpentCovenants?: boolean;
}

const variant = sql<number | null>`transactions.accepted_variant`;
const input = inputFields(variant);
const transaction = transactionFields(variant);

type PreviousOutput = RestInputJson['previousOutput'];

const previousOutput = (
  utxo: JsonFields<Omit<PreviousOutput, 'transactionId' | 'index'>>,
): RawBuilder<PreviousOutput> =>
  jsonObject<PreviousOutput>({ transactionId: input.previousTransactionId, index: input.previousIndex, ...utxo });

/** The outputs that have a covenant are few, and have a separate index. */
const spentCovenant = sql<string | null>`
  case when not ${utxoExists} then null
    when previous.id is null then (
      select encode(older.covenant_id, 'hex') from bootstrap_utxos older
      where older.transaction_id = input.previous_transaction_id
        and older.index = input.previous_index)
    else (
      select encode(created.covenant_id, 'hex') from transaction_outputs created
      where created.transaction_id = input.previous_transaction_id
        and created.index = input.previous_index and created.covenant_id is not null) end`;

const inputsWith = ({ withPrograms = false, withSpentCovenants = false }: Options) =>
  jsonArray(
    jsonObject<RestInputJson>({
      transactionId,
      index: sql<number>`input.index`,
      signatureScript: input.signatureScript,
      sequence: input.sequence,
      sigOpCount: input.sigOpCount,
      computeBudget: input.computeBudget,
      ...(withPrograms && { spentScriptVersion: sql`script.version` }),
      ...(withSpentCovenants && { spentCovenantId: spentCovenant }),
      previousOutput: sql<PreviousOutput>`case when ${utxoExists} then ${previousOutput({
        amount: text('input.amount'),
        scriptPublicKey: hex('script.script'),
        scriptPublicKeyAddress: sql`script.address`,
        scriptPublicKeyType: sql`script.type`,
      })} else ${previousOutput({
        amount: sql`null`,
        scriptPublicKey: sql`null`,
        scriptPublicKeyAddress: sql`null`,
        scriptPublicKeyType: sql`null`,
      })} end`,
    }),
    sql`
    from transaction_inputs input ${joinPrevious}
    left join scripts script on script.id = input.script_id
    where input.transaction_id = transactions.id order by input.index`,
  );

/**
 * At most one accepted transaction spends an output, but for one that was accepted before a gap on
 * a chain that nodes left in it. Others may be any number, so `contested_outputs` has the accepted
 * one where there are more than 4 (packages/state).
 */
export const spending = sql`
  select coalesce(
      min(encode(spender.transaction_id, 'hex')) filter (where ${isAccepted('spender')}),
      case when count(*) = 4
        then encode(accepted_spender_id(output.transaction_id, output.index), 'hex') end) as accepted,
    min(encode(spender.transaction_id, 'hex')) as other
  from (select input.transaction_id as id from transaction_inputs input
    where input.previous_transaction_id = output.transaction_id
      and input.previous_index = output.index limit 4) found
  join transactions spender on spender.id = found.id`;

/**
 * The kinds of the events of a transaction by covenant, read once: any number of outputs may have
 * one covenant.
 */
const covenantEvents = sql`
  select jsonb_object_agg(encode(covenants.covenant_id, 'hex'), event.kind) as kinds
  from covenant_events event join covenants on covenants.id = event.covenant_id
  where event.transaction_id = transactions.id
    and event.chain_index = transactions.accepting_index`;

const covenantEvent = sql<RestOutputJson['covenantEvent'] & string>`events.kinds ->> encode(output.covenant_id, 'hex')`;

const outputsWith = ({ withPrograms = false }: Options) =>
  jsonArray(
    jsonObject<RestOutputJson>({
      transactionId,
      index: sql<number>`output.index`,
      amount: text('output.amount'),
      scriptPublicKey: hex('script.script'),
      scriptPublicKeyAddress: sql<string | null>`script.address`,
      scriptPublicKeyType: sql<RestOutputJson['scriptPublicKeyType']>`script.type`,
      covenant: outputCovenant,
      ...(withPrograms && { covenantEvent }),
      spentBy: sql<string | null>`coalesce(spending.accepted, spending.other)`,
      isSpent: sql<boolean>`spending.accepted is not null`,
    }),
    sql`
    from transaction_outputs output join scripts script on script.id = output.script_id
    cross join lateral (${spending}) spending
    ${withPrograms ? sql`cross join (${covenantEvents} offset 0) events` : sql``}
    where output.transaction_id = transactions.id order by output.index`,
  );

/**
 * The stored fee counts UTXOs that do not exist, too. A pre-bootstrap transaction that a block
 * carries again may have none.
 */
const fee: RawBuilder<string | null> = sql`
  (case when ${isAccepted()} then coalesce(transactions.fee, inputs_minus_outputs(transactions.id))
    else fee_of_existing_utxos(transactions.id) end)::text`;

const confirmations: RawBuilder<number> = sql`
  case when ${isAccepted()}
    then ${sinkBlueScore} - coalesce(accepting.blue_score, bootstrap_blue_score()) else 0 end`;

const fields = (options: Options): JsonFields<RestTransactionJson> => ({
  transactionId,
  version: transaction.version,
  blockTime: sql`containing."blockTime"`,
  subnetworkId: transaction.subnetworkId,
  hash: transaction.hash,
  mass: transaction.mass,
  computeMass: transaction.computeMass,
  fee,
  lockTime: transaction.lockTime,
  gas: transaction.gas,
  ...(options.includePayload && { payload: transactionPayload }),
  blockHashes: sql`containing."blockHashes"`,
  blockCount: sql`containing."blockCount"`,
  isAccepted: isAccepted(),
  acceptingBlockHash: hexOrNull('accepting.hash'),
  acceptingBlockBlueScore: textOrNull('accepting.blue_score'),
  confirmations,
  inputs: inputsWith(options),
  outputs: outputsWith(options),
});

export const joinAccepting = sql`left join chain_blocks accepting on accepting.index = transactions.accepting_index`;

/**
 * Readers count up to this many blocks of a transaction; where there are more,
 * `repeated_transactions` has their number (packages/state).
 */
export const MAX_BLOCK_HASHES = 16;
const LISTED = sql.lit(MAX_BLOCK_HASHES);
/** Blocks are merged nearly in the order in which they were written, in which they are read. */
const READ = sql.lit(2 * MAX_BLOCK_HASHES);

/**
 * Anybody can mine a transaction again and again, so that only the first blocks are read, and those
 * that the accepting block merges, of which the transaction was accepted from one. Keys of chain
 * blocks ascend along the chain. The time is that of the latter blocks; of all that were read if
 * they are unknown.
 */
export const containing = sql`
  select json_agg(encode(hash, 'hex')
    order by timestamp, hash) filter (where position <= ${LISTED}) as "blockHashes",
    min(timestamp) filter (where transactions.accepting_index is null
      or is_accepting) as "blockTime",
    coalesce(case when count(*) > ${LISTED}
      then block_count_of(transactions.id) end, count(*)) as "blockCount"
  from (
    select blocks.hash, blocks.timestamp,
      blocks.merging_block_id = accepting.block_id as is_accepting,
      row_number() over (order by blocks.merging_block_id = accepting.block_id desc nulls last,
        blocks.merging_block_id nulls last, blocks.timestamp, blocks.hash) as position
    from (
      select array(
        select contained.block_id from block_transactions contained
        where contained.transaction_id = transactions.id order by contained.block_id
          limit ${READ}) as ids offset 0) first
    cross join lateral unnest(
      case when cardinality(first.ids) = ${READ}
        then blocks_with_accepting(transactions.id, accepting.block_id, first.ids)
        else first.ids end) as contained (block_id)
    join blocks on blocks.id = contained.block_id) found`;

const ofPage = sql`
  from page
  join transactions on transactions.id = page.key
  join subnetworks on subnetworks.id = transactions.subnetwork_id
  ${joinAccepting}
  cross join lateral (${containing}) containing`;

/** A page ends before it would be larger, but for its first transaction. */
export const MAX_PAGE_BYTES = sql.lit(2 ** 20);
/**
 * The most bytes of transactions that the client chooses, or that it cannot page through otherwise.
 */
const MAX_RESPONSE_BYTES = 64 * 2 ** 20;
/** The most bytes of transactions whose programs this process reads. */
const MAX_READ_BYTES = 8 * 2 ** 20;

const maxBytes = ({ withPrograms = false }: Options): number => (withPrograms ? MAX_READ_BYTES : MAX_RESPONSE_BYTES);

/** The length of a P2SH script, which json_bytes counts for each input. */
const USUAL_SCRIPT_BYTES = sql.lit(35);
/** The bytes of JSON by which one of the longest scripts, of 10,000 bytes, is longer. */
const LONGER_JSON_BYTES = sql.lit(2 * (10_000 - 35));

/**
 * Estimates the bytes of a transaction in the JSON of a response, as if the UTXOs that it spends
 * had scripts of usual length.
 */
const jsonBytes = (includePayload: boolean): RawBuilder<number> => sql`
  case when ${variant} > 0 then (variant_of(transactions.id, ${variant})).json_bytes
    else transactions.json_bytes end
    ${includePayload ? sql`+ 2 * octet_length(transactions.payload)` : sql``}`;

/**
 * Adds the estimate for each transaction, and the most bytes of all with the scripts that they
 * spend, to the rows of `page`, a query in parentheses or the name of a table.
 */
const estimated = (page: RawBuilder<unknown>, includePayload: boolean): RawBuilder<unknown> => sql`(
  select page.*, ${jsonBytes(includePayload)} as estimate,
    sum(${jsonBytes(includePayload)} + ${LONGER_JSON_BYTES} * (
      select count(*) from transaction_inputs where transaction_id = page.key)) over () as most
  from ${page} page join transactions on transactions.id = page.key) estimated`;

/**
 * Bytes of a row of `estimated`, with those by which the scripts that the transaction spends are
 * longer than usual: anybody can spend long ones, with 41 bytes an input. Their lengths are looked
 * up where they could make a page too long.
 */
const bytes = sql<number>`(
  estimate + case when most > ${MAX_PAGE_BYTES} then (
    select coalesce(sum(2 * greatest(octet_length(script.script) - ${USUAL_SCRIPT_BYTES}, 0)), 0)
    from transaction_inputs input join scripts script on script.id = input.script_id
      where input.transaction_id = key) else 0 end)`;

/** Adds the sum of the bytes up to each position to keys and positions of transactions. */
const withBytes = (page: RawBuilder<unknown>, includePayload: boolean): RawBuilder<unknown> => sql`
  select key, position, sum(${bytes}) over (order by position) as bytes_until
    from ${estimated(sql`(${page})`, includePayload)}`;

/**
 * Bounds a page of keys of transactions by the bytes of its response: anybody can mine large
 * transactions that pay an address of somebody else.
 */
export const boundByBytes =
  (includePayload: boolean) =>
  (page: RawBuilder<unknown>, limit: RawBuilder<number>): RawBuilder<unknown> =>
    sql`
    select key, position, position <= ${limit}
      and (position = 1 or bytes_until <= ${MAX_PAGE_BYTES}) as is_shown
    from (${withBytes(page, includePayload)}) summed`;

/**
 * Selects keys and positions of transactions up to the bytes of a response.
 * @param page in the order of `position`
 */
export const upToMaxBytes = (page: RawBuilder<unknown>, options: Options): RawBuilder<unknown> => sql`
  select key, position from (${withBytes(page, options.includePayload === true)}) summed
  where position = 1 or bytes_until <= ${sql.lit(maxBytes(options))}`;

const isTooLarge = sql<boolean>`(select is_too_large from size)`;

/**
 * Makes the content of a statement with the transactions of `page`, or the problem `too large`,
 * whose body is not even computed.
 */
export const unlessTooLarge = <Body>(
  options: Options,
  { tables, body }: { tables: Readonly<Record<string, RawBuilder<unknown>>>; body: Expression<Body> },
) => ({
  tables: {
    ...tables,
    size: sql`
      select coalesce(sum(${bytes}), 0) > ${sql.lit(maxBytes(options))} as is_too_large
      from ${estimated(sql`page`, options.includePayload === true)}`,
  },
  problem: sql<string | null>`case when ${isTooLarge} then 'too large' end`,
  body: sql<Body | null>`case when not ${isTooLarge} then ${body} end`,
});

/** @param path of the number or the list in the request */
export const tooLargeFor = (path: string, options: Options = {}): HttpError =>
  badRequest({
    path,
    message: `the response would have more than ${maxBytes(options)} bytes: ask for fewer transactions`,
  });

/**
 * Selects the transactions of `page`. Of several variants (docs/architecture.md) it shows the
 * accepted one, else the first. For pre-bootstrap transactions, confirmations are a lower bound.
 * Must not be executed during the first catch-up, when indexes may be missing.
 * @param items limits and orders the rows of `page`
 * @param more further fields, of `joins`
 */
export function restTransactions<More extends object = object>(
  items: RawBuilder<unknown>,
  { more, joins = sql``, ...options }: Options & { more?: JsonFields<More>; joins?: RawBuilder<unknown> } = {},
): RawBuilder<(RestTransactionJson & More)[]> {
  const all = { ...fields(options), ...more } as JsonFields<RestTransactionJson & More>;
  return jsonArray(jsonObject(all), sql`${ofPage} ${joins} ${items}`);
}

/** Selects the one transaction of `page`. */
export const oneRestTransaction = (options: Options): RawBuilder<RestTransactionJson> =>
  sql`(select ${jsonObject(fields(options))} ${ofPage})`;
