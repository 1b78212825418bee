/**
 * Queries of transactions: one for each kind of row. Postgres converts numbers that JSON shows as strings, since pages of
 * blocks have tens of thousands of rows.
 */
import { sql } from 'kysely';
import { anyOf, type Db, hex, hexOrNull, text } from '../../index-state/sql.ts';

/** Columns of a transaction and its first variant, joined with `subnetworks`. */
export const transactionColumns = [
  'transactions.id',
  hex('transactions.transaction_id').as('transaction_id'),
  hex('transactions.hash').as('hash'),
  'transactions.version',
  text('transactions.lock_time').as('lock_time'),
  hex('subnetworks.subnetwork_id').as('subnetwork_id'),
  text('transactions.gas').as('gas'),
  text('transactions.storage_mass').as('storage_mass'),
  text('transactions.compute_mass').as('compute_mass'),
] as const;

export type ContainedRow = Awaited<ReturnType<typeof listContained>>[number];

/** Lists the first variants of the transactions in blocks, in the order of each block, with the number of the variant in the block. */
export function listContained(db: Db, blockIds: readonly bigint[]) {
  return db
    .selectFrom('block_transactions as contained')
    .innerJoin('transactions', 'transactions.id', 'contained.transaction_id')
    .innerJoin('subnetworks', 'subnetworks.id', 'transactions.subnetwork_id')
    .select(['contained.block_id', 'contained.body', ...transactionColumns, hex('transactions.payload').as('payload')])
    .where('contained.block_id', '=', anyOf(blockIds))
    .orderBy('contained.block_id')
    .orderBy('contained.index')
    .execute();
}

export type InputRow = Awaited<ReturnType<ReturnType<typeof selectInputs>['execute']>>[number];

/** Selects the inputs of first variants in order: the transaction of the spent UTXO is `previous`, or `earlier` if it is pre-bootstrap. */
export function selectInputs(db: Db, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_inputs as input')
    .leftJoin('transactions as previous', 'previous.id', 'input.previous_transaction_id')
    .leftJoin('earlier_transactions as earlier', 'earlier.id', 'input.previous_transaction_id')
    .select([
      'input.transaction_id',
      sql<string>`encode(
        coalesce(previous.transaction_id, earlier.transaction_id, input.previous_transaction_hash), 'hex')`.as(
        'previous_transaction_id',
      ),
      'input.previous_index',
      hex('input.signature_script').as('signature_script'),
      text('input.sequence').as('sequence'),
      'input.sig_op_count',
      'input.compute_budget',
    ])
    .where('input.transaction_id', '=', anyOf(transactionIds))
    .orderBy('input.transaction_id')
    .orderBy('input.index');
}

export type OutputRow = Awaited<ReturnType<typeof listOutputs>>[number];

/** Lists outputs in order. */
export function listOutputs(db: Db, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_outputs as output')
    .innerJoin('scripts', 'scripts.id', 'output.script_id')
    .select([
      'output.transaction_id',
      text('output.amount').as('amount'),
      'scripts.version',
      hex('scripts.script').as('script'),
      'scripts.type',
      'scripts.address',
      'output.covenant_authorizing_input',
      hexOrNull('output.covenant_id').as('covenant_id'),
    ])
    .where('output.transaction_id', '=', anyOf(transactionIds))
    .orderBy('output.transaction_id')
    .orderBy('output.index')
    .execute();
}

/** Identifies a variant of a transaction id (docs/architecture.md): 0 is the first. */
interface VariantKey {
  id: bigint;
  body: number;
}

type VariantRow = Awaited<ReturnType<typeof listVariants>>[number];
type VariantInputRow = Awaited<ReturnType<typeof listVariantInputs>>[number];

/** Replaces fields of the first variant by those in which the variant that `row` identifies differs. */
type ToVariant = <Row extends VariantRow, Input extends Omit<VariantInputRow, keyof VariantKey>>(
  row: Row,
  inputs: readonly Input[],
) => { row: Row; inputs: readonly Input[] };

/** Loads the variants with these keys. Rows of first variants are read for every transaction. */
export async function loadVariants(db: Db, keys: readonly VariantKey[]): Promise<ToVariant> {
  const ids = [...new Set(keys.filter(({ body }) => body > 0).map(({ id }) => id))];
  if (ids.length === 0) return (row, inputs) => ({ row, inputs });
  const nameOf = ({ id, body }: VariantKey): string => `${id} ${body}`;
  const variants = new Map((await listVariants(db, ids)).map((variant) => [nameOf(variant), variant]));
  const variantInputs = Map.groupBy(await listVariantInputs(db, ids), nameOf);
  return (row, inputs) => {
    const variant = variants.get(nameOf(row));
    if (variant === undefined) return { row, inputs };
    const ownInputs = variantInputs.get(nameOf(row)) ?? [];
    return {
      row: { ...row, ...variant },
      inputs: inputs.map((input, index) => ({ ...input, ...ownInputs[index] })),
    };
  };
}

function listVariants(db: Db, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_bodies')
    .select([
      'transaction_id as id',
      'body',
      hex('hash').as('hash'),
      text('storage_mass').as('storage_mass'),
      text('compute_mass').as('compute_mass'),
    ])
    .where('transaction_id', '=', anyOf(transactionIds))
    .execute();
}

/** Lists the inputs of variants in order. */
function listVariantInputs(db: Db, transactionIds: readonly bigint[]) {
  return db
    .selectFrom('transaction_body_inputs')
    .select([
      'transaction_id as id',
      'body',
      hex('signature_script').as('signature_script'),
      'sig_op_count',
      'compute_budget',
    ])
    .where('transaction_id', '=', anyOf(transactionIds))
    .orderBy('transaction_id')
    .orderBy('body')
    .orderBy('index')
    .execute();
}
