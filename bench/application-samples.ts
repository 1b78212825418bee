/**
 * Covenants, programs, lanes and inscriptions of an index, by which bench:read and bench/attacks.ts
 * ask for them.
 */
import type { Connection } from '@kasgres/database';

const SAMPLES = 1_000;

export interface ApplicationSamples {
  /** A sample that is the same in each run, in no particular order. */
  covenants: readonly string[];
  /** Those with the most events. */
  busyCovenants: readonly string[];
  /** The most frequent first. */
  templates: readonly string[];
  programs: readonly string[];
  /** The longest first. */
  longPrograms: readonly string[];
  namespaces: readonly string[];
  /** The most frequent first, as ticks. */
  protocols: readonly string[];
  ticks: readonly string[];
  /** Addresses with UTXOs of covenants. */
  holders: readonly string[];
  /** Ids of transactions with covenant events. */
  transactions: readonly string[];
}

export async function hasApplications({ pool }: Connection): Promise<boolean> {
  const { rows } = await pool.query<{ has: boolean }>(`select to_regclass('public.inscriptions') is not null as has`);
  return rows[0]?.has === true;
}

/** Returns the column `value` of a query. */
export async function listValues({ pool }: Connection, text: string): Promise<string[]> {
  const { rows } = await pool.query<{ value: string }>(text);
  return rows.map(({ value }) => value);
}

export async function findApplicationSamples(database: Connection): Promise<ApplicationSamples> {
  const list = async (text: string): Promise<string[]> => await listValues(database, text);
  return {
    covenants: await list(
      `select encode(covenant_id, 'hex') as value from covenants order by md5(id::text) limit ${SAMPLES}`,
    ),
    busyCovenants: await list(
      `select encode(covenant_id, 'hex') as value from covenants order by event_count desc, id limit 3`,
    ),
    templates: await list(
      `select encode(template, 'hex') as value from program_templates order by spend_count desc, id limit ${SAMPLES}`,
    ),
    programs: await list(`select encode(hash, 'hex') as value from programs order by hash limit ${SAMPLES}`),
    longPrograms: await list(`select encode(hash, 'hex') as value from programs order by length desc, hash limit 10`),
    namespaces: await list(
      `select lane_namespace(s.subnetwork_id) as value from lanes l join subnetworks s on s.id = l.subnetwork_id
       order by l.transaction_count desc, s.id limit ${SAMPLES}`,
    ),
    protocols: await list(
      `select k.protocol as value from inscriptions i join inscription_kinds k on k.id = i.kind_id
       group by 1 order by count(*) desc, 1`,
    ),
    ticks: await list(
      `select k.tick as value from inscriptions i join inscription_kinds k on k.id = i.kind_id
       where k.tick <> '' group by 1 order by count(*) desc, 1 limit ${SAMPLES}`,
    ),
    holders: await list(
      `select s.address as value from (select distinct script_id from utxos where covenant_id is not null) held
       join scripts s on s.id = held.script_id where s.address is not null order by md5(s.id::text)
         limit ${SAMPLES}`,
    ),
    transactions: await list(
      `select encode(t.transaction_id, 'hex') as value from (
         select distinct transaction_id as id from covenant_events) e
           join transactions t on t.id = e.id
       order by md5(t.id::text) limit ${SAMPLES}`,
    ),
  };
}
