/** Selects transactions in the form of listings and look-ups, as JSON. */
import { type RawBuilder, sql } from 'kysely';
import { type JsonFields, jsonArray, jsonObject } from '../../../index-state/json.ts';
import { hex, hexOrNull, text, textOrNull } from '../../../index-state/sql.ts';
import { sinkBlueScore } from '../../../index-state/statement.ts';
import {
  covenant,
  inputFields,
  isAccepted,
  joinPrevious,
  payload,
  transactionFields,
  transactionId,
} from '../fields.ts';
import type { RestInputJson, RestOutputJson, RestTransactionJson } from './schemas.ts';

/** A UTXO whose transaction is not accepted does not exist, and a transaction that spends it is not accepted either. */
export const utxoExists = sql<boolean>`(
  ${isAccepted()} or previous.accepting_index is not null or is_pre_bootstrap(input.previous_transaction_id))`;

const variant = sql<number | null>`transactions.accepted_body`;
const input = inputFields(variant);
const transaction = transactionFields(variant);

type PreviousOutput = RestInputJson['previousOutput'];

const previousOutput = (
  utxo: JsonFields<Omit<PreviousOutput, 'transactionId' | 'index'>>,
): RawBuilder<PreviousOutput> =>
  jsonObject<PreviousOutput>({ transactionId: input.previousTransactionId, index: input.previousIndex, ...utxo });

const inputs = jsonArray(
  jsonObject<RestInputJson>({
    transactionId,
    index: sql<number>`input.index`,
    signatureScript: input.signatureScript,
    sequence: input.sequence,
    sigOpCount: input.sigOpCount,
    computeBudget: input.computeBudget,
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

/** At most one accepted transaction spends an output, but for one that was accepted before a gap on a chain that nodes left in it. */
const spentBy: RawBuilder<string | null> = sql`(
  select encode(spender.transaction_id, 'hex')
  from transaction_inputs input join transactions spender on spender.id = input.transaction_id
  where input.previous_transaction_id = output.transaction_id and input.previous_index = output.index
    and ${isAccepted('spender')} limit 1)`;

const outputs = jsonArray(
  jsonObject<RestOutputJson>({
    transactionId,
    index: sql<number>`output.index`,
    amount: text('output.amount'),
    scriptPublicKey: hex('script.script'),
    scriptPublicKeyAddress: sql<string | null>`script.address`,
    scriptPublicKeyType: sql<RestOutputJson['scriptPublicKeyType']>`script.type`,
    covenant,
    spentBy: sql<string | null>`spending."spentBy"`,
  }),
  sql`
    from transaction_outputs output join scripts script on script.id = output.script_id
    cross join lateral (select ${spentBy} as "spentBy" offset 0) spending
    where output.transaction_id = transactions.id order by output.index`,
);

/** The stored fee counts UTXOs that do not exist, too. */
const fee: RawBuilder<string | null> = sql`
  (case when ${isAccepted()} then transactions.fee else fee_of_existing_utxos(transactions.id) end)::text`;

const confirmations: RawBuilder<number> = sql`
  case when ${isAccepted()} then ${sinkBlueScore} - coalesce(accepting.blue_score, bootstrap_blue_score()) else 0 end`;

const fields = (includePayload: boolean): JsonFields<RestTransactionJson> => ({
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
  ...(includePayload && { payload }),
  blockHashes: sql`containing."blockHashes"`,
  isAccepted: isAccepted(),
  acceptingBlockHash: hexOrNull('accepting.hash'),
  acceptingBlockBlueScore: textOrNull('accepting.blue_score'),
  confirmations,
  inputs,
  outputs,
});

export const joinAccepting = sql`left join chain_blocks accepting on accepting.index = transactions.accepting_index`;

/** The time is that of the blocks that the accepting block merges, since the transaction was accepted from one of them; of all if that is unknown. */
export const containing = sql`
  select json_agg(encode(blocks.hash, 'hex') order by blocks.timestamp, blocks.hash) as "blockHashes",
    min(blocks.timestamp) filter (where transactions.accepting_index is null
      or blocks.merging_block_id = accepting.block_id) as "blockTime"
  from block_transactions contained
  join blocks on blocks.id = contained.block_id
  where contained.transaction_id = transactions.id`;

const ofPage = sql`
  from page
  join transactions on transactions.id = page.key
  join subnetworks on subnetworks.id = transactions.subnetwork_id
  ${joinAccepting}
  cross join lateral (${containing}) containing`;

interface Options {
  includePayload?: boolean;
}

/**
 * Selects the transactions of `page`. Of several variants (docs/architecture.md) it shows the accepted one, else the first. For pre-bootstrap
 * transactions, confirmations are a lower bound. Must not be executed during the first catch-up, when indexes may be missing.
 * @param items limits and orders the rows of `page`
 * @param more further fields, of `joins`
 */
export function restTransactions<More extends object = object>(
  items: RawBuilder<unknown>,
  {
    includePayload = false,
    more,
    joins = sql``,
  }: Options & { more?: JsonFields<More>; joins?: RawBuilder<unknown> } = {},
): RawBuilder<(RestTransactionJson & More)[]> {
  const all = { ...fields(includePayload), ...more } as JsonFields<RestTransactionJson & More>;
  return jsonArray(jsonObject(all), sql`${ofPage} ${joins} ${items}`);
}

/** Selects the one transaction of `page`. */
export const oneRestTransaction = ({ includePayload = false }: Options): RawBuilder<RestTransactionJson> =>
  sql`(select ${jsonObject(fields(includePayload))} ${ofPage})`;
