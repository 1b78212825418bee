/**
 * Computes the history of a simulated network from its DAG, without the database, as the oracle of
 * views and cookbook.
 */
import type { DagBlock, DagTransaction, SimulatedNode } from '@kasgres/devnet';
import { isCoinbase, type ScriptPublicKey, scriptToAddress, toHex } from '@kasgres/kaspa';
import { scriptKey } from '../support/oracle.ts';

export interface ChainBlock {
  index: number;
  block: DagBlock;
  /** Unix milliseconds of its header. */
  time: number;
  /** The latest time of the chain up to this block. */
  chainTime: number;
  accepted: Transaction[];
}

export interface Utxo {
  transactionId: string;
  index: number;
  /** Identifies the owner, with or without an address. */
  script: string;
  address: string | undefined;
  scriptPublicKey: ScriptPublicKey;
  covenantId: string | undefined;
  amount: bigint;
}

export interface Transaction {
  id: string;
  isCoinbase: boolean;
  body: DagTransaction;
  /** Spent UTXOs. An input of an unaccepted transaction may be unknown. */
  inputs: (Utxo | undefined)[];
  outputs: Utxo[];
  blocks: DagBlock[];
  acceptedBy: ChainBlock | undefined;
  /** Sompi. */
  fee: bigint;
}

export interface History {
  chain: ChainBlock[];
  sink: ChainBlock;
  /** Indexed blocks: merged ones, the sink, and those that the next block would merge. */
  blocks: DagBlock[];
  /** Transactions of these blocks by id. */
  transactions: Map<string, Transaction>;
  /** The accepted spender by `outpoint`. */
  spentBy: Map<string, Transaction>;
  /** Unspent outputs of accepted transactions. */
  utxos: (Utxo & { acceptedBy: ChainBlock })[];
}

export function readHistory({ dag, network }: SimulatedNode): History {
  const blocks = [...dag.allBlocks()].filter(
    (block) =>
      block.mergingBlock !== undefined ||
      block === dag.sink ||
      dag.virtual.parents.includes(block) ||
      block.children.length === 0,
  );
  const transactions = new Map<string, Transaction>();
  const utxosOf = (id: string, { outputs }: DagTransaction): Utxo[] =>
    outputs.map(({ amount, scriptPublicKey, covenant }, index) => ({
      transactionId: id,
      index,
      script: scriptKey(scriptPublicKey),
      address: scriptToAddress(scriptPublicKey, network.addressPrefix),
      scriptPublicKey,
      covenantId: covenant && toHex(covenant.covenantId),
      amount,
    }));
  for (const block of blocks) {
    for (const body of block.transactions) {
      const id = toHex(body.transactionId);
      const transaction = transactions.get(id) ?? {
        id,
        isCoinbase: isCoinbase(body),
        body,
        inputs: [],
        outputs: utxosOf(id, body),
        blocks: [],
        acceptedBy: undefined,
        fee: 0n,
      };
      transaction.blocks.push(block);
      transactions.set(id, transaction);
    }
  }
  for (const transaction of transactions.values()) {
    transaction.inputs = transaction.body.inputs.map(({ previousOutpoint }) => {
      const id = toHex(previousOutpoint.transactionId);
      return transactions.get(id)?.outputs[previousOutpoint.index];
    });
  }

  const spentBy: History['spentBy'] = new Map();
  let chainTime = 0;
  const chain = dag.chainBlocks.map((block, index): ChainBlock => {
    const time = Number(block.header.timestamp);
    chainTime = Math.max(chainTime, time);
    const accepted = (block.accepted ?? []).map(({ transaction }) =>
      known(transactions.get(toHex(transaction.transactionId))),
    );
    const chainBlock = { index, block, time, chainTime, accepted };
    for (const transaction of accepted) {
      transaction.acceptedBy = chainBlock;
      for (const utxo of transaction.inputs) spentBy.set(outpoint(known(utxo)), transaction);
      if (!transaction.isCoinbase) transaction.fee = sumOf(transaction.inputs.map(known)) - sumOf(transaction.outputs);
    }
    return chainBlock;
  });
  const utxos = chain.flatMap((acceptedBy) =>
    acceptedBy.accepted.flatMap(({ outputs }) =>
      outputs.filter((utxo) => !spentBy.has(outpoint(utxo))).map((utxo) => ({ ...utxo, acceptedBy })),
    ),
  );
  return { chain, sink: known(chain.at(-1)), blocks, transactions, spentBy, utxos };
}

export function outpoint({ transactionId, index }: Pick<Utxo, 'transactionId' | 'index'>): string {
  return `${transactionId}:${index}`;
}

export const sumOf = (utxos: readonly Pick<Utxo, 'amount'>[]): bigint =>
  utxos.reduce((sum, { amount }) => sum + amount, 0n);

export function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the demo network lacks an expected item');
  return value;
}
