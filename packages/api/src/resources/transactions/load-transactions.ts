/** The transactions of blocks, each with the body that the block carries: an id can have several (DESIGN.md §4). */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import type { TransactionJson } from '../../schemas/transaction.ts';
import {
  type ContainedRow,
  type InputRow,
  listBodies,
  listBodyInputs,
  listContained,
  listInputs,
  listOutputs,
} from './queries.ts';
import { type ContainingBlock, toTransaction } from './to-transaction.ts';

/** By block id, in the order of each block. */
export async function loadTransactions(
  db: Kysely<Database>,
  blocks: ReadonlyMap<bigint, ContainingBlock>,
): Promise<Map<bigint, TransactionJson[]>> {
  const contained = await listContained(db, [...blocks.keys()]);
  const ids = [...new Set(contained.map((row) => row.id))];
  const inputs = Map.groupBy(await listInputs(db, ids), (row) => row.transaction_id);
  const outputs = Map.groupBy(await listOutputs(db, ids), (row) => row.transaction_id);
  const carry = await loadFurtherBodies(db, contained);

  const transactions = new Map<bigint, TransactionJson[]>();
  for (const [blockId, rows] of Map.groupBy(contained, (row) => row.block_id)) {
    const block = blocks.get(blockId) as ContainingBlock;
    const ofBlock = rows.map((row) => {
      const body = carry(row, inputs.get(row.id) ?? []);
      return toTransaction(body.row, body.inputs, outputs.get(row.id) ?? [], block);
    });
    transactions.set(blockId, ofBlock);
  }
  return transactions;
}

interface CarriedBody {
  row: ContainedRow;
  inputs: readonly InputRow[];
}

/** A function that puts what a second or further body has of its own over what the first body has. */
async function loadFurtherBodies(
  db: Kysely<Database>,
  contained: readonly ContainedRow[],
): Promise<(row: ContainedRow, inputs: readonly InputRow[]) => CarriedBody> {
  const ids = [...new Set(contained.filter((row) => row.body > 0).map((row) => row.id))];
  if (ids.length === 0) return (row, inputs) => ({ row, inputs });
  const bodies = new Map((await listBodies(db, ids)).map((body) => [nameOf(body), body]));
  const bodyInputs = Map.groupBy(await listBodyInputs(db, ids), nameOf);
  return (row, inputs) => {
    const name = nameOf(row);
    const body = bodies.get(name);
    if (body === undefined) return { row, inputs };
    const ownInputs = bodyInputs.get(name) ?? [];
    return {
      row: { ...row, ...body },
      inputs: inputs.map((input, index) => ({ ...input, ...(ownInputs[index] ?? input) })),
    };
  };
}

const nameOf = ({ id, body }: { id: bigint; body: number }): string => `${id} ${body}`;
