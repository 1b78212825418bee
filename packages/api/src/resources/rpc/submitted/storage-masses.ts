/**
 * Computes the storage masses that a block template omits, although its merkle root commits to
 * them. They follow from the UTXOs that a transaction spends and creates (KIP-9), which are in the
 * index. While the index is behind, the mass is in the mempool of the node.
 */
import {
  type Outpoint,
  type ScriptType,
  storageMass,
  toHex,
  type Transaction,
  transactionId,
  type TransactionOutput,
} from '@kasgres/kaspa';
import { NodeRpcError } from '@kasgres/node';
import { badRequest, type Db, hasTransactionId, type HttpError, type Reading } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { NodeCaller } from '../../../node/node-calls.ts';
import type { Services } from '../../../services.ts';
import type { SubmittedTransaction } from './transaction.ts';

export const SPENDS_UNKNOWN = 'neither the transaction nor all UTXOs that it spends are known';

/** @throws HttpError 400 if a mass is absent and cannot be computed, or the error of the caller */
export async function completeStorageMasses(
  {
    index,
    node,
    toError = (position) =>
      badRequest({ path: `block.transactions.${position}.mass`, message: `is required: ${SPENDS_UNKNOWN}` }),
  }: { index: Services['index']; node: NodeCaller; toError?: (position: number) => HttpError },
  transactions: readonly SubmittedTransaction[],
  caller?: string,
): Promise<Transaction[]> {
  const outpoints = transactions
    .filter(({ storageMass }) => storageMass === undefined)
    .flatMap(({ inputs }) => inputs.map((input) => input.previousOutpoint));
  // During the first catch-up, an index for the look-up may be missing.
  const readUtxos = async ({ db, state }: Reading) => (state.firstCatchUp ? [] : await listUtxos(db, outpoints));
  const rows = outpoints.length === 0 ? [] : await index.read(readUtxos, caller);
  const utxos = new Map(
    rows.map((row) => [keyOf({ transactionId: row.transaction_id, index: row.index }), toOutput(row)]),
  );
  const complete: Transaction[] = [];
  // Sequential, so that a block of unknown transactions costs only one call of the node.
  for (const [position, transaction] of transactions.entries()) {
    const storageMass =
      transaction.storageMass ?? massFromUtxos(transaction, utxos) ?? (await findMassInMempool(node, transaction));
    if (storageMass === undefined) throw toError(position);
    complete.push({ ...transaction, storageMass });
  }
  return complete;
}

function massFromUtxos(
  { inputs, outputs }: SubmittedTransaction,
  utxos: ReadonlyMap<string, TransactionOutput>,
): bigint | undefined {
  const spent = inputs.flatMap(({ previousOutpoint }) => utxos.get(keyOf(previousOutpoint)) ?? []);
  if (spent.length < inputs.length) return undefined;
  // An output without an amount is invalid by consensus, and has no mass: the node rejects it.
  return outputs.some(({ amount }) => amount === 0n) ? 0n : storageMass(spent, outputs);
}

const keyOf = ({ transactionId, index }: Outpoint): string => `${toHex(transactionId)}:${index}`;

export interface UtxoRow {
  transaction_id: Buffer;
  index: number;
  amount: bigint;
  version: number;
  script: Buffer;
  address: string | null;
  type: ScriptType;
  covenant_id: Buffer | null;
}

/** Lists indexed outputs, and UTXOs of the latest bootstrap block. */
export async function listUtxos(db: Db, outpoints: readonly Outpoint[]): Promise<UtxoRow[]> {
  const from = (transactions: RawBuilder<unknown>, isSpent: RawBuilder<unknown>, outputs: RawBuilder<unknown>) => sql`
    select t.transaction_id, o.index::int as index, o.amount, s.version, s.script, s.address,
      s.type, o.covenant_id
    from unnest(
      ${outpoints.map((outpoint) => outpoint.transactionId)}::bytea[],
        ${outpoints.map((outpoint) => outpoint.index)}::bigint[]
    ) as spent (transaction_id, index)
    join ${transactions} t on ${isSpent}
    join ${outputs} o on o.transaction_id = t.id and o.index = spent.index
      and o.index >> 4 = spent.index >> 4
    join scripts s on s.id = o.script_id`;
  const { rows } = await sql<UtxoRow>`
    ${from(sql`transactions`, hasTransactionId('t', sql`spent.transaction_id`), sql`transaction_outputs`)}
    union all
    ${from(sql`pre_bootstrap_transactions`, sql`t.transaction_id = spent.transaction_id`, sql`bootstrap_utxos`)}`.execute(
    db,
  );
  return rows;
}

/** The mass depends on whether a spent UTXO has a covenant, and not on the authorizing input. */
const toOutput = (row: UtxoRow): TransactionOutput => ({
  amount: row.amount,
  scriptPublicKey: { version: row.version, script: row.script },
  covenant: row.covenant_id === null ? undefined : { authorizingInput: 0, covenantId: row.covenant_id },
});

async function findMassInMempool(node: NodeCaller, transaction: SubmittedTransaction): Promise<bigint | undefined> {
  const txId = toHex(transactionId({ ...transaction, storageMass: 0n }));
  try {
    const request = { txId, includeOrphanPool: false, filterTransactionPool: false };
    const { entry } = await node.call('getMempoolEntry', request);
    return entry?.transaction?.storageMass;
  } catch (error) {
    if (error instanceof NodeRpcError && error.kind === 'not-found') return undefined;
    throw error;
  }
}
