/**
 * The storage masses that a block template leaves out (api-spec.md §2) and that its merkle root commits to. They follow from what the
 * transactions spend and create (KIP-9): the UTXOs are in the index, or, while that is a moment behind, the mass is in the mempool that
 * the template was made of.
 */
import type { Database } from '@kasgres/database';
import {
  type Outpoint,
  storageMass,
  toHex,
  type Transaction,
  transactionId,
  type TransactionOutput,
} from '@kasgres/kaspa';
import { NodeRpcError } from '@kasgres/node';
import { type Kysely, sql } from 'kysely';
import { badRequest } from '../../../http/errors.ts';
import type { NodeCaller } from '../../../node-calls.ts';
import type { Services } from '../../../services.ts';
import type { SubmittedTransaction } from './transaction.ts';

interface MassSources {
  index: Services['index'];
  node: NodeCaller;
}

/** @throws HttpError 400 that names a mass which nothing tells */
export async function completeStorageMasses(
  services: MassSources,
  transactions: readonly SubmittedTransaction[],
  caller?: string,
): Promise<Transaction[]> {
  const incomplete = transactions.filter(({ storageMass }) => storageMass === undefined);
  const utxos = await findUtxos(services, incomplete.flatMap(outpointsOf), caller);
  const complete: Transaction[] = [];
  // One after another: a block of transactions that nobody knows must not cost more than one call of the node.
  for (const [place, transaction] of transactions.entries()) {
    const mass =
      transaction.storageMass ?? massFromUtxos(transaction, utxos) ?? (await findMassInMempool(services, transaction));
    if (mass === undefined) throw unknownMass(place);
    complete.push({ ...transaction, storageMass: mass });
  }
  return complete;
}

const outpointsOf = ({ inputs }: SubmittedTransaction): Outpoint[] => inputs.map((input) => input.previousOutpoint);

/** Undefined while a UTXO is not known. */
function massFromUtxos(
  { inputs, outputs }: SubmittedTransaction,
  utxos: ReadonlyMap<string, TransactionOutput>,
): bigint | undefined {
  const spent = inputs.flatMap(({ previousOutpoint }) => utxos.get(keyOf(previousOutpoint)) ?? []);
  if (spent.length < inputs.length) return undefined;
  // No mass is right for a UTXO of nothing: consensus forbids it, and the node says so.
  return outputs.some(({ amount }) => amount === 0n) ? 0n : storageMass(spent, outputs);
}

const keyOf = ({ transactionId, index }: Outpoint): string => `${toHex(transactionId)}:${index}`;

/** The outputs that are known, by outpoint; none while looking them up would mean reading everything. */
async function findUtxos(
  { index }: Pick<Services, 'index'>,
  outpoints: readonly Outpoint[],
  caller: string | undefined,
): Promise<Map<string, TransactionOutput>> {
  if (outpoints.length === 0) return new Map();
  const rows = await index.read(
    async ({ db, state }) => (state.firstCatchUp ? [] : await listUtxos(db, outpoints)),
    caller,
  );
  return new Map(rows.map((row) => [keyOf({ transactionId: row.transaction_id, index: row.index }), toOutput(row)]));
}

interface UtxoRow {
  transaction_id: Buffer;
  index: number;
  amount: bigint;
  version: number;
  script: Buffer;
  covenant_id: Buffer | null;
}

/** Outputs of what is indexed, and UTXOs of the latest start. */
async function listUtxos(db: Kysely<Database>, outpoints: readonly Outpoint[]): Promise<UtxoRow[]> {
  const spent = sql`unnest(
    ${outpoints.map((outpoint) => outpoint.transactionId)}::bytea[], ${outpoints.map((outpoint) => outpoint.index)}::bigint[]
  ) as spent (transaction_id, index)`;
  const { rows } = await sql<UtxoRow>`
    select t.transaction_id, o.index::int as index, o.amount, s.version, s.script, o.covenant_id
    from ${spent}
    join transactions t on t.transaction_id = spent.transaction_id
    join transaction_outputs o on o.transaction_id = t.id and o.index = spent.index
    join scripts s on s.id = o.script_id
    union all
    select t.transaction_id, o.index::int as index, o.amount, s.version, s.script, o.covenant_id
    from ${spent}
    join earlier_transactions t on t.transaction_id = spent.transaction_id
    join start_utxos o on o.transaction_id = t.id and o.index = spent.index
    join scripts s on s.id = o.script_id`.execute(db);
  return rows;
}

/** Of a spent UTXO only whether it carries a covenant counts, not what authorised it. */
const toOutput = (row: UtxoRow): TransactionOutput => ({
  amount: row.amount,
  scriptPublicKey: { version: row.version, script: row.script },
  covenant: row.covenant_id === null ? undefined : { authorizingInput: 0, covenantId: row.covenant_id },
});

async function findMassInMempool(
  { node }: MassSources,
  transaction: SubmittedTransaction,
): Promise<bigint | undefined> {
  const txId = toHex(transactionId({ ...transaction, storageMass: 0n }));
  try {
    const { entry } = await node.call('getMempoolEntry', {
      txId,
      includeOrphanPool: false,
      filterTransactionPool: false,
    });
    return entry?.transaction?.storageMass;
  } catch (error) {
    if (error instanceof NodeRpcError && error.kind === 'not-found') return undefined;
    throw error;
  }
}

const unknownMass = (place: number) =>
  badRequest({
    path: `block.transactions.${place}.mass`,
    message: 'is needed: neither the UTXOs that the transaction spends nor the transaction itself are known',
  });
