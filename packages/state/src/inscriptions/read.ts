/**
 * Reads what accepted transactions may state, from rows: payloads, and inputs that may reveal an
 * envelope.
 */
import type { ScriptKey, TransactionKey } from '@kasgres/database';
import { getNetwork, type ScriptPublicKey, scriptToAddress } from '@kasgres/kaspa';
import { SIG_HASH_TYPES } from '@kasgres/programs';
import type { Queryable } from '../queryable.ts';
import {
  type AcceptedInput,
  type Enveloped,
  type Inscribed,
  inscribedInInput,
  inscribedInPayload,
} from './inscribed.ts';

/**
 * Leaves out the spend of a key: one push of 65 bytes, which ends with a type of hash. With an
 * envelope there are two pushes. Its signature may be empty, so that both are shorter.
 */
const IS_NO_SIGNATURE = `
  case when octet_length(signature_script) = 66
       then get_byte(signature_script, 0) <> 65 or get_byte(signature_script, 65) not in (${SIG_HASH_TYPES.join()})
       else true end`;

interface PayloadRow {
  transaction: number;
  owner: number;
  payload: Buffer;
}

/** @param which condition on the key of the transaction, with `id` in place of it */
const selectPayloads = (which: string): string => `
  select t.id::float8 as transaction, i.script_id::float8 as owner, t.payload
    from transactions t join transaction_inputs i on i.transaction_id = t.id and i.index = 0
   where ${which.replaceAll('id', 't.id')} and octet_length(t.payload) > 0 and t.subnetwork_id <> 1
     and t.accepting_index is not null`;

const selectInputs = (which: string): string => `
  select i.transaction_id::float8 as transaction, i.index as input,
    i.signature_script as "signatureScript", s.script
    from (select transaction_id, 0 as variant, index, signature_script from transaction_inputs
           where ${which.replaceAll('id', 'transaction_id')} and ${IS_NO_SIGNATURE}
          union all
          select transaction_id, variant, index, signature_script from transaction_variant_inputs
           where ${which.replaceAll('id', 'transaction_id')} and ${IS_NO_SIGNATURE}) i
    join transactions t on t.id = i.transaction_id and t.accepted_variant = i.variant
      and t.accepting_index is not null
    join transaction_inputs spending on spending.transaction_id = i.transaction_id
      and spending.index = i.index
    join scripts s on s.id = spending.script_id and s.type = 'scripthash'`;

const decodePayloads = (rows: readonly PayloadRow[]): Inscribed[] =>
  rows.flatMap(({ payload, transaction, owner }) => inscribedInPayload(payload, transaction, owner) ?? []);

async function decodeInputs(db: Queryable, rows: readonly AcceptedInput[]): Promise<Inscribed[]> {
  return await withOwners(
    db,
    rows.flatMap((row) => inscribedInInput(row) ?? []),
  );
}

/**
 * Looks up the keys of the owners, whose scripts were written with the blocks that contain the
 * envelopes. Earlier versions did not write those of envelopes with an empty signature; such
 * inscriptions are left out.
 */
export async function withOwners(db: Queryable, found: readonly Enveloped[]): Promise<Inscribed[]> {
  if (found.length === 0) return [];
  const network = await db.query<{ network: string }>('select network from meta');
  const { addressPrefix } = getNetwork(network.rows[0]?.network ?? '');
  const addressOf = (script: ScriptPublicKey): string => scriptToAddress(script, addressPrefix) ?? '';
  const addresses = found.map(({ owner }) => addressOf(owner));
  const { rows } = await db.query<{ id: number; address: string }>({
    name: 'find-owners',
    text: `select s.id::float8 as id, s.address
             from unnest($1::text[]) wanted (address)
            cross join lateral (select id, address from scripts
              where address = wanted.address offset 0) s`,
    values: [[...new Set(addresses)]],
  });
  const keys = new Map<string, ScriptKey>(rows.map(({ id, address }) => [address, id]));
  return found.flatMap((inscribed, i) => {
    const owner = keys.get(addresses[i] as string);
    return owner === undefined ? [] : [{ ...inscribed, owner }];
  });
}

/** Keys of transactions. */
export interface Range {
  /** The key before the first one. */
  after: number;
  last: number;
}

/**
 * Bounds on the transactions of a range, in the variants that were accepted: those that were seen
 * first may be of any size.
 */
const RANGE_TRANSACTIONS = 5_000;
const RANGE_BYTES = 16 * 2 ** 20;

/**
 * Returns the last key of the range of transactions that begins after a key; undefined behind the
 * last transaction.
 */
export async function findRangeEnd(db: Queryable, after: number): Promise<number | undefined> {
  const { rows } = await db.query<{ end: number | null }>(
    `select max(id)::float8 as end
       from (select id, sum(bytes) over (order by id) - bytes as before
               from (select id, octet_length(payload) + coalesce(
                              (select v.json_bytes from transaction_variants v
                                where t.accepted_variant > 0 and v.transaction_id = t.id
                                  and v.variant = t.accepted_variant), json_bytes) as bytes
                       from transactions t where id > $1 order by id
                         limit ${RANGE_TRANSACTIONS}) t) r
      where before < ${RANGE_BYTES}`,
    [after],
  );
  return rows[0]?.end ?? undefined;
}

/** Yields the ranges of all transactions, in the order of their keys. */
export async function* ranges(db: Queryable): AsyncGenerator<Range> {
  for (let after = -1; ; ) {
    const last = await findRangeEnd(db, after);
    if (last === undefined) return;
    yield { after, last };
    after = last;
  }
}

/** Returns what the transactions of a range state. */
export function readRange(db: Queryable, { after, last }: Range): Promise<Inscribed[]> {
  return read(db, 'id > $1 and id <= $2', [after, last]);
}

/** Returns what these transactions state. */
export function readTransactions(db: Queryable, keys: readonly TransactionKey[]): Promise<Inscribed[]> {
  return read(db, 'id = any($1::bigint[])', [keys]);
}

async function read(db: Queryable, which: string, values: unknown[]): Promise<Inscribed[]> {
  const payloads = await db.query<PayloadRow>(selectPayloads(which), values);
  const inputs = await db.query<AcceptedInput>(selectInputs(which), values);
  return [...decodePayloads(payloads.rows), ...(await decodeInputs(db, inputs.rows))];
}
