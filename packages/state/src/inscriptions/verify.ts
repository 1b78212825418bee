import { DECODERS_VERSION } from '@kasgres/programs';
import { CUT } from '../common-table-expressions.ts';
import { DIFFERENCE, faultsOf, type Queryable } from '../queryable.ts';
import type { Inscribed } from './inscribed.ts';
import { ranges, readRange } from './read.ts';

const MAX_FAULTS = 20;

const SELECT_STORED = `
  select i.transaction_id::float8 as transaction, i.input, i.owner_script_id::float8 as owner,
    k.protocol, k.operation, k.tick
    from inscriptions i join inscription_kinds k on k.id = i.kind_id
   where i.transaction_id > $1 and i.transaction_id <= $2`;

/** Kinds without inscriptions are of history that retention removed, if there is any. */
const SELECT_WRONG_HOURS = `
  with ${CUT},
  known as (select coalesce((select chain_time / 3600000 from cut), -1) as after),
  expected as (select hour, protocol, transactions, fees from count_protocol_hours()),
  stored as (select hour, protocol, transactions, fees from protocol_hours)
  select format('protocol %s in the hour %s: %s', protocol, hour, ${DIFFERENCE}) as fault
    from stored s full join expected e using (hour, protocol)
   where s is distinct from e and hour > (select after from known)
  union all
  select format('the inscription in %s of transaction %s has no transaction that is accepted',
    input, transaction_id)
    from inscriptions i where not exists (select from transactions t
      where t.id = i.transaction_id and t.accepting_index is not null)
  union all
  select format('kind %s has no inscription', id) from inscription_kinds k
   where not exists (select from inscriptions i where i.kind_id = k.id)
     and not exists (select from cut)
   limit ${MAX_FAULTS}`;

const ofHours = faultsOf(SELECT_WRONG_HOURS);

/**
 * Decodes all payloads and programs again, and compares. While an upgrade does so, too, there is
 * nothing to compare with.
 */
export async function verifyInscriptions(db: Queryable): Promise<string[]> {
  const decoders = await db.query<{ version: number }>('select version from inscription_decoders');
  if (decoders.rows.some(({ version }) => version !== DECODERS_VERSION)) return [];
  const faults = await ofHours(db);
  for await (const range of ranges(db)) {
    if (faults.length >= MAX_FAULTS) break;
    const stored = await db.query<Inscribed>(SELECT_STORED, [range.after, range.last]);
    faults.push(...differencesOf(stored.rows, await readRange(db, range)));
  }
  return faults.slice(0, MAX_FAULTS);
}

const describe = ({ transaction, input, owner, protocol, operation, tick }: Inscribed): string =>
  `inscription ${JSON.stringify([protocol, operation, tick])} of script ${owner} in input ${input} of transaction ${transaction}`;

function differencesOf(stored: readonly Inscribed[], expected: readonly Inscribed[]): string[] {
  const [ofRows, ofBytes] = [new Set(stored.map(describe)), new Set(expected.map(describe))];
  return [
    ...[...ofRows]
      .filter((each) => !ofBytes.has(each))
      .map((each) => `there is an ${each}, but its bytes do not state it`),
    ...[...ofBytes].filter((each) => !ofRows.has(each)).map((each) => `there is no ${each}`),
  ];
}
