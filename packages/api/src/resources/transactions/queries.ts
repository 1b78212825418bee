/** Queries of transactions. Postgres converts numbers that JSON shows as strings, since pages of blocks have tens of thousands of rows. */
import { type RawBuilder, sql } from 'kysely';
import { anyOf, type Db, hex, hexOrNull, text } from '../../index-state/sql.ts';

/** Tests a column with the key of a transaction. `offset 0` keeps Postgres from hashing the whole table if it expects many rows. */
const isPreBootstrap = (id: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select from earlier_transactions where earlier_transactions.id = ${sql.ref(id)} offset 0)`;

/** Tests whether a row of `transactions` is accepted, by an indexed block or before a bootstrap block. */
export const isAccepted = (transactions = 'transactions'): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${transactions}.accepting_block_id`)} is not null or ${isPreBootstrap(`${transactions}.id`)})`;

/** Selects the blue score of the latest bootstrap block: an upper bound for accepting blocks of pre-bootstrap transactions. */
export const bootstrapBlueScore = sql<bigint>`(
  select blocks.blue_score from starts join blocks on blocks.id = starts.block_id order by starts.chain_index desc limit 1)`;

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
type VariantKey = Pick<ContainedRow, 'id' | 'body'>;

/** The fields in which variants differ. */
type VariantFields = Pick<ContainedRow, 'hash' | 'storage_mass' | 'compute_mass'>;
type VariantInput = Pick<InputRow, 'signature_script' | 'sig_op_count' | 'compute_budget'>;

type ToVariant = <Row extends VariantKey & VariantFields, Input extends VariantInput>(
  row: Row,
  inputs: readonly Input[],
) => { row: Row; inputs: readonly Input[] };

/** Returns a function that replaces fields of a first variant by those of the variant that `row` identifies. */
export async function loadVariants(db: Db, keys: readonly VariantKey[]): Promise<ToVariant> {
  const ids = [...new Set(keys.filter(({ body }) => body > 0).map(({ id }) => id))];
  if (ids.length === 0) return (row, inputs) => ({ row, inputs });
  const { rows } = await sql<VariantKey & VariantFields & { inputs: VariantInput[] | null }>`
    select variant.transaction_id as id, variant.body, encode(variant.hash, 'hex') as hash,
      variant.storage_mass::text as storage_mass, variant.compute_mass::text as compute_mass, (
        select json_agg(json_build_object('signature_script', encode(input.signature_script, 'hex'),
          'sig_op_count', input.sig_op_count, 'compute_budget', input.compute_budget) order by input.index)
        from transaction_body_inputs input
        where input.transaction_id = variant.transaction_id and input.body = variant.body) as inputs
    from transaction_bodies variant where variant.transaction_id = ${anyOf(ids)}`.execute(db);
  const nameOf = ({ id, body }: VariantKey): string => `${id} ${body}`;
  const variants = new Map(rows.map(({ inputs, ...fields }) => [nameOf(fields), { inputs, fields }]));
  return (row, inputs) => {
    const variant = variants.get(nameOf(row));
    if (variant === undefined) return { row, inputs };
    return {
      row: { ...row, ...variant.fields },
      inputs: inputs.map((input, index) => ({ ...input, ...variant.inputs?.[index] })),
    };
  };
}
