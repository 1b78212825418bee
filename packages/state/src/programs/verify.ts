import { type Hash, toHex } from '@kasgres/kaspa';
import { describeProgram, type ProgramDescription } from '@kasgres/programs';
import { BARE_SCRIPTS, CUT, firstBootstrapUtxos } from '../common-table-expressions.ts';
import { EventTemplates } from '../covenants/verify-event-templates.ts';
import { faultsOf, type Queryable } from '../queryable.ts';
import { revealPages } from '../reveals/read.ts';
import { knownKccTemplate } from './kcc-template.ts';
import { hourDeltas, isBefore, type Place } from './program-changes.ts';
import { isOfProgram, type ProgramSpend, spendOf } from './program-spend.ts';
import { bareScriptPages } from './rebuild.ts';

const MAX_FAULTS = 20;
const PROGRAMS_AT_ONCE = 5_000;

const verifyTemplates = faultsOf(`
  with stored as (
    select id, encode(template, 'hex') as template, program_count as programs, spend_count::numeric as spends, first_seen from program_templates),
  expected as (
    select template_id as id, count(*) as programs, sum(spend_count) as spends, min(first_seen) as first_seen
      from programs where template_id is not null group by template_id)
  select format('template %s has %s programs with %s spends since %s, but its row says %s with %s since %s', coalesce(s.template, id::text), e.programs,
                e.spends, e.first_seen, s.programs, s.spends, s.first_seen) as fault
    from stored s full join expected e using (id)
   where (s.programs, s.spends, s.first_seen) is distinct from (e.programs, e.spends, e.first_seen)
   limit ${MAX_FAULTS}`);

/** A program by the rows that are kept. */
interface Expected extends ProgramDescription {
  first: Place | undefined;
  isBare: boolean;
  scriptId: bigint | null;
  spends: number;
  kccTemplate: Hash | undefined;
}

interface Stored {
  hash: Buffer;
  template: Buffer | null;
  kccTemplate: Buffer | null;
  spends: bigint;
  scriptId: bigint | null;
  transaction: number;
  firstSeen: bigint;
  index: number;
  length: number;
  uses: number;
  isBare: boolean;
}

/** After a gap or a cut, rows give at least what is kept; else they are exact. */
export async function verifyPrograms(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ exact: boolean }>(
    `with ${CUT} select not exists (select from cut) and not exists (select from gaps) as exact`,
  );
  const isExact = rows[0]?.exact === true;
  const { programs, spends, wrongEvents } = await readExpected(db);
  const faults = await compare(db, programs, isExact);
  if (isExact) faults.push(...(await compareHours(db, spends)));
  return [...(await verifyTemplates(db)), ...faults, ...wrongEvents];
}

interface Read {
  programs: Map<string, Expected>;
  spends: ProgramSpend[];
  /** Faults of the templates of covenant events. */
  wrongEvents: string[];
}

async function readExpected(db: Queryable): Promise<Read> {
  const programs = new Map<string, Expected>();
  const spends: ProgramSpend[] = [];
  const eventTemplates = new EventTemplates(db);
  const see = (
    bytes: Uint8Array,
    description: ProgramDescription,
    first: Place | undefined,
    scriptId: bigint | null,
  ): Expected => {
    const name = toHex(description.hash);
    let program = programs.get(name);
    if (program === undefined) {
      const kccTemplate = knownKccTemplate(bytes, description.template);
      program = { ...description, first: undefined, isBare: false, scriptId: null, spends: 0, kccTemplate };
      programs.set(name, program);
    }
    program.scriptId ??= scriptId;
    if (first !== undefined && (program.first === undefined || isBefore(first, program.first))) {
      Object.assign(program, { first, isBare: scriptId !== null });
    }
    return program;
  };
  for await (const page of revealPages(db)) {
    for (const reveal of page) {
      const description = describeProgram(reveal.program);
      if (!isOfProgram(reveal, description)) continue;
      const { chainBlock, position, transaction, input: index } = reveal;
      await eventTemplates.add(reveal, description.template);
      see(reveal.program, description, { chainBlock, position, transaction, index }, null).spends += 1;
      spends.push(spendOf(reveal, description));
    }
  }
  const bootstrapOutputs = await readBootstrapOutputs(db);
  for await (const page of bareScriptPages(db)) {
    const scripts = new Map(page.map((script) => [script.id, script]));
    const firsts = new Map<bigint, Place>();
    const outputs = await readBareOutputs(db, [...scripts.keys()]);
    const accepted = new Map(outputs.map(({ scriptId, ...first }) => [scriptId, first]));
    for (const script of page) {
      const [atBootstrap, first] = [bootstrapOutputs.get(script.id), accepted.get(script.id)];
      const earliest =
        atBootstrap === undefined || (first !== undefined && isBefore(first, atBootstrap)) ? first : atBootstrap;
      if (earliest === undefined) continue;
      see(script.script, script, earliest, script.id);
      firsts.set(script.id, earliest);
    }
    for (const { scriptId, fee, ...place } of await readBareSpends(db, [...scripts.keys()])) {
      const [script, first] = [scripts.get(scriptId), firsts.get(scriptId)];
      // A UTXO of an earlier bootstrap block may have had the script.
      if (script === undefined || first === undefined || !isBefore(first, place)) continue;
      see(script.script, script, undefined, scriptId).spends += 1;
      const { transaction, chainBlock } = place;
      spends.push({ transaction, chainTime: chainBlock.chainTime, fee, hash: script.hash, uses: script.uses });
    }
  }
  return { programs, spends, wrongEvents: await eventTemplates.finish() };
}

interface BareOutputRow extends Omit<Place, 'chainBlock'> {
  scriptId: bigint;
  chainIndex: number;
  chainTime: bigint;
}

/** Returns the first accepted output of each script. */
async function readBareOutputs(db: Queryable, scripts: readonly bigint[]): Promise<(Place & { scriptId: bigint })[]> {
  const { rows } = await db.query<BareOutputRow>(
    `select distinct on (o.script_id) o.script_id as "scriptId", o.transaction_id::float8 as transaction, o.index, c.index::float8 as "chainIndex",
            c.chain_time as "chainTime", array_position(c.accepted_transactions, t.id) - 1 as position
       from transaction_outputs o
       join transactions t on t.id = o.transaction_id
       join chain_blocks c on c.index = t.accepting_index
      where o.script_id = any($1::bigint[])
      order by o.script_id, c.index, position, o.index`,
    [scripts],
  );
  return rows.map(({ chainIndex, chainTime, ...row }) => ({ ...row, chainBlock: { index: chainIndex, chainTime } }));
}

/** Returns the first UTXO of each bare script at the latest bootstrap block, before what that accepts. */
async function readBootstrapOutputs(db: Queryable): Promise<Map<bigint, Place>> {
  const { rows } = await db.query<BareOutputRow>(
    `select u.script_id as "scriptId", u.transaction_id::float8 as transaction, u.index, c.index::float8 as "chainIndex", c.chain_time as "chainTime",
            -1 as position
       from (${firstBootstrapUtxos(BARE_SCRIPTS)}) u
       join chain_blocks c on c.index = (select max(chain_index) from bootstrap_blocks)`,
  );
  return new Map(
    rows.map(({ scriptId, chainIndex, chainTime, ...row }) => {
      return [scriptId, { ...row, chainBlock: { index: chainIndex, chainTime } }];
    }),
  );
}

async function readBareSpends(
  db: Queryable,
  scripts: readonly bigint[],
): Promise<(Place & { fee: bigint; scriptId: bigint })[]> {
  const { rows } = await db.query<
    Omit<Place, 'chainBlock'> & { scriptId: bigint; chainIndex: number; chainTime: bigint; fee: bigint }
  >(
    `select i.script_id as "scriptId", i.transaction_id::float8 as transaction, i.index, c.index::float8 as "chainIndex",
            c.chain_time as "chainTime", array_position(c.accepted_transactions, t.id) - 1 as position, coalesce(t.fee, 0) as fee
       from transaction_inputs i
       join transactions t on t.id = i.transaction_id
       join chain_blocks c on c.index = t.accepting_index
      where i.script_id = any($1::bigint[])`,
    [scripts],
  );
  return rows.map(({ chainIndex, chainTime, ...row }) => ({ ...row, chainBlock: { index: chainIndex, chainTime } }));
}

async function compare(db: Queryable, programs: Map<string, Expected>, isExact: boolean): Promise<string[]> {
  const faults: string[] = [];
  for await (const page of programPages(db)) {
    for (const stored of page) {
      const name = toHex(stored.hash);
      const expected = programs.get(name);
      programs.delete(name);
      if (expected === undefined && !isExact) continue;
      const difference =
        expected === undefined ? 'nothing reveals or creates it' : differenceOf(stored, expected, isExact);
      if (difference !== undefined) faults.push(`program ${name}: ${difference}`);
    }
  }
  for (const name of programs.keys()) faults.push(`program ${name} has no row`);
  return faults.slice(0, MAX_FAULTS);
}

function differenceOf(stored: Stored, expected: Expected, isExact: boolean): string | undefined {
  const { first } = expected;
  const template = stored.template === null ? undefined : toHex(stored.template);
  if (stored.length !== expected.length || stored.uses !== expected.uses) {
    return `it has ${expected.length} bytes and uses ${expected.uses}, but its row says ${stored.length} and ${stored.uses}`;
  }
  if (template !== (expected.template && toHex(expected.template))) return `its row has the wrong template ${template}`;
  // It is null if the version that indexed the program had no name that says where its state is.
  const { kccTemplate } = stored;
  if (kccTemplate !== null && toHex(kccTemplate) !== (expected.kccTemplate && toHex(expected.kccTemplate))) {
    return `its row has the wrong KCC-1 template ${toHex(kccTemplate)}`;
  }
  if (expected.scriptId !== null && stored.scriptId !== expected.scriptId)
    return 'its row has not the script of its outputs';
  const isWrong = isExact ? Number(stored.spends) !== expected.spends : Number(stored.spends) < expected.spends;
  if (isWrong) return `${expected.spends} inputs spend it, but its row says ${stored.spends}`;
  if (!isExact || first === undefined) return undefined;
  const isRight =
    stored.transaction === first.transaction &&
    stored.index === first.index &&
    stored.isBare === expected.isBare &&
    stored.firstSeen === first.chainBlock.chainTime;
  if (isRight) return undefined;
  return `transaction ${first.transaction} (${first.index}) was the first, but its row says ${stored.transaction} (${stored.index})`;
}

async function* programPages(db: Queryable): AsyncGenerator<Stored[]> {
  for (let after: Buffer = Buffer.alloc(0); ; ) {
    const { rows } = await db.query<Stored>(
      `select p.hash, t.template, p.kcc_template as "kccTemplate", p.spend_count as spends, p.script_id as "scriptId", p.transaction_id::float8 as transaction,
              p.first_seen as "firstSeen", p.index, p.length, p.uses, p.is_bare as "isBare"
         from programs p left join program_templates t on t.id = p.template_id
        where p.hash > $1 order by p.hash limit ${PROGRAMS_AT_ONCE}`,
      [after],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.hash;
  }
}

function nameOf({ hour, use }: { hour: number; use: number }): string {
  return `use ${use} in hour ${hour}`;
}

async function compareHours(db: Queryable, spends: readonly ProgramSpend[]): Promise<string[]> {
  const { rows } = await db.query<{ hour: number; use: number; spends: bigint; fees: string }>(
    'select hour, use, spends, fees from program_use_hours where spends <> 0',
  );
  const expected = new Map(
    hourDeltas(spends, []).map((row) => [nameOf(row), `${row.spends} spends with ${row.fees} sompi`]),
  );
  const stored = new Map(rows.map((row) => [nameOf(row), `${row.spends} spends with ${row.fees} sompi`]));
  return [...new Set([...expected.keys(), ...stored.keys()])]
    .filter((name) => expected.get(name) !== stored.get(name))
    .map((name) => `${name}: ${expected.get(name) ?? 'nothing'}, but the row says ${stored.get(name) ?? 'nothing'}`)
    .slice(0, MAX_FAULTS);
}
