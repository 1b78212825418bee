/**
 * Computes programs, templates and their counts from rows. The parts of a script that only
 * JavaScript can read go through temporary tables, so that the memory does not grow with the chain.
 */
import { describeProgram, type ProgramDescription } from '@kasgres/programs';
import type { ClientBase } from 'pg';
import { acceptedBy, firstBootstrapUtxos } from '../common-table-expressions.ts';
import type { CandidateTransactions } from '../first-catch-up/candidate-transactions.ts';
import type { KeySet } from '../first-catch-up/key-set.ts';
import { pagesByKey, type Queryable } from '../queryable.ts';
import { readAhead } from '../read-ahead.ts';
import { revealPages } from '../reveals/read.ts';
import { knownKccTemplate } from './kcc-template.ts';
import { isOfProgram } from './program-spend.ts';

const SCRIPTS_AT_ONCE = 1_000;

const CREATE_TABLES = `
  create temporary table found_reveals (
    transaction_id bigint, index integer, chain_index bigint, position integer, chain_time bigint,
    fee bigint, covenant_id bytea, hash bytea, template bytea, kcc_template bytea, length integer,
    uses smallint);
  create temporary table found_bare (script_id bigint, hash bytea, template bytea,
    kcc_template bytea, length integer, uses smallint);`;

export const DROP_FOUND = 'drop table if exists found_reveals, found_bare, accepted_reveals';

/**
 * Leaves the reveals in the temporary table `found_reveals`, which `DROP_FOUND` drops.
 * @param candidates of the first catch-up; all rows are searched by default
 */
export async function rebuildPrograms(client: ClientBase, candidates?: CandidateTransactions): Promise<void> {
  await client.query(DROP_FOUND);
  await client.query(CREATE_TABLES);
  await findReveals(client, candidates?.unsettled);
  if (candidates !== undefined) await addPossibleReveals(client);
  if (candidates?.hasBarePrograms !== false) await findBareScripts(client);
  await client.query('analyze found_reveals, found_bare');
  await client.query(INSERT_TEMPLATES);
  await client.query(INSERT_PROGRAMS);
  await client.query(COUNT_TEMPLATES);
  await client.query(INSERT_HOURS);
}

async function findReveals(client: ClientBase, revealing: KeySet | undefined): Promise<void> {
  for await (const page of readAhead(revealPages(client, revealing))) {
    const found = page.flatMap((reveal) => {
      const description = describeProgram(reveal.program);
      if (!isOfProgram(reveal, description)) return [];
      const kccTemplate = knownKccTemplate(reveal.program, description.template);
      return [{ ...reveal, ...description, kccTemplate }];
    });
    if (found.length === 0) continue;
    await client.query(
      `insert into found_reveals (transaction_id, index, chain_index, position, chain_time, fee,
        covenant_id, hash, template, kcc_template, length, uses)
       select * from unnest($1::bigint[], $2::integer[], $3::bigint[], $4::integer[], $5::bigint[],
                            $6::bigint[], $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[],
                            $11::integer[], $12::smallint[])`,
      [
        found.map(({ transaction }) => transaction),
        found.map(({ input }) => input),
        found.map(({ chainBlock }) => chainBlock.index),
        found.map(({ position }) => position),
        found.map(({ chainBlock }) => chainBlock.chainTime),
        found.map(({ fee }) => fee),
        found.map(({ covenantId }) => toBuffer(covenantId)),
        found.map(({ hash }) => toBuffer(hash)),
        found.map(({ template }) => toBuffer(template)),
        found.map(({ kccTemplate }) => toBuffer(kccTemplate)),
        found.map(({ length }) => length),
        found.map(({ uses }) => uses),
      ],
    );
  }
}

/** Adds those that a first catch-up described. */
async function addPossibleReveals(client: ClientBase): Promise<void> {
  await client.query('analyze possible_reveals');
  await client.query(SELECT_ACCEPTED);
  // Its rows cannot be estimated.
  await client.query('analyze accepted_reveals');
  await client.query(INSERT_ACCEPTED);
}

export interface BareScript extends ProgramDescription {
  id: bigint;
  script: Uint8Array;
}

/**
 * Yields the scripts that are programs by themselves, whether an accepted transaction has them or
 * not.
 */
export async function* bareScriptPages(db: Queryable): AsyncGenerator<BareScript[]> {
  const select = `select id, script from scripts
    where type = 'nonstandard' and version = 0 and id > $1 order by id limit ${SCRIPTS_AT_ONCE}`;
  for await (const page of pagesByKey<{ id: bigint; script: Buffer }>(db, select, -1n)) {
    const found = page.map((row) => ({ ...row, ...describeProgram(row.script) })).filter(({ uses }) => uses !== 0);
    if (found.length > 0) yield found;
  }
}

async function findBareScripts(client: ClientBase): Promise<void> {
  for await (const found of bareScriptPages(client)) {
    await client.query(
      `insert into found_bare (script_id, hash, template, kcc_template, length, uses)
       select * from unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::integer[],
         $6::smallint[])`,
      [
        found.map(({ id }) => id),
        found.map(({ hash }) => toBuffer(hash)),
        found.map(({ template }) => toBuffer(template)),
        found.map(({ script, template }) => toBuffer(knownKccTemplate(script, template))),
        found.map(({ length }) => length),
        found.map(({ uses }) => uses),
      ],
    );
  }
}

function toBuffer(bytes: Uint8Array | undefined): Buffer | null {
  return bytes === undefined ? null : Buffer.from(bytes);
}

/**
 * Joins the positions of accepted transactions.
 * @param table has `chain_index` and `transaction_id`
 */
export const joinPositions = (table: string): string =>
  `join (${acceptedBy(`select chain_index from ${table}`)}) accepted using (chain_index, transaction_id)`;

/**
 * Derives spends from `found_reveals`, and from `found_bare`, which has the scripts that are
 * programs. `bare_outputs` are accepted outputs of these, and UTXOs of the latest bootstrap block
 * with such a script.
 */
export const SPENDS = `
  created as materialized (
    select f.script_id, o.transaction_id, o.index, t.accepting_index as chain_index
      from found_bare f
      join transaction_outputs o on o.script_id = f.script_id
      join transactions t on t.id = o.transaction_id
     where t.accepting_index is not null),
  bare_outputs as (
    select f.*, transaction_id, created.index, chain_index, accepted.position, accepted.chain_time
      from created join found_bare f using (script_id) ${joinPositions('created')}
    union all
    select f.*, u.transaction_id, u.index, c.index, -1, c.chain_time
      from found_bare f
      join (${firstBootstrapUtxos('(select script_id as id from found_bare)')}) u using (script_id)
      join chain_blocks c on c.index = (select max(chain_index) from bootstrap_blocks)),
  bare_firsts as (select distinct on (script_id) * from bare_outputs
    order by script_id, chain_index, position),
  bare_spends as materialized (
    select f.hash, f.uses, f.chain_index as first_index, f.position as first_position,
           t.id as transaction_id, t.accepting_index as chain_index, coalesce(t.fee, 0) as fee
      from bare_firsts f
      join transaction_inputs i on i.script_id = f.script_id
      join transactions t on t.id = i.transaction_id
     where t.accepting_index is not null),
  spends as (
    select hash, uses, transaction_id, chain_time, fee from found_reveals
    union all
    select hash, uses, transaction_id, accepted.chain_time, fee
      from bare_spends ${joinPositions('bare_spends')}
     where (chain_index, accepted.position) > (first_index, first_position))`;

/** The first of each program among `seen`, and how often it was spent. */
export const FIRSTS = `
  firsts as (select distinct on (hash) * from seen
    order by hash, chain_index, position, is_bare, index),
  counts as (select hash, count(*) as spends from spends group by hash)`;

/** The fee of a transaction counts once for each family. */
export const HOURS = `
  select hour, use, sum(spends)::bigint as spends, sum(fee) as fees
    from (select (chain_time / 3600000)::integer as hour, use, transaction_id, fee,
      count(*) as spends
            from spends cross join unnest('{1, 2, 4, 8, 16, 32}'::smallint[]) use
           where uses & use <> 0
           group by 1, use, transaction_id, fee) by_transaction
   group by hour, use`;

/**
 * Selects the possible reveals that are reveals. A chain block may accept again what one that was
 * removed had accepted. The planner expects a function to hold for a third of the rows, but `=` for
 * one row, which it would look up one after the other.
 */
const SELECT_ACCEPTED = `
  create temporary table accepted_reveals as
  select distinct on (p.transaction_id, p.index) p.*, t.accepting_index as chain_index,
    coalesce(t.fee, 0) as fee, coalesce(o.covenant_id, u.covenant_id) as covenant_id
    from possible_reveals p
    join transactions t on t.id = p.transaction_id and t.accepted_variant = p.variant
    join transaction_inputs i on i.transaction_id = p.transaction_id and i.index = p.index
    join scripts s on s.id = i.script_id and s.type = 'scripthash'
      and byteaeq(substring(s.script from 3 for 32), p.hash)
    left join transaction_outputs o on o.transaction_id = i.previous_transaction_id
      and o.index = i.previous_index and o.covenant_id is not null
    left join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
      and u.index = i.previous_index and u.covenant_id is not null
   where t.accepting_index is not null
     and (p.uses <> 0 or o.covenant_id is not null or u.covenant_id is not null)
     and p.transaction_id not in (select transaction_id from found_reveals)`;

const INSERT_ACCEPTED = `
  insert into found_reveals (transaction_id, index, chain_index, position, chain_time, fee,
    covenant_id, hash, template, kcc_template, length, uses)
  select transaction_id, index, chain_index, accepted.position, accepted.chain_time, fee,
    covenant_id, hash, template, kcc_template, length, uses
    from accepted_reveals ${joinPositions('accepted_reveals')}`;

const INSERT_TEMPLATES = `
  insert into program_templates (template, program_count, spend_count, covenant_count, first_seen)
  select template, 0, 0, 0, 0 from found_reveals where template is not null
  union
  select template, 0, 0, 0, 0 from found_bare where template is not null`;

const INSERT_PROGRAMS = `
  with ${SPENDS},
  seen as (
    select hash, template, kcc_template, length, uses, transaction_id, index, chain_index, position,
      chain_time, false as is_bare from found_reveals
    union all
    select hash, template, kcc_template, length, uses, transaction_id, index, chain_index, position,
      chain_time, true from bare_outputs),
  ${FIRSTS}
  insert into programs (transaction_id, first_seen, spend_count, script_id, template_id, index,
    length, uses, is_bare, hash, kcc_template)
  select f.transaction_id, f.chain_time, coalesce(counts.spends, 0), bare.script_id, t.id, f.index,
    f.length, f.uses, f.is_bare, f.hash, f.kcc_template
    from firsts f
    left join counts using (hash)
    left join program_templates t using (template)
    left join (select distinct hash, script_id from bare_outputs) bare using (hash)
   order by f.chain_index, f.position, f.index`;

const COUNT_TEMPLATES = `
  with counted as (
    select template_id, count(*) as programs, sum(spend_count)::bigint as spends,
      min(first_seen) as first_seen
      from programs where template_id is not null group by template_id),
  -- Scripts that no accepted transaction has.
  unused as (delete from program_templates t
    where not exists (select from programs p where p.template_id = t.id))
  update program_templates t
    set program_count = c.programs, spend_count = c.spends, first_seen = c.first_seen
    from counted c where c.template_id = t.id`;

const INSERT_HOURS = `
  with ${SPENDS}
  insert into program_use_hours (hour, use, spends, fees) ${HOURS}`;
