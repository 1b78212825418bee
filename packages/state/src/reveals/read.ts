/**
 * Reads reveals from rows, for what is reverted, rebuilt and verified, and for variants that became
 * known later.
 */
import { blake2b256 } from '@kasgres/kaspa';
import { claimedProgram } from '@kasgres/programs';
import type { ClientBase } from 'pg';
import { acceptedBy } from '../common-table-expressions.ts';
import type { KeySet } from '../first-catch-up/key-set.ts';
import { columnsOf, type Queryable } from '../queryable.ts';
import type { Reveal } from './reveal.ts';

export interface SettledVariant {
  transaction: number;
  variant: number;
}

/** Transactions whose reveals are read together, each of at most some hundred kB. */
const TRANSACTIONS_AT_ONCE = 256;
/**
 * Inputs with any script, or transactions, that `revealPages` looks at together, and the bytes that
 * it reads of them together.
 */
const INPUTS_AT_ONCE = 20_000;
const KEYS_AT_ONCE = 5_000;
const PAGE_BYTES = 8 * 2 ** 20;

interface RevealRow {
  transaction: number;
  input: number;
  chainIndex: number;
  chainTime: bigint;
  position: number;
  fee: bigint;
  signatureScript: Buffer;
  script: Buffer;
  covenantId: Buffer | null;
}

/**
 * Selects the inputs `i` of transactions that spend P2SH scripts `s`. `is true` keeps the planner
 * from a join with the list of a chain block, which it would choose for the ten transactions that
 * it expects there.
 * @param transactions selects accepted transactions `t`, each with the `variant` that is read
 */
const selectReveals = (transactions: string, where = 'true'): string => `
  with t as materialized (${transactions}),
  accepted as materialized (${acceptedBy('select accepting_index from t')}
    and (a.id in (select id from t)) is true)
  select i.transaction_id::float8 as transaction, i.index as input,
    accepted.chain_index::float8 as "chainIndex", accepted.chain_time as "chainTime",
    accepted.position, coalesce(t.fee, 0) as fee, case when t.variant = 0 then i.signature_script
      else b.signature_script end as "signatureScript", s.script,
    coalesce(o.covenant_id, u.covenant_id) as "covenantId"
  from t
  join accepted on accepted.chain_index = t.accepting_index and accepted.transaction_id = t.id
  join transaction_inputs i on i.transaction_id = t.id
  join scripts s on s.id = i.script_id and s.type = 'scripthash'
  left join transaction_variant_inputs b on b.transaction_id = t.id and b.variant = t.variant
    and b.index = i.index
  left join transaction_outputs o
    on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
      and o.covenant_id is not null
  left join bootstrap_utxos u
    on u.transaction_id = i.previous_transaction_id and u.index = i.previous_index
      and u.covenant_id is not null
  where ${where}`;

/** Yields what accepted transactions reveal, also programs that are not notable. */
export async function* readReveals(client: ClientBase, transactions: readonly bigint[]): AsyncGenerator<Reveal[]> {
  for (let from = 0; from < transactions.length; from += TRANSACTIONS_AT_ONCE) {
    const { rows } = await client.query<RevealRow>({
      name: 'removed-reveals',
      // A chain without programs needs no more than the first condition.
      text: selectReveals(`
        select id, accepting_index, fee, accepted_variant as variant from transactions
         where exists (select from programs) and id = any($1::bigint[])
           and accepted_variant is not null`),
      values: [transactions.slice(from, from + TRANSACTIONS_AT_ONCE)],
    });
    yield rows.flatMap(toReveal);
  }
}

/** Returns what transactions of earlier batches reveal in variants that are known now. */
export async function readSettled(client: ClientBase, settled: readonly SettledVariant[]): Promise<Reveal[]> {
  const { rows } = await client.query<RevealRow>({
    name: 'settled-reveals',
    text: `${selectReveals(`
             select t.id, t.accepting_index, t.fee, settled.variant
               from unnest($1::bigint[], $2::integer[]) settled (id, variant)
                 join transactions t on t.id = settled.id`)}
            order by accepted.chain_index, accepted.position, i.index`,
    values: columnsOf(settled, 'transaction', 'variant'),
  });
  return rows.flatMap(toReveal);
}

interface InputKey {
  transaction: number;
  input: number;
}

interface Measured extends InputKey {
  bytes: number;
}

/**
 * Yields what accepted transactions reveal, in the order of their keys. A page takes a bounded
 * amount of memory.
 * @param keys transactions to read; all by default
 */
export async function* revealPages(db: Queryable, keys?: KeySet): AsyncGenerator<Reveal[], undefined> {
  for await (const found of keys === undefined ? findInputs(db) : findInputsOf(db, keys)) {
    for (const page of divide(found)) {
      const { rows } = await db.query<RevealRow>(
        // The planner expects one row of the rest, so that a join with the wanted inputs would
        // compare each of them with each transaction.
        `${selectReveals(
          `select t.id, t.accepting_index, t.fee, t.accepted_variant as variant, wanted.index
             from unnest($1::bigint[], $2::integer[]) wanted (transaction_id, index)
            cross join lateral (select id, accepting_index, fee, accepted_variant from transactions
              where id = wanted.transaction_id offset 0) t`,
          'i.index = t.index',
        )}
          order by i.transaction_id, i.index`,
        columnsOf(page, 'transaction', 'input'),
      );
      yield rows.flatMap(toReveal);
    }
  }
}

/** The P2SH inputs of accepted variants among `next`. */
const FOUND = `
  select i.transaction_id, i.index, case when t.accepted_variant = 0 then i.bytes
    else octet_length(b.signature_script) end as bytes
    from next i
   cross join lateral (select from scripts
     where id = i.script_id and type = 'scripthash' offset 0) s
   cross join lateral (
     select id, accepted_variant from transactions
      where id = i.transaction_id and accepting_index is not null and accepted_variant is not null
        offset 0) t
    left join transaction_variant_inputs b on b.transaction_id = t.id
      and b.variant = t.accepted_variant and b.index = i.index`;

const INPUTS =
  'select transaction_id, index, script_id, octet_length(signature_script) as bytes from transaction_inputs';

/** Nulls where none was found among the inputs up to the last one. */
type MeasuredRow = { [Name in keyof Measured]: Measured[Name] | null } & { last: number; lastInput: number };

async function* findInputs(db: Queryable): AsyncGenerator<Measured[]> {
  for (let after: InputKey = { transaction: -1, input: -1 }; ; ) {
    const { rows } = await db.query<MeasuredRow>(
      `with next as materialized (
         ${INPUTS} where (transaction_id, index) > ($1, $2) order by transaction_id, index limit ${INPUTS_AT_ONCE}),
       found as (${FOUND})
       select last.transaction_id::float8 as last, last.index as "lastInput",
         found.transaction_id::float8 as transaction, found.index as input, found.bytes
         from (select transaction_id, index from next order by transaction_id desc, index desc
           limit 1) last left join found on true
        order by found.transaction_id, found.index`,
      [after.transaction, after.input],
    );
    yield rows.flatMap(({ transaction, input, bytes }) =>
      transaction === null || input === null ? [] : [{ transaction, input, bytes: bytes ?? 0 }],
    );
    const [first] = rows;
    if (first === undefined) return;
    after = { transaction: first.last, input: first.lastInput };
  }
}

async function* findInputsOf(db: Queryable, keys: KeySet): AsyncGenerator<Measured[]> {
  for (const page of keys.pages(KEYS_AT_ONCE)) {
    const { rows } = await db.query<Measured>({
      name: 'find-inputs-of',
      text: `with next as materialized (${INPUTS} where transaction_id = any($1::bigint[]))
             select transaction_id::float8 as transaction, index as input, bytes
               from (${FOUND}) found order by transaction_id, index`,
      values: [page],
    });
    yield rows;
  }
}

function* divide(inputs: readonly Measured[]): Generator<Measured[]> {
  let page: Measured[] = [];
  let bytes = 0;
  for (const input of inputs) {
    if (page.length > 0 && bytes + input.bytes > PAGE_BYTES) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(input);
    bytes += input.bytes;
  }
  if (page.length > 0) yield page;
}

function toReveal(row: RevealRow): Reveal[] {
  const { chainIndex, chainTime, signatureScript, script, covenantId, ...reveal } = row;
  const program = claimedProgram({ version: 0, script }, signatureScript);
  if (program === undefined) return [];
  const hash = blake2b256(program);
  if (Buffer.compare(hash, script.subarray(2, 34)) !== 0) return [];
  return [
    { ...reveal, chainBlock: { index: chainIndex, chainTime }, program, hash, covenantId: covenantId ?? undefined },
  ];
}
