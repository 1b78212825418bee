/**
 * Compares programs with rows. Only JavaScript can read a program, so each page of reveals and of
 * bare scripts is compared with the rows of its programs, and then forgotten. All else follows from
 * the hashes of programs, which P2SH scripts contain, and is compared by Postgres.
 */
import { toHex } from '@kasgres/kaspa';
import { describeProgram, type ProgramDescription } from '@kasgres/programs';
import { CUT } from '../common-table-expressions.ts';
import { EventTemplates } from '../covenants/verify-event-templates.ts';
import { DIFFERENCE, faultsOf, type Queryable } from '../queryable.ts';
import { revealPages } from '../reveals/read.ts';
import { knownKccTemplate } from './kcc-template.ts';
import { isOfProgram } from './program-spend.ts';
import { bareScriptPages, FIRSTS, HOURS, joinPositions, SPENDS } from './rebuild.ts';

const MAX_FAULTS = 20;
const SCRIPTS_AT_ONCE = 1_000;

const verifyTemplates = faultsOf(`
  with stored as (
    select id, encode(template, 'hex') as template, program_count as programs,
      spend_count::numeric as spends, first_seen from program_templates),
  expected as (
    select template_id as id, count(*) as programs, sum(spend_count) as spends,
      min(first_seen) as first_seen
      from programs where template_id is not null group by template_id)
  select format('template %s has %s programs with %s spends since %s, but its row says %s with %s since %s', coalesce(s.template, id::text), e.programs,
                e.spends, e.first_seen, s.programs, s.spends, s.first_seen) as fault
    from stored s full join expected e using (id)
   where (s.programs, s.spends, s.first_seen) is distinct from (e.programs, e.spends, e.first_seen)
   limit ${MAX_FAULTS}`);

/**
 * Spends that reveal or are a program with a row. A node accepts no spend of a P2SH script that
 * does not reveal its program.
 */
const FOUND = `
  found_bare as (select script_id, hash, uses from programs
    where script_id is not null and uses <> 0),
  spent as materialized (
    select p.hash, p.uses, i.transaction_id, i.index, t.accepting_index as chain_index,
      coalesce(t.fee, 0) as fee
      from programs p
      join scripts s on substring(s.script from 3 for 32) = p.hash and s.type = 'scripthash'
      join transaction_inputs i on i.script_id = s.id
      join transactions t on t.id = i.transaction_id and t.accepted_variant is not null
     where t.accepting_index is not null
       and (p.uses <> 0
        or exists (
             select from transaction_outputs o
              where o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
                and o.covenant_id is not null)
        or exists (
             select from bootstrap_utxos u
              where u.transaction_id = i.previous_transaction_id and u.index = i.previous_index
                and u.covenant_id is not null))),
  found_reveals as (
    select hash, uses, transaction_id, spent.index, chain_index, accepted.position,
      accepted.chain_time, fee
      from spent ${joinPositions('spent')}),
  ${SPENDS}`;

/** $1: whether rows give exactly what is kept */
const SELECT_WRONG_PROGRAMS = `
  with ${FOUND},
  seen as (
    select hash, transaction_id, index, chain_index, position, chain_time, false as is_bare
      from found_reveals
    union all
    select hash, transaction_id, index, chain_index, position, chain_time, true from bare_outputs),
  ${FIRSTS},
  expected as (select f.*, coalesce(counts.spends, 0) as spends from firsts f
    left join counts using (hash))
  select format('program %s: %s', encode(p.hash, 'hex'), case
           when e.hash is null then 'nothing reveals or creates it'
           when p.spend_count <> e.spends
             then format('%s inputs spend it, but its row says %s', e.spends, p.spend_count)
           else format('transaction %s (%s) was the first, but its row says %s (%s)',
             e.transaction_id, e.index, p.transaction_id, p.index) end) as fault
    from programs p left join expected e on e.hash = p.hash
   where case when $1
           then (p.spend_count, p.transaction_id, p.index, p.is_bare, p.first_seen) is distinct from
                (e.spends, e.transaction_id, e.index, e.is_bare, e.chain_time)
           else p.spend_count < e.spends end
   limit ${MAX_FAULTS}`;

const verifyHours = faultsOf(`
  with ${FOUND},
  expected as (${HOURS}),
  stored as (select hour, use, spends, fees from program_use_hours where spends <> 0)
  select format('use %s in hour %s: %s', use, hour, ${DIFFERENCE}) as fault
    from stored s full join expected e using (hour, use)
   where (s.spends, s.fees) is distinct from (e.spends, e.fees)
   limit ${MAX_FAULTS}`);

/** After a gap or a cut, rows give at least what is kept; else they are exact. */
export async function verifyPrograms(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ exact: boolean }>(
    `with ${CUT} select not exists (select from cut) and not exists (select from gaps) as exact`,
  );
  const isExact = rows[0]?.exact === true;
  const wrong = await db.query<{ fault: string }>(SELECT_WRONG_PROGRAMS, [isExact]);
  return [
    ...(await verifyTemplates(db)),
    ...wrong.rows.map(({ fault }) => fault),
    ...(isExact ? await verifyHours(db) : []),
    ...(await verifyReveals(db)),
    ...(await verifyBareScripts(db)),
    ...(await verifyScripts(db)),
  ];
}

/** A program as its bytes are. */
interface Found {
  bytes: Uint8Array;
  description: ProgramDescription;
  /** Null for a reveal. */
  scriptId: bigint | null;
  /**
   * Whether it must have a row. A row that another one has must be right, too: Postgres counts by
   * the hash and the uses of rows.
   */
  isProgram: boolean;
}

async function verifyReveals(db: Queryable): Promise<string[]> {
  const faults = new Set<string>();
  const eventTemplates = new EventTemplates(db);
  for await (const page of revealPages(db)) {
    const found: Found[] = [];
    for (const reveal of page) {
      const description = describeProgram(reveal.program);
      const isProgram = isOfProgram(reveal, description);
      if (isProgram) await eventTemplates.add(reveal, description.template);
      found.push({ bytes: reveal.program, description, scriptId: null, isProgram });
    }
    await addDifferences(db, found, faults);
  }
  return [...faults, ...(await eventTemplates.finish())];
}

async function verifyBareScripts(db: Queryable): Promise<string[]> {
  const faults = new Set<string>();
  for await (const page of bareScriptPages(db)) {
    const { rows } = await db.query<{ id: bigint }>(
      `select id from unnest($1::bigint[]) script (id)
        where exists (
                select from transaction_outputs o join transactions t on t.id = o.transaction_id
                 where o.script_id = script.id and t.accepting_index is not null)
           or exists (select from bootstrap_utxos u where u.script_id = script.id)`,
      [page.map(({ id }) => id)],
    );
    const used = new Set(rows.map(({ id }) => id));
    const found = page.filter(({ id }) => used.has(id));
    await addDifferences(
      db,
      found.map(({ id, script, ...description }) => ({ bytes: script, description, scriptId: id, isProgram: true })),
      faults,
    );
  }
  return [...faults];
}

/** Checks that the script of a row is its program. */
async function verifyScripts(db: Queryable): Promise<string[]> {
  const faults: string[] = [];
  for (let after: Buffer = Buffer.alloc(0); faults.length < MAX_FAULTS; ) {
    const { rows } = await db.query<{ hash: Buffer; version: number; script: Buffer; uses: number }>(
      `select p.hash, s.version, s.script, p.uses from programs p join scripts s on s.id = p.script_id
        where p.hash > $1 order by p.hash limit ${SCRIPTS_AT_ONCE}`,
      [after],
    );
    const last = rows.at(-1);
    if (last === undefined) return faults;
    for (const { hash, version, script, uses } of rows) {
      const description = describeProgram(script);
      if (version === 0 && description.uses === uses && Buffer.compare(description.hash, hash) === 0) continue;
      faults.push(`program ${toHex(hash)}: its row has the script of another program, or not the uses of this one`);
    }
    after = last.hash;
  }
  return faults;
}

interface Stored {
  hash: Buffer;
  template: Buffer | null;
  kccTemplate: Buffer | null;
  scriptId: bigint | null;
  length: number;
  uses: number;
}

async function addDifferences(db: Queryable, found: readonly Found[], faults: Set<string>): Promise<void> {
  const programs = new Map<string, Found>();
  for (const program of found) {
    const name = toHex(program.description.hash);
    if (program.isProgram || !programs.has(name)) programs.set(name, program);
  }
  if (programs.size === 0 || faults.size >= MAX_FAULTS) return;
  const { rows } = await db.query<Stored>(
    `select p.hash, t.template, p.kcc_template as "kccTemplate", p.script_id as "scriptId", p.length, p.uses
       from programs p left join program_templates t on t.id = p.template_id
      where p.hash = any($1::bytea[])`,
    [[...programs.values()].map(({ description }) => Buffer.from(description.hash))],
  );
  const stored = new Map(rows.map((row) => [toHex(row.hash), row]));
  for (const [name, program] of programs) {
    if (faults.size >= MAX_FAULTS) return;
    const row = stored.get(name);
    const difference = row && differenceOf(row, program);
    if (difference !== undefined) faults.add(`program ${name}: ${difference}`);
    if (row === undefined && program.isProgram) faults.add(`program ${name} has no row`);
  }
}

function differenceOf(stored: Stored, { bytes, description, scriptId }: Found): string | undefined {
  const { length, uses } = description;
  if (stored.length !== length || stored.uses !== uses) {
    return `it has ${length} bytes and uses ${uses}, but its row says ${stored.length} and ${stored.uses}`;
  }
  const template = stored.template === null ? undefined : toHex(stored.template);
  if (template !== (description.template && toHex(description.template))) {
    return `its row has the wrong template ${template}`;
  }
  // It is null if the version that indexed the program had no name that says where its state is.
  if (stored.kccTemplate !== null) {
    const expected = knownKccTemplate(bytes, description.template);
    const kccTemplate = toHex(stored.kccTemplate);
    if (kccTemplate !== (expected && toHex(expected))) return `its row has the wrong KCC-1 template ${kccTemplate}`;
  }
  if (scriptId !== null && stored.scriptId !== scriptId) return 'its row has not the script of its outputs';
  return undefined;
}
