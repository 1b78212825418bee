/**
 * Variants of a transaction id beyond the first (docs/architecture.md). Rows of first variants are read for every transaction; the fields in which
 * another variant differs replace theirs where that one is shown.
 */
import { anyOf, type Db, hex, text } from '../../index-state/sql.ts';

/** Identifies a variant: 0 is the first. */
interface VariantKey {
  id: bigint;
  body: number;
}

type VariantRow = Awaited<ReturnType<typeof listVariants>>[number];
type VariantInputRow = Awaited<ReturnType<typeof listVariantInputs>>[number];

/** Replaces fields of the first variant by those of the variant that `row` identifies. */
type ToVariant = <Row extends VariantRow, Input extends Omit<VariantInputRow, keyof VariantKey>>(
  row: Row,
  inputs: readonly Input[],
) => { row: Row; inputs: readonly Input[] };

export async function loadVariants(db: Db, keys: readonly VariantKey[]): Promise<ToVariant> {
  const ids = [...new Set(keys.filter(({ body }) => body > 0).map(({ id }) => id))];
  if (ids.length === 0) return (row, inputs) => ({ row, inputs });
  const variants = new Map((await listVariants(db, ids)).map((variant) => [nameOf(variant), variant]));
  const variantInputs = Map.groupBy(await listVariantInputs(db, ids), nameOf);
  return (row, inputs) => {
    const name = nameOf(row);
    const variant = variants.get(name);
    if (variant === undefined) return { row, inputs };
    const ownInputs = variantInputs.get(name) ?? [];
    return {
      row: { ...row, ...variant },
      inputs: inputs.map((input, index) => ({ ...input, ...ownInputs[index] })),
    };
  };
}

const nameOf = ({ id, body }: VariantKey): string => `${id} ${body}`;

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
