/** Computes the history of a simulated network from its DAG, without the database, as the oracle of views and cookbook. */
import { isCoinbase, type ScriptPublicKey, scriptToAddress, SOMPI_PER_KAS, toHex } from '@kasgres/kaspa';
import type { DagBlock, DagTransaction, SimulatedNode } from '@kasgres/devnet';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

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
  hasCovenant: boolean;
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
  const blocks = [...dag.allBlocks()].filter((block) => block.mergingBlock !== undefined || !isBehind(block));
  const transactions = new Map<string, Transaction>();
  const utxosOf = (id: string, { outputs }: DagTransaction): Utxo[] =>
    outputs.map(({ amount, scriptPublicKey, covenant }, index) => ({
      transactionId: id,
      index,
      script: keyOf(scriptPublicKey),
      address: scriptToAddress(scriptPublicKey, network.addressPrefix),
      scriptPublicKey,
      hasCovenant: covenant !== undefined,
      amount,
    }));
  for (const block of blocks) {
    for (const body of block.transactions) {
      const id = toHex(body.transactionId);
      const known = transactions.get(id);
      if (known === undefined) {
        const outputs = utxosOf(id, body);
        const inputs: Utxo[] = [];
        transactions.set(id, {
          id,
          isCoinbase: isCoinbase(body),
          body,
          inputs,
          outputs,
          blocks: [block],
          acceptedBy: undefined,
          fee: 0n,
        });
      } else known.blocks.push(block);
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
      getKnown(transactions, toHex(transaction.transactionId)),
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

  /** Returns whether no later block can merge it. */
  function isBehind(block: DagBlock): boolean {
    return block !== dag.sink && !dag.virtual.parents.includes(block) && block.children.length > 0;
  }
}

export function outpoint({ transactionId, index }: Pick<Utxo, 'transactionId' | 'index'>): string {
  return `${transactionId}:${index}`;
}

export const sumOf = (utxos: readonly Pick<Utxo, 'amount'>[]): bigint =>
  utxos.reduce((sum, { amount }) => sum + amount, 0n);

/** Converts sompi to KAS with the precision of a double. */
export const toKas = (sompi: bigint): number => Number(sompi) / Number(SOMPI_PER_KAS);

/** Returns transactions other than coinbases that the latest chain blocks accepted. */
export function recentPayments({ chain }: History, chainBlocks: number): Transaction[] {
  return chain.slice(-chainBlocks).flatMap(({ accepted }) => accepted.filter((transaction) => !transaction.isCoinbase));
}

/** Returns a percentile as percentile_disc of Postgres does. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return known(sorted[Math.max(Math.ceil(part * sorted.length) - 1, 0)]);
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns a share of a whole in percent. */
export const percentOf = (share: number | bigint, whole: number | bigint): number =>
  (100 * Number(share)) / Number(whole);

export function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the demo network lacks an expected item');
  return value;
}

function getKnown<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  return known(map.get(key));
}

function keyOf({ version, script }: ScriptPublicKey): string {
  return `${version}:${toHex(script)}`;
}
