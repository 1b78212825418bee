/** Rebuilds transactions and their variants from stored rows, page by page, for invariant 8. */
import type { Hash, Transaction, TransactionInput, TransactionOutput } from '@kasgres/kaspa';
import { columnsOf, pagesByKey, type Queryable } from '@kasgres/state';
import { EVERYTHING, type From } from './since.ts';

interface StoredTransaction {
  transactionId: Hash;
  /** 0 for the one in `transactions`. */
  variant: number;
  hash: Hash;
  computeMass: bigint;
  transaction: Transaction;
}

/** Names one variant: the key of its transaction and its number. */
export interface VariantKey {
  id: bigint;
  variant: number;
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
/**
 * As JSON, which is about the text of their rows. A miner can put many large transactions after
 * each other.
 */
const PAGE_BYTES = 32 * 2 ** 20;
/** Fewer, since the same goes for variants. */
const VARIANTS_PAGE = 250;

const WANTED = 'with wanted as (select id, variant from unnest($1::bigint[], $2::integer[]) wanted (id, variant))';

const SELECT_VARIANTS = `
  ${WANTED}
  select t.id, t.transaction_id as "transactionId", wanted.variant,
    coalesce(b.hash, t.hash) as hash, t.version, t.lock_time as "lockTime",
    s.subnetwork_id as "subnetworkId", t.gas, t.payload,
    coalesce(b.storage_mass, t.storage_mass) as "storageMass",
    coalesce(b.compute_mass, t.compute_mass) as "computeMass"
  from wanted
  join transactions t on t.id = wanted.id
  join subnetworks s on s.id = t.subnetwork_id
  left join transaction_variants b on b.transaction_id = wanted.id and b.variant = wanted.variant
  where wanted.variant = 0 or b.variant is not null
  order by t.id, wanted.variant`;

const SELECT_INPUTS = `
  select i.transaction_id as id, i.index, i.previous_index as "previousIndex", i.sequence,
    i.signature_script as "signatureScript", i.sig_op_count as "sigOpCount",
    i.compute_budget as "computeBudget",
    coalesce(previous.transaction_id, earlier.transaction_id,
      i.previous_transaction_hash) as "previousTransactionId"
  from transaction_inputs i
  left join transactions previous on previous.id = i.previous_transaction_id
  left join pre_bootstrap_transactions earlier on earlier.id = i.previous_transaction_id
  where i.transaction_id = any($1)
  order by i.transaction_id, i.index`;

/** Fields of inputs in which further variants differ from variant 0. */
const SELECT_VARIANT_INPUTS = `
  ${WANTED}
  select i.transaction_id as id, i.variant, i.index, i.signature_script as "signatureScript",
    i.sig_op_count as "sigOpCount", i.compute_budget as "computeBudget"
  from wanted join transaction_variant_inputs i on i.transaction_id = wanted.id
    and i.variant = wanted.variant
  where wanted.variant > 0`;

const SELECT_OUTPUTS = `
  select o.transaction_id as id, o.amount, s.version, s.script,
    o.covenant_authorizing_input as "authorizingInput", o.covenant_id as "covenantId"
  from transaction_outputs o join scripts s on s.id = o.script_id
  where o.transaction_id = any($1)
  order by o.transaction_id, o.index`;

/**
 * A pre-bootstrap transaction that a block carries again keeps its key: its rows are newer than the
 * key suggests.
 */
const preBootstrap = (key: string, above: string, from: string): string =>
  `${key} < ${above} and ${key} in (select transaction_id from block_transactions where block_id >= ${from})`;

/** Ends the page before it would be too large, but for its first transaction. */
const selectPage = (condition: string): string => `
  select id from (
    select id, row_number() over in_order as position,
      sum(json_bytes + 2 * octet_length(payload)) over in_order as bytes
    from (select id, json_bytes, payload from transactions where id > $1 and ${condition}
      order by id limit ${PAGE}) page
    window in_order as (order by id)
  ) summed
  where position = 1 or bytes <= ${PAGE_BYTES} order by id`;
const SELECT_PAGE = selectPage('true');
const SELECT_PRE_BOOTSTRAP_PAGE = selectPage(preBootstrap('id', '$2', '$3'));

const selectFurther = (condition: string): string => `
  select transaction_id as id, variant from transaction_variants
  where (transaction_id, variant) > ($1, $2) and ${condition} order by transaction_id, variant
    limit ${VARIANTS_PAGE}`;
const SELECT_FURTHER_PAGE = selectFurther('true');
const SELECT_FURTHER_PRE_BOOTSTRAP_PAGE = selectFurther(preBootstrap('transaction_id', '$3', '$4'));

/** Yields the first variants of all transactions, and then the further ones. */
export async function* storedTransactions(db: Queryable, from: From): AsyncGenerator<StoredTransaction> {
  yield* readPages(db, pagesByKey(db, SELECT_PAGE, from.transactionId - 1n));
  yield* readPages(db, pagesOfFurther(db, SELECT_FURTHER_PAGE, from.transactionId));
  if (from === EVERYTHING) return;
  const lowest = EVERYTHING.transactionId;
  const bounds = [from.transactionId, from.blockId];
  yield* readPages(db, pagesByKey(db, SELECT_PRE_BOOTSTRAP_PAGE, lowest, bounds));
  yield* readPages(db, pagesOfFurther(db, SELECT_FURTHER_PRE_BOOTSTRAP_PAGE, lowest, bounds));
}

async function* pagesOfFurther(
  db: Queryable,
  select: string,
  from: bigint,
  parameters: readonly bigint[] = [],
): AsyncGenerator<VariantKey[]> {
  // The first variant has no row there.
  for (let after: VariantKey = { id: from, variant: 0 }; ; ) {
    const { rows } = await db.query<VariantKey>(select, [after.id, after.variant, ...parameters]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last;
  }
}

async function* readPages(
  db: Queryable,
  pages: AsyncIterable<readonly { id: bigint; variant?: number }[]>,
): AsyncGenerator<StoredTransaction> {
  for await (const rows of pages) {
    yield* await readVariants(
      db,
      rows.map(({ id, variant = 0 }) => ({ id, variant })),
    );
  }
}

/** Yields the variants that are stored, in pages. */
export async function* storedVariants(db: Queryable, keys: readonly VariantKey[]): AsyncGenerator<StoredTransaction> {
  for (let start = 0; start < keys.length; start += VARIANTS_PAGE) {
    yield* await readVariants(db, keys.slice(start, start + VARIANTS_PAGE));
  }
}

/** Reads one page. */
async function readVariants(db: Queryable, keys: readonly VariantKey[]): Promise<StoredTransaction[]> {
  const wanted = columnsOf(keys, 'id', 'variant');
  const ids = [[...new Set(wanted[0])]];
  const { rows: variants } = await db.query<VariantRow>(SELECT_VARIANTS, wanted);
  const { rows: inputRows } = await db.query<InputRow>(SELECT_INPUTS, ids);
  const { rows: variantInputs } = await db.query<VariantInputRow>(SELECT_VARIANT_INPUTS, wanted);
  const { rows: outputRows } = await db.query<OutputRow>(SELECT_OUTPUTS, ids);
  const inputs = Map.groupBy(inputRows, ({ id }) => id);
  const outputs = Map.groupBy(outputRows, ({ id }) => id);
  const ofVariants = new Map(variantInputs.map((row) => [`${row.id}:${row.variant}:${row.index}`, row]));
  return variants.map(({ id, transactionId, variant, hash, lockTime, gas, storageMass, computeMass, ...rest }) => {
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
    return { transactionId, variant, hash, computeMass: BigInt(computeMass), transaction };
  });
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
