/** Rebuilds transactions and their variants from stored rows, page by page, for invariant 8. */
import type { Hash, Transaction, TransactionInput, TransactionOutput } from '@kasgres/kaspa';
import { pagesByKey, type Queryable } from '@kasgres/state';
import { EVERYTHING, type From } from './since.ts';

interface StoredTransaction {
  transactionId: Hash;
  /** 0 for the one in `transactions`. */
  variant: number;
  hash: Hash;
  computeMass: bigint;
  transaction: Transaction;
}

interface VariantRow {
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

/** The fields of an input that the id leaves out. */
interface VariantInput {
  signature_script: Buffer;
  sig_op_count: number;
  compute_budget: number;
}

interface InputRow extends VariantInput {
  id: bigint;
  index: number;
  previous_transaction_id: Buffer;
  previous_index: bigint;
  sequence: string;
}

interface VariantInputRow extends VariantInput {
  id: bigint;
  body: number;
  index: number;
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

const SELECT_VARIANTS = `
  with page as (select * from transactions where id = any($1)),
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
  select i.transaction_id as id, i.index, i.previous_index, i.sequence, i.signature_script, i.sig_op_count, i.compute_budget,
    coalesce(previous.transaction_id, earlier.transaction_id, i.previous_transaction_hash, '') as previous_transaction_id
  from transaction_inputs i
  left join transactions previous on previous.id = i.previous_transaction_id
  left join earlier_transactions earlier on earlier.id = i.previous_transaction_id
  where i.transaction_id = any($1)
  order by i.transaction_id, i.index`;

/** Fields of inputs in which further variants differ from variant 0. */
const SELECT_VARIANT_INPUTS = `
  select transaction_id as id, body, index, signature_script, sig_op_count, compute_budget
  from transaction_body_inputs where transaction_id = any($1)`;

const SELECT_OUTPUTS = `
  select o.transaction_id as id, o.amount, s.version as script_version, s.script, o.covenant_authorizing_input, o.covenant_id
  from transaction_outputs o join scripts s on s.id = o.script_id
  where o.transaction_id = any($1)
  order by o.transaction_id, o.index`;

const SELECT_PAGE = `select id from transactions where id > $1 order by id limit ${PAGE}`;

/** A pre-bootstrap transaction that a block carries again keeps its key: its row is newer than the key suggests. */
const SELECT_PRE_BOOTSTRAP_PAGE = `
  select id from transactions
   where id > $1 and id < $2 and id in (select transaction_id from block_transactions where block_id >= $3)
   order by id limit ${PAGE}`;

export async function* storedTransactions(db: Queryable, from: From): AsyncGenerator<StoredTransaction> {
  yield* readPages(db, pagesByKey(db, SELECT_PAGE, from.transactionId - 1n));
  if (from === EVERYTHING) return;
  const bounds = [from.transactionId, from.blockId];
  yield* readPages(db, pagesByKey(db, SELECT_PRE_BOOTSTRAP_PAGE, EVERYTHING.transactionId, bounds));
}

async function* readPages(db: Queryable, pages: AsyncIterable<{ id: bigint }[]>): AsyncGenerator<StoredTransaction> {
  for await (const rows of pages) {
    const ids = rows.map(({ id }) => id);
    yield* read(db, ids);
  }
}

/** Yields every variant of transactions. */
export async function* storedTransactionsOf(db: Queryable, keys: readonly bigint[]): AsyncGenerator<StoredTransaction> {
  for (let start = 0; start < keys.length; start += PAGE) yield* read(db, keys.slice(start, start + PAGE));
}

async function* read(db: Queryable, ids: readonly bigint[]): AsyncGenerator<StoredTransaction> {
  const { rows: variants } = await db.query<VariantRow>(SELECT_VARIANTS, [ids]);
  const { rows: inputRows } = await db.query<InputRow>(SELECT_INPUTS, [ids]);
  const { rows: variantRows } = await db.query<VariantInputRow>(SELECT_VARIANT_INPUTS, [ids]);
  const { rows: outputRows } = await db.query<OutputRow>(SELECT_OUTPUTS, [ids]);
  const inputs = Map.groupBy(inputRows, ({ id }) => id);
  const outputs = Map.groupBy(outputRows, ({ id }) => id);
  const ofVariants = new Map(variantRows.map((row) => [`${row.id}:${row.body}:${row.index}`, row]));
  for (const row of variants) {
    const inputsOfRow = (inputs.get(row.id) ?? []).map((input) => {
      return row.body === 0 ? input : { ...input, ...ofVariants.get(`${row.id}:${row.body}:${input.index}`) };
    });
    yield toStoredTransaction(row, inputsOfRow, outputs.get(row.id) ?? []);
  }
}

function toStoredTransaction(row: VariantRow, inputs: InputRow[], outputs: OutputRow[]): StoredTransaction {
  return {
    transactionId: row.transaction_id,
    variant: row.body,
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
