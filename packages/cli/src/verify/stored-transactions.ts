/** Every stored body of every transaction, rebuilt from rows alone, page by page: what invariant 8 hashes. */
import type { Hash, Transaction, TransactionInput, TransactionOutput } from '@kasgres/kaspa';
import type { Queryable } from './queryable.ts';

interface StoredTransaction {
  transactionId: Hash;
  /** 0 for the body in `transactions`. */
  body: number;
  hash: Hash;
  computeMass: bigint;
  transaction: Transaction;
}

interface BodyRow {
  id: bigint;
  transaction_id: Buffer;
  body: number;
  hash: Buffer;
  version: number;
  lock_time: string;
  subnetwork_id: Buffer;
  gas: string;
  payload: Buffer;
  storage_mass: bigint;
  compute_mass: bigint;
}

interface InputRow {
  id: bigint;
  body: number;
  previous_transaction_id: Buffer;
  previous_index: bigint;
  signature_script: Buffer;
  sequence: string;
  sig_op_count: number;
  compute_budget: number;
}

interface OutputRow {
  id: bigint;
  amount: bigint;
  script_version: number;
  script: Buffer;
  covenant_authorizing_input: number | null;
  covenant_id: Buffer | null;
}

const PAGE = 2000;

const SELECT_BODIES = `
  with page as (select * from transactions where id > $1 order by id limit ${PAGE}),
  bodies as (
    select id, 0 as body, hash, storage_mass, compute_mass from page
    union all
    select b.transaction_id, b.body, b.hash, b.storage_mass, b.compute_mass
    from transaction_bodies b where b.transaction_id in (select id from page)
  )
  select page.id, page.transaction_id, bodies.body, bodies.hash, page.version, page.lock_time, s.subnetwork_id, page.gas, page.payload,
    bodies.storage_mass, bodies.compute_mass
  from page join bodies using (id) join subnetworks s on s.id = page.subnetwork_id
  order by page.id, bodies.body`;

const SELECT_INPUTS = `
  select i.transaction_id as id, bodies.body, i.previous_index, i.sequence,
    coalesce(previous.transaction_id, earlier.transaction_id, i.previous_transaction_hash, '') as previous_transaction_id,
    case when own.body is null then i.signature_script else own.signature_script end as signature_script,
    case when own.body is null then i.sig_op_count else own.sig_op_count end as sig_op_count,
    case when own.body is null then i.compute_budget else own.compute_budget end as compute_budget
  from transaction_inputs i
  cross join lateral (
    select 0 as body union all select b.body from transaction_bodies b where b.transaction_id = i.transaction_id
  ) bodies
  left join transaction_body_inputs own
    on own.transaction_id = i.transaction_id and own.body = bodies.body and own.index = i.index
  left join transactions previous on previous.id = i.previous_transaction_id
  left join earlier_transactions earlier on earlier.id = i.previous_transaction_id
  where i.transaction_id between $1 and $2
  order by i.transaction_id, bodies.body, i.index`;

const SELECT_OUTPUTS = `
  select o.transaction_id as id, o.amount, s.version as script_version, s.script, o.covenant_authorizing_input, o.covenant_id
  from transaction_outputs o join scripts s on s.id = o.script_id
  where o.transaction_id between $1 and $2
  order by o.transaction_id, o.index`;

export async function* storedTransactions(db: Queryable): AsyncGenerator<StoredTransaction> {
  let after = -1n;
  for (;;) {
    const { rows: bodies } = await db.query<BodyRow>(SELECT_BODIES, [after]);
    const [first, last] = [bodies.at(0), bodies.at(-1)];
    if (first === undefined || last === undefined) return;
    const { rows: inputRows } = await db.query<InputRow>(SELECT_INPUTS, [first.id, last.id]);
    const { rows: outputRows } = await db.query<OutputRow>(SELECT_OUTPUTS, [first.id, last.id]);
    const inputs = Map.groupBy(inputRows, ({ id, body }) => `${id}:${body}`);
    const outputs = Map.groupBy(outputRows, ({ id }) => id);
    for (const row of bodies) {
      yield toStoredTransaction(row, inputs.get(`${row.id}:${row.body}`) ?? [], outputs.get(row.id) ?? []);
    }
    after = last.id;
  }
}

function toStoredTransaction(row: BodyRow, inputs: InputRow[], outputs: OutputRow[]): StoredTransaction {
  return {
    transactionId: row.transaction_id,
    body: row.body,
    hash: row.hash,
    computeMass: row.compute_mass,
    transaction: {
      version: row.version,
      inputs: inputs.map(toInput),
      outputs: outputs.map(toOutput),
      lockTime: BigInt(row.lock_time),
      subnetworkId: row.subnetwork_id,
      gas: BigInt(row.gas),
      payload: row.payload,
      storageMass: row.storage_mass,
    },
  };
}

function toInput(row: InputRow): TransactionInput {
  return {
    previousOutpoint: { transactionId: row.previous_transaction_id, index: Number(row.previous_index) },
    signatureScript: row.signature_script,
    sequence: BigInt(row.sequence),
    sigOpCount: row.sig_op_count,
    computeBudget: row.compute_budget,
  };
}

function toOutput(row: OutputRow): TransactionOutput {
  const { covenant_authorizing_input: authorizingInput, covenant_id: covenantId } = row;
  return {
    amount: row.amount,
    scriptPublicKey: { version: row.script_version, script: row.script },
    covenant: authorizingInput === null || covenantId === null ? undefined : { authorizingInput, covenantId },
  };
}
