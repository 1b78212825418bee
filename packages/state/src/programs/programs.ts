/**
 * Programs and their templates. A program is known from its first reveal, or, as a bare script,
 * from its first output or the bootstrap block whose UTXO set has it; it goes with the transaction
 * of that, since a reorg removes a suffix of the chain.
 */
import { inPipeline } from '@kasgres/database';
import { fromHex, type Hash, toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { DerivedState } from '../derived-state.ts';
import type { RemovedChain } from '../removed-chain.ts';
import type { StateChanges } from '../state-changes.ts';
import { columnsOf } from '../queryable.ts';
import { Reveals } from '../reveals/reveals.ts';
import { MarkedSpends } from '../utxos/marked-spends.ts';
import { countSpends, type HourDelta, hourDeltas, ProgramChanges, type SeenProgram } from './program-changes.ts';
import type { ProgramSpend } from './program-spend.ts';
import { joinPositions } from './rebuild.ts';
import { verifyPrograms } from './verify.ts';

export const programs: DerivedState = {
  tables: {
    emptied: ['programs', 'program_templates', 'program_use_hours'],
    deferredIndexes: ['programs_hash', 'programs_hash_text', 'programs_transaction_id', 'programs_template_id'],
  },
  applies: 'after reads',
  verify: { 4: verifyPrograms },

  collect(item, changes) {
    if (item.kind === 'accepted') changes.of(ProgramChanges).addOutputs(item.transaction, changes.of(MarkedSpends));
  },

  async apply(client, changes) {
    await (changes.of(ProgramChanges).applied = applyPrograms(client, changes));
  },

  async revert(client, removed, changes) {
    await readRemoved(client, removed, changes.of(ProgramChanges));
  },
};

async function readRemoved(
  client: ClientBase,
  { blocks, accepted }: RemovedChain,
  changes: ProgramChanges,
): Promise<void> {
  const times = blocks.flatMap(({ accepted, chainBlock }) => accepted.map(() => chainBlock.chainTime));
  const { rows } = await client.query<ProgramSpend & { hash: Buffer; isFirst: boolean }>({
    name: 'removed-programs',
    // A chain without bare programs needs no more than the first condition. A transaction from
    // before a gap may be accepted again, and be removed from there, so the time tells whether it
    // was the first there.
    text: `with removed as (select * from unnest($1::bigint[], $2::bigint[]) removed (id, chain_time))
           select p.hash, p.uses, i.transaction_id::float8 as transaction,
             removed.chain_time as "chainTime", coalesce(t.fee, 0) as fee, false as "isFirst"
             from removed
             join transaction_inputs i on i.transaction_id = removed.id
             join programs p on p.script_id = i.script_id
             join transactions t on t.id = removed.id
            where exists (select from programs where script_id is not null)
           union all
           select p.hash, p.uses, p.transaction_id::float8, p.first_seen, 0, true
             from removed join programs p on p.transaction_id = removed.id
               and p.first_seen = removed.chain_time`,
    values: [accepted, times],
  });
  changes.removedFirst = rows.filter(({ isFirst }) => isFirst).map(({ hash }) => hash);
  changes.removedBareSpends = rows.filter(({ isFirst }) => !isFirst);
}

async function applyPrograms(client: ClientBase, changes: StateChanges): Promise<void> {
  const reveals = changes.of(Reveals);
  const programChanges = changes.of(ProgramChanges);
  const { removedFirst, removedBareSpends } = programChanges;
  const seen = programChanges.seen(reveals, await changes.of(MarkedSpends).find());
  const removed = [...reveals.removed, ...removedBareSpends];
  await removePrograms(client, removedFirst);
  const gone = new Set(removedFirst.map(toHex));
  const counts = countSpends(
    seen.spends,
    removed.filter(({ hash }) => !gone.has(toHex(hash))),
  );
  await inPipeline(client, [
    () => moveFirst(client, seen.programs, reveals),
    () => writeTemplates(client, seen.programs),
    () => writePrograms(client, seen.programs),
    () => writeCounts(client, counts),
    () => writeHours(client, hourDeltas(seen.spends, removed)),
  ]);
}

/** Deletes programs that only removed chain blocks had, and templates without programs. */
async function removePrograms(client: ClientBase, hashes: readonly Hash[]): Promise<void> {
  if (hashes.length === 0) return;
  await client.query({
    name: 'remove-programs',
    text: `with gone as (delete from programs where hash = any($1::bytea[]) returning template_id, spend_count),
           fewer as (
             select template_id, count(*) as programs, sum(spend_count) as spends from gone
               where template_id is not null group by template_id),
           without_programs as (
             delete from program_templates t using fewer
               where t.id = fewer.template_id and t.program_count = fewer.programs)
           update program_templates t
             set program_count = t.program_count - fewer.programs,
               spend_count = t.spend_count - fewer.spends
             from fewer where t.id = fewer.template_id and t.program_count > fewer.programs`,
    values: [hashes.map((hash) => Buffer.from(hash))],
  });
}

/**
 * A variant that became known late may reveal a program before what was the first. After a gap, the
 * transaction of that may have been accepted again: then its program has an earlier time.
 */
async function moveFirst(client: ClientBase, seen: readonly SeenProgram[], { settled }: Reveals): Promise<void> {
  if (settled.length === 0 || seen.length === 0) return;
  const { hashes, transactions, indexes, times, areBare } = columnsOfPlaces(seen);
  await client.query(
    `with seen as (
       select * from unnest($1::bytea[], $2::bigint[], $3::integer[], $4::bigint[], $5::boolean[],
         $6::bigint[], $7::integer[])
         seen (hash, transaction_id, index, first_seen, is_bare, chain_index, position)),
     later as materialized (
       select p.hash, t.id as transaction_id, t.accepting_index as chain_index
         from seen join programs p using (hash) join transactions t on t.id = p.transaction_id
        where t.accepting_index >= seen.chain_index and p.first_seen >= seen.first_seen)
     update programs p set transaction_id = seen.transaction_id, index = seen.index,
       first_seen = seen.first_seen, is_bare = seen.is_bare
       from seen join (
         select later.hash, chain_index, accepted.position
           from later ${joinPositions('later')}) known using (hash)
      where p.hash = seen.hash
        and (known.chain_index, known.position) > (seen.chain_index, seen.position)`,
    [
      hashes,
      transactions,
      indexes,
      times,
      areBare,
      seen.map(({ first }) => first.chainBlock.index),
      seen.map(({ first }) => first.position),
    ],
  );
}

interface PlaceColumns {
  hashes: Buffer[];
  transactions: number[];
  indexes: number[];
  times: bigint[];
  areBare: boolean[];
}

function columnsOfPlaces(seen: readonly SeenProgram[]): PlaceColumns {
  return {
    hashes: seen.map(({ hash }) => Buffer.from(hash)),
    transactions: seen.map(({ first }) => first.transaction),
    indexes: seen.map(({ first }) => first.index),
    times: seen.map(({ first }) => first.chainBlock.chainTime),
    areBare: seen.map(({ isBare }) => isBare),
  };
}

export async function writeTemplates(client: ClientBase, seen: readonly SeenProgram[]): Promise<void> {
  const templates = new Map<string, bigint>();
  for (const { template, first } of seen) {
    if (template === undefined) continue;
    const name = toHex(template);
    const { chainTime } = first.chainBlock;
    const known = templates.get(name);
    if (known === undefined || chainTime < known) templates.set(name, chainTime);
  }
  if (templates.size === 0) return;
  await client.query({
    name: 'write-templates',
    // A conflict would use up a number of the sequence. Writers hold the lock on the checkpoint.
    text: `with seen as (select * from unnest($1::bytea[], $2::bigint[]) seen (template, first_seen)),
           moved as (
             update program_templates t set first_seen = seen.first_seen from seen
              where t.template = seen.template and t.first_seen > seen.first_seen)
           insert into program_templates (template, program_count, spend_count,
             covenant_count, first_seen)
           select seen.template, 0, 0, 0, seen.first_seen from seen
            where not exists (select from program_templates t where t.template = seen.template)`,
    values: [[...templates.keys()].map((name) => Buffer.from(fromHex(name))), [...templates.values()]],
  });
}

function toBuffers(hashes: readonly (Hash | undefined)[]): (Buffer | null)[] {
  return hashes.map((hash) => (hash === undefined ? null : Buffer.from(hash)));
}

export async function writePrograms(client: ClientBase, seen: readonly SeenProgram[]): Promise<void> {
  if (seen.length === 0) return;
  const { hashes, transactions, indexes, times, areBare } = columnsOfPlaces(seen);
  await client.query({
    name: 'write-programs',
    text: `with seen as (
             select * from unnest($1::bytea[], $2::bigint[], $3::integer[], $4::bigint[],
                                  $5::boolean[], $6::integer[], $7::smallint[], $8::bytea[],
                                  $9::bigint[], $10::bytea[])
               seen (hash, transaction_id, index, first_seen, is_bare, length, uses, template,
                 script_id, kcc_template)),
           written as (
             insert into programs (transaction_id, first_seen, spend_count, script_id, template_id,
               index, length, uses, is_bare, hash, kcc_template)
             select seen.transaction_id, seen.first_seen, 0, seen.script_id, t.id, seen.index,
                    seen.length, seen.uses, seen.is_bare, seen.hash, seen.kcc_template
               from seen left join program_templates t on t.template = seen.template
             on conflict (hash) do update set script_id = excluded.script_id
              where programs.script_id is null and excluded.script_id is not null
             returning template_id, xmax = 0 as is_new)
           update program_templates t set program_count = t.program_count + added.programs
             from (select template_id, count(*) as programs from written where is_new
               group by template_id) added
            where t.id = added.template_id`,
    values: [
      hashes,
      transactions,
      indexes,
      times,
      areBare,
      seen.map(({ length }) => length),
      seen.map(({ uses }) => uses),
      toBuffers(seen.map(({ template }) => template)),
      seen.map(({ script }) => script ?? null),
      toBuffers(seen.map(({ kccTemplate }) => kccTemplate)),
    ],
  });
}

async function writeCounts(client: ClientBase, counts: ReadonlyMap<string, number>): Promise<void> {
  const changed = [...counts].filter(([, count]) => count !== 0);
  if (changed.length === 0) return;
  await client.query({
    name: 'count-program-spends',
    text: `with changed as (
             update programs p set spend_count = p.spend_count + spent.count
               from unnest($1::bytea[], $2::bigint[]) spent (hash, count) where p.hash = spent.hash
             returning p.template_id, spent.count)
           update program_templates t set spend_count = t.spend_count + spent.count
             from (select template_id, sum(count)::bigint as count from changed
               group by template_id) spent
            where t.id = spent.template_id`,
    values: [changed.map(([hash]) => Buffer.from(fromHex(hash))), changed.map(([, count]) => count)],
  });
}

async function writeHours(client: ClientBase, hours: readonly HourDelta[]): Promise<void> {
  if (hours.length === 0) return;
  await client.query({
    name: 'write-program-hours',
    text: `insert into program_use_hours (hour, use, spends, fees)
           select * from unnest($1::integer[], $2::smallint[], $3::bigint[], $4::numeric[])
           on conflict (hour, use) do update set
             spends = program_use_hours.spends + excluded.spends,
               fees = program_use_hours.fees + excluded.fees`,
    values: columnsOf(hours, 'hour', 'use', 'spends', 'fees'),
  });
}
