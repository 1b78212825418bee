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

/** A row of numeric columns comes as text. */
type VariantRow = Omit<StoredTransaction, 'transaction' | 'computeMass'> &
  Omit<Transaction, 'inputs' | 'outputs' | 'lockTime' | 'gas' | 'storageMass'> & {
    id: bigint;
    lockTime: string;
    gas: string;
    storageMass: string;
    computeMass: string;
  };

/** The fields of an input that the id leaves out. */
type VariantFields = Pick<TransactionInput, 'signatureScript' | 'sigOpCount' | 'computeBudget'>;

interface InputRow extends VariantFields {
  id: bigint;
  index: number;
  previousTransactionId: Buffer;
  previousIndex: bigint;
  sequence: string;
}

interface VariantInputRow extends VariantFields {
  id: bigint;
  variant: number;
  index: number;
}

interface OutputRow {
  id: bigint;
  amount: bigint;
  version: number;
  script: Buffer;
  authorizingInput: number | null;
  covenantId: Buffer | null;
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
  select page.id, page.transaction_id as "transactionId", bodies.body as variant, bodies.hash, page.version, page.lock_time as "lockTime",
    s.subnetwork_id as "subnetworkId", page.gas, page.payload, bodies.storage_mass as "storageMass", bodies.compute_mass as "computeMass"
  from page join bodies using (id) join subnetworks s on s.id = page.subnetwork_id
  order by page.id, bodies.body`;

const SELECT_INPUTS = `
  select i.transaction_id as id, i.index, i.previous_index as "previousIndex", i.sequence, i.signature_script as "signatureScript",
    i.sig_op_count as "sigOpCount", i.compute_budget as "computeBudget",
    coalesce(previous.transaction_id, earlier.transaction_id, i.previous_transaction_hash) as "previousTransactionId"
  from transaction_inputs i
  left join transactions previous on previous.id = i.previous_transaction_id
  left join earlier_transactions earlier on earlier.id = i.previous_transaction_id
  where i.transaction_id = any($1)
  order by i.transaction_id, i.index`;

/** Fields of inputs in which further variants differ from variant 0. */
const SELECT_VARIANT_INPUTS = `
  select transaction_id as id, body as variant, index, signature_script as "signatureScript", sig_op_count as "sigOpCount",
    compute_budget as "computeBudget"
  from transaction_body_inputs where transaction_id = any($1)`;

const SELECT_OUTPUTS = `
  select o.transaction_id as id, o.amount, s.version, s.script, o.covenant_authorizing_input as "authorizingInput",
    o.covenant_id as "covenantId"
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
  const read = (rows: { id: bigint }[]): AsyncGenerator<StoredTransaction> =>
    storedTransactionsOf(
      db,
      rows.map(({ id }) => id),
    );
  for await (const rows of pagesByKey(db, SELECT_PAGE, from.transactionId - 1n)) yield* read(rows);
  if (from === EVERYTHING) return;
  const bounds = [from.transactionId, from.blockId];
  for await (const rows of pagesByKey(db, SELECT_PRE_BOOTSTRAP_PAGE, EVERYTHING.transactionId, bounds))
    yield* read(rows);
}

/** Yields every variant of transactions. */
export async function* storedTransactionsOf(db: Queryable, keys: readonly bigint[]): AsyncGenerator<StoredTransaction> {
  for (let start = 0; start < keys.length; start += PAGE) {
    const ids = keys.slice(start, start + PAGE);
    const { rows: variants } = await db.query<VariantRow>(SELECT_VARIANTS, [ids]);
    const { rows: inputRows } = await db.query<InputRow>(SELECT_INPUTS, [ids]);
    const { rows: variantInputs } = await db.query<VariantInputRow>(SELECT_VARIANT_INPUTS, [ids]);
    const { rows: outputRows } = await db.query<OutputRow>(SELECT_OUTPUTS, [ids]);
    const inputs = Map.groupBy(inputRows, ({ id }) => id);
    const outputs = Map.groupBy(outputRows, ({ id }) => id);
    const ofVariants = new Map(variantInputs.map((row) => [`${row.id}:${row.variant}:${row.index}`, row]));
    for (const { id, transactionId, variant, hash, lockTime, gas, storageMass, computeMass, ...rest } of variants) {
      const transaction = {
        ...rest,
        lockTime: BigInt(lockTime),
        gas: BigInt(gas),
        storageMass: BigInt(storageMass) as Transaction['storageMass'],
        inputs: (inputs.get(id) ?? []).map((input) =>
          toInput({ ...input, ...(variant > 0 && ofVariants.get(`${id}:${variant}:${input.index}`)) }),
        ),
        outputs: (outputs.get(id) ?? []).map(toOutput),
      };
      yield { transactionId, variant, hash, computeMass: BigInt(computeMass), transaction };
    }
  }
}

function toInput({ previousTransactionId, previousIndex, sequence, ...rest }: InputRow): TransactionInput {
  const previousOutpoint = { transactionId: previousTransactionId, index: Number(previousIndex) };
  return { ...rest, previousOutpoint, sequence: BigInt(sequence) };
}

function toOutput({ amount, version, script, authorizingInput, covenantId }: OutputRow): TransactionOutput {
  const hasCovenant = authorizingInput !== null && covenantId !== null;
  const covenant = hasCovenant ? { authorizingInput, covenantId } : undefined;
  return { amount, scriptPublicKey: { version, script }, covenant };
}
