/** Selects covenants as JSON. */
import {
  hex,
  hexOrNull,
  inputFields,
  joinPrevious,
  jsonArray,
  type JsonFields,
  jsonObject,
  type outpoint,
  text,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import type { CovenantJson } from './schemas.ts';

const input = inputFields(sql`0`);

/** The outpoint that a row `input` spends, with `previous`. */
export const previousOutput = jsonObject<z.infer<typeof outpoint>>({
  transactionId: input.previousTransactionId,
  index: input.previousIndex,
});

/** A genesis group has one authorizing input. Retention may have removed the transaction. */
const genesis: RawBuilder<CovenantJson['genesis']> = sql`(
  select ${jsonObject<NonNullable<CovenantJson['genesis']>>({
    transactionId: hex('birth.transaction_id'),
    previousOutput,
    timestamp: sql`block.timestamp`,
  })}
  from transactions birth
  join chain_blocks block on block.index = birth.accepting_index
  cross join lateral (
    select covenant_authorizing_input as index from transaction_outputs output
    where output.transaction_id = birth.id and output.covenant_id = covenants.covenant_id
      limit 1) authorizing
  cross join lateral (
    select * from transaction_inputs where transaction_id = birth.id and index = authorizing.index
      limit 1) input
  ${joinPrevious}
  where birth.id = covenants.genesis_transaction_id)`;

const fields: JsonFields<CovenantJson> = {
  covenantId: hex('covenants.covenant_id'),
  isComplete: sql`covenants.is_complete`,
  genesis,
  isLive: sql`covenants.utxo_count > 0`,
  utxoCount: sql`covenants.utxo_count`,
  balance: text('covenants.balance'),
  eventCount: sql`covenants.event_count`,
  firstSeen: sql`covenants.first_seen`,
  lastSeen: sql`covenants.last_seen`,
  template: hexOrNull('program_templates.template'),
};

const ofPage = sql`
  from page
  join covenants on covenants.id = page.key
  left join program_templates on program_templates.id = covenants.template_id`;

/**
 * Selects the covenants of `page`, which has their keys.
 * @param items limits and orders its rows
 */
export const covenantsOfPage = (items: RawBuilder<unknown>): RawBuilder<CovenantJson[]> =>
  jsonArray(jsonObject<CovenantJson>(fields), sql`${ofPage} ${items}`);

/** Selects the one covenant of `page`. */
export const oneCovenant: RawBuilder<CovenantJson> = sql`(select ${jsonObject<CovenantJson>(fields)} ${ofPage})`;
