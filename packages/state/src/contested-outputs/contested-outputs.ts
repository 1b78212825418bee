/**
 * Keeps who spent an output that so many transactions claim to spend that a request must not search
 * them: anybody can mine such transactions, which nobody accepts.
 */
import { inPipeline } from '@kasgres/database';
import type { ClientBase } from 'pg';
import type { DerivedState } from '../derived-state.ts';
import type { SpentOutput } from '../state-changes.ts';
import { columnsOf, faultsOf } from '../queryable.ts';

/** Readers search up to this many spenders themselves. Also in the comment of the table. */
const MAX_SEARCHED = 4;

interface Claims {
  /** Keys of transactions that were written. */
  spending: readonly number[];
  /** The outputs that completed inputs spend. */
  outputs: readonly SpentOutput[];
}

class ContestedChanges {
  readonly spending: number[] = [];
  readonly outputs: SpentOutput[] = [];
  reverted: readonly bigint[] = [];
}

/**
 * Follows `contested`, the keys of outputs. Each transaction that claims them is looked up once,
 * however many it claims. `offset 0` makes Postgres look inputs up by what they spend.
 */
const INSERT = `
  claiming as materialized (
    select distinct i.transaction_id as id
      from contested
     cross join lateral (
       select transaction_id from transaction_inputs
        where previous_transaction_id = contested.transaction_id
          and previous_index = contested.index offset 0) i),
  accepted as (
    select distinct on (i.previous_transaction_id, i.previous_index) i.previous_transaction_id,
      i.previous_index, t.id
      from claiming
      join transactions t on t.id = claiming.id
        and (t.accepting_index is not null or is_pre_bootstrap(t.id))
     cross join lateral (select * from transaction_inputs i
       where i.transaction_id = t.id offset 0) i
     order by i.previous_transaction_id, i.previous_index, t.accepting_index desc nulls last)
  insert into contested_outputs (transaction_id, index, spender_id)
  select contested.transaction_id, contested.index, accepted.id
    from contested
    left join accepted on accepted.previous_transaction_id = contested.transaction_id
      and accepted.previous_index = contested.index
  on conflict do nothing`;

/**
 * Each output is looked up once, however many inputs of a batch claim it. Outputs that are
 * contested already have their row, whoever spends them now, so that each is searched once.
 * Acceptance may be that before the batch: what it accepts is set afterwards.
 */
const FIND = `
  with contested as materialized (
    select transaction_id, index
      from (select distinct transaction_id, index
              from (select i.previous_transaction_id as transaction_id, i.previous_index as index
                      from unnest($1::bigint[]) spending (id)
                     cross join lateral (
                       select * from transaction_inputs i
                         where i.transaction_id = spending.id
                           and i.previous_transaction_id is not null offset 0) i
                    union all
                    select * from unnest($2::bigint[], $3::bigint[])) claims) claimed
     where not exists (
       select from contested_outputs c
         where c.transaction_id = claimed.transaction_id and c.index = claimed.index)
       and exists (
         select from transaction_inputs other
          where other.previous_transaction_id = claimed.transaction_id
            and other.previous_index = claimed.index
         offset ${MAX_SEARCHED})),
  ${INSERT}`;

/**
 * $1 and $2: the chain blocks of the batch are above the first index, up to the second. `offset 0`
 * makes Postgres read what these accept, and never all that claim to spend contested outputs.
 */
const ACCEPT = `
  update contested_outputs c set spender_id = i.transaction_id
    from (select unnest(accepted_transactions) as id from chain_blocks
      where index > $1 and index <= $2) accepted
   cross join lateral (
     select * from transaction_inputs i
       where i.transaction_id = accepted.id and i.previous_transaction_id is not null offset 0) i
   where c.transaction_id = i.previous_transaction_id and c.index = i.previous_index
     and exists (select from contested_outputs)`;

const SPENDERS = `
  select i.previous_transaction_id as transaction_id, i.previous_index as index,
    count(*) as spenders
    from transaction_inputs i
   where i.previous_transaction_id is not null
   group by i.previous_transaction_id, i.previous_index having count(*) > ${MAX_SEARCHED}`;

/**
 * Acceptance before the latest bootstrap block may be that of a chain that nodes left. Retention
 * removes spenders, but not the row.
 */
const SELECT_WRONG_OUTPUTS = `
  with contested as (${SPENDERS}),
  accepted as (
    select c.transaction_id, c.index, max(t.id) as spender_id
      from contested c
      join transaction_inputs i on i.previous_transaction_id = c.transaction_id
        and i.previous_index = c.index
      join transactions t on t.id = i.transaction_id
     where t.accepting_index > (select max(chain_index) from bootstrap_blocks)
     group by c.transaction_id, c.index)
  select format('output %s of transaction %s has %s spenders, but is not kept as contested', index,
    transaction_id, spenders) as fault
    from contested
   where exists (select from transactions t where t.id = contested.transaction_id)
     and not exists (select from contested_outputs s
       where s.transaction_id = contested.transaction_id and s.index = contested.index)
  union all
  select format('the contested output %s of transaction %s is spent by transaction %s, kept is %s',
    index, transaction_id, coalesce(a.spender_id::text, 'none'),
    coalesce(s.spender_id::text, 'none'))
    from contested_outputs s left join accepted a using (transaction_id, index)
   where a.spender_id <> s.spender_id or a.spender_id is not null and s.spender_id is null
      or s.spender_id is not null and not exists (
        select from transactions t join transaction_inputs i on i.transaction_id = t.id
         where t.id = s.spender_id and (t.accepting_index is not null or is_pre_bootstrap(t.id))
           and i.previous_transaction_id = s.transaction_id and i.previous_index = s.index)
   limit 20`;

export const contestedOutputs: DerivedState = {
  tables: { emptied: ['contested_outputs'] },
  verify: { 4: faultsOf(SELECT_WRONG_OUTPUTS) },

  collect(item, changes) {
    if (item.kind === 'spending') {
      const { spending } = changes.of(ContestedChanges);
      for (const transaction of item.transactions) spending.push(transaction);
    } else if (item.kind === 'spent') {
      const { outputs } = changes.of(ContestedChanges);
      for (const output of item.outputs) outputs.push(output);
    }
  },

  async revert(_client, { accepted }, changes) {
    changes.of(ContestedChanges).reverted = accepted;
  },

  async apply(client, changes) {
    const { spending, outputs, reverted } = changes.of(ContestedChanges);
    const { fork, to } = changes.range;
    await inPipeline(client, [
      ...(reverted.length > 0 ? [() => revert(client, reverted)] : []),
      ...(spending.length + outputs.length > 0 ? [() => findContested(client, { spending, outputs })] : []),
      ...(to > fork ? [() => client.query({ name: 'accept-contested', text: ACCEPT, values: [fork, to] })] : []),
    ]);
  },

  rebuild: {
    fromRows: (client) =>
      client.query(`with contested as materialized (select transaction_id, index from (${SPENDERS}) s), ${INSERT}`),
  },
};

/** Must run before what these transactions spend is accepted. */
export async function findContested(client: ClientBase, { spending, outputs }: Claims): Promise<void> {
  const values = [spending, ...columnsOf(outputs, 'transaction', 'index')];
  await client.query({ name: 'find-contested-outputs', text: FIND, values });
}

async function revert(client: ClientBase, accepted: readonly bigint[]): Promise<void> {
  await client.query({
    name: 'revert-contested-outputs',
    text: 'update contested_outputs set spender_id = null where spender_id = any($1::bigint[])',
    values: [accepted],
  });
}
