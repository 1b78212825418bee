/** Reads reveals from rows, for what is reverted, rebuilt and verified, and for variants that became known later. */
import { blake2b256 } from '@kasgres/kaspa';
import { claimedProgram } from '@kasgres/programs';
import type { ClientBase } from 'pg';
import { columnsOf, type Queryable } from '../queryable.ts';
import type { Reveal } from './reveals.ts';

export interface SettledVariant {
  transaction: number;
  variant: number;
}

/** Bounds on a page of `revealPages`. */
const PAGE_INPUTS = 5_000;
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

/** Columns of the inputs `i` of transactions `t` in the variant `body`, which spend P2SH scripts `s` and were accepted by chain blocks `c`. */
const COLUMNS = `
  i.transaction_id::float8 as transaction, i.index as input, c.index::float8 as "chainIndex", c.chain_time as "chainTime",
  array_position(c.accepted_transactions, t.id) - 1 as position, coalesce(t.fee, 0) as fee,
  case when t.body = 0 then i.signature_script else b.signature_script end as "signatureScript", s.script,
  coalesce(o.covenant_id, u.covenant_id) as "covenantId"`;

const JOINS = `
  join chain_blocks c on c.index = t.accepting_index
  join transaction_inputs i on i.transaction_id = t.id
  join scripts s on s.id = i.script_id and s.type = 'scripthash'
  left join transaction_body_inputs b on b.transaction_id = t.id and b.body = t.body and b.index = i.index
  left join transaction_outputs o
    on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index and o.covenant_id is not null
  left join start_utxos u
    on u.transaction_id = i.previous_transaction_id and u.index = i.previous_index and u.covenant_id is not null`;

/** Returns what accepted transactions reveal, also programs that are not notable. */
export async function readReveals(client: ClientBase, transactions: readonly bigint[]): Promise<Reveal[]> {
  const { rows } = await client.query<RevealRow>({
    name: 'removed-reveals',
    // A chain without programs needs no more than the first condition.
    text: `select ${COLUMNS}
             from (select id, accepting_index, fee, accepted_body as body from transactions
                    where exists (select from programs) and id = any($1::bigint[]) and accepted_body is not null) t ${JOINS}`,
    values: [transactions],
  });
  return rows.flatMap(toReveal);
}

/** Returns what transactions of earlier batches reveal in variants that are known now. */
export async function readSettled(client: ClientBase, settled: readonly SettledVariant[]): Promise<Reveal[]> {
  const { rows } = await client.query<RevealRow>({
    name: 'settled-reveals',
    text: `select ${COLUMNS}
             from (select t.id, t.accepting_index, t.fee, settled.body
                     from unnest($1::bigint[], $2::integer[]) settled (id, body) join transactions t on t.id = settled.id) t ${JOINS}
            order by c.index, position, i.index`,
    values: columnsOf(settled, 'transaction', 'variant'),
  });
  return rows.flatMap(toReveal);
}

interface InputKey {
  transaction: number;
  input: number;
}

/** Yields what all accepted transactions reveal, in the order of their keys. A page takes a bounded amount of memory. */
export async function* revealPages(db: Queryable): AsyncGenerator<Reveal[]> {
  let after: InputKey = { transaction: -1, input: -1 };
  for (;;) {
    const last = await findPageEnd(db, after);
    if (last === undefined) return;
    const { rows } = await db.query<RevealRow>(
      `select ${COLUMNS} from (select id, accepting_index, fee, accepted_body as body from transactions
                               where id between $1 and $3 and accepted_body is not null) t ${JOINS}
        where (i.transaction_id, i.index) > ($1, $2) and (i.transaction_id, i.index) <= ($3, $4)
        order by i.transaction_id, i.index`,
      [after.transaction, after.input, last.transaction, last.input],
    );
    yield rows.flatMap(toReveal);
    after = last;
  }
}

/** Returns the last input of the next page; undefined after the last page. */
async function findPageEnd(db: Queryable, after: InputKey): Promise<InputKey | undefined> {
  const { rows } = await db.query<InputKey & { bytes: number }>(
    `select i.transaction_id::float8 as transaction, i.index as input,
            octet_length(case when t.accepted_body = 0 then i.signature_script else b.signature_script end) as bytes
       from transaction_inputs i
       join scripts s on s.id = i.script_id and s.type = 'scripthash'
       join transactions t on t.id = i.transaction_id and t.accepting_index is not null and t.accepted_body is not null
       left join transaction_body_inputs b on b.transaction_id = t.id and b.body = t.accepted_body and b.index = i.index
      where (i.transaction_id, i.index) > ($1, $2)
      order by i.transaction_id, i.index limit ${PAGE_INPUTS}`,
    [after.transaction, after.input],
  );
  let bytes = 0;
  const first = rows.findIndex((row) => (bytes += row.bytes) > PAGE_BYTES);
  return first === -1 ? rows.at(-1) : rows[Math.max(0, first - 1)];
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
