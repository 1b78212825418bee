/**
 * Transactions in the REST JSON of the API, computed from a node's blocks and chain alone, and
 * their acceptance.
 */
import type { Dag } from '@kasgres/devnet';
import { COINBASE_SUBNETWORK, toHex } from '@kasgres/kaspa';
import type { NodeClient, protocol } from '@kasgres/node';
import type { Pool } from 'pg';
import type { ApiClient } from '../api-client.ts';
import { chunks, type DagComparison, firstDifference, inParallel, type Json } from './comparison.ts';
import { type ChainBlock, type NodeDag, readDag } from './node-dag.ts';

/** A transaction in one of its blocks. */
interface Carried {
  block: protocol.Block;
  transaction: protocol.Transaction;
}

/** Returns the hash of the accepted variant of an id, if it is known. */
export type FindAcceptedHash = (transactionId: string) => string | undefined;

export const acceptedHashIn =
  (dag: Dag): FindAcceptedHash =>
  (transactionId) => {
    const accepted = dag.findAcceptingBlock(transactionId)?.accepted ?? [];
    const found = accepted.find(({ transaction }) => toHex(transaction.transactionId) === transactionId);
    return found && toHex(found.transaction.hash);
  };

export class NodeTransactions {
  readonly #dag: NodeDag;
  readonly #findAcceptedHash: FindAcceptedHash;
  readonly #carried: ReadonlyMap<string, readonly Carried[]>;
  /** By outpoint: the accepted transaction that spends it. */
  readonly #spenders = new Map<string, string>();
  /** By outpoint: transactions that spend it, accepted or not. */
  readonly #claims = new Map<string, string[]>();

  constructor(dag: NodeDag, findAcceptedHash: FindAcceptedHash) {
    this.#dag = dag;
    this.#findAcceptedHash = findAcceptedHash;
    const carried = [...dag.blocks.values()].flatMap((block) =>
      block.transactions.map((transaction) => ({ block, transaction })),
    );
    this.#carried = Map.groupBy(carried, ({ transaction }) => transaction.verboseData?.transactionId ?? '');
    for (const [id, [first]] of this.#carried) {
      for (const { previousOutpoint } of first?.transaction.inputs ?? []) {
        const outpoint = nameOf(previousOutpoint);
        this.#claims.set(outpoint, [...(this.#claims.get(outpoint) ?? []), id]);
        if (dag.acceptedBy.has(id)) this.#spenders.set(outpoint, id);
      }
    }
  }

  get ids(): string[] {
    return [...this.#carried.keys()];
  }

  isAccepted(transactionId: string): boolean {
    return this.#dag.acceptedBy.has(transactionId);
  }

  /**
   * Returns every address that the transaction pays or spends from, whether or not the spent UTXO
   * exists.
   */
  addressesOf(transactionId: string): Set<string> {
    const { inputs = [], outputs = [] } = this.#carriedOf(transactionId)[0]?.transaction ?? {};
    const utxos = inputs.flatMap(({ previousOutpoint }) => this.#findUtxo(previousOutpoint) ?? []);
    return new Set([...utxos, ...outputs].flatMap(({ verboseData }) => verboseData?.scriptPublicKeyAddress ?? []));
  }

  /** The accepted spender, or any of the others, of which `shown` is one. */
  #expectedSpender(outpoint: string, shown: string | null | undefined): string | null {
    const accepted = this.#spenders.get(outpoint);
    if (accepted !== undefined) return accepted;
    const claims = this.#claims.get(outpoint) ?? [];
    return claims.find((id) => id === shown) ?? claims[0] ?? null;
  }

  /**
   * Those from which the transaction was accepted, then those merged first. Returns them by time.
   */
  #expectedBlocks(blocks: readonly Carried[], accepting: ChainBlock | undefined): string[] {
    const placeOf = ({ block }: Carried): number => {
      const merging = this.#dag.mergedBy.get(hashOf(block));
      if (merging === undefined) return Infinity;
      return merging === accepting ? -1 : Number(merging.header.blueScore);
    };
    const first = blocks
      .map((each) => ({ each, place: placeOf(each) }))
      .toSorted((a, b) => (a.place === b.place ? 0 : a.place - b.place));
    const listed = new Set(first.slice(0, MAX_BLOCK_HASHES).map(({ each }) => each));
    return blocks.filter((block) => listed.has(block)).map(({ block }) => hashOf(block));
  }

  /**
   * Returns the JSON with the payload; undefined if the variant with this hash must not be shown.
   * @param shown the response
   */
  expected(transactionId: string, { hash, outputs = [] }: ShownTransaction): Json | undefined {
    const accepting = this.#dag.acceptedBy.get(transactionId);
    const blocks = this.#carriedOf(transactionId).toSorted(byTimeAndHash);
    const merged = blocks.filter(({ block }) => accepting && this.#dag.mergedBy.get(hashOf(block)) === accepting);
    const acceptedHash = accepting && this.#findAcceptedHash(transactionId);
    const variant = (acceptedHash === undefined ? blocks : merged).find(
      ({ transaction }) => transaction.verboseData?.hash === (acceptedHash ?? hash),
    )?.transaction;
    if (variant?.verboseData === undefined) return undefined;
    return {
      transactionId,
      version: variant.version,
      blockTime: Number((merged[0] ?? blocks[0])?.block.header?.timestamp),
      subnetworkId: variant.subnetworkId,
      hash: variant.verboseData.hash,
      mass: String(variant.storageMass),
      computeMass: String(variant.verboseData.computeMass),
      fee: this.#expectedFee(transactionId, variant),
      lockTime: String(variant.lockTime),
      gas: String(variant.gas),
      payload: variant.payload === '' ? '' : `0x${variant.payload}`,
      blockHashes: this.#expectedBlocks(blocks, accepting),
      blockCount: blocks.length,
      ...this.#expectedAcceptance(accepting),
      inputs: variant.inputs.map((input, index) => this.#expectedInput(transactionId, variant.version, input, index)),
      outputs: variant.outputs.map((output, index) => ({
        transactionId,
        index,
        ...expectedUtxo(output),
        ...(output.covenant && {
          covenant: { authorizingInput: output.covenant.authorizingInput, covenantId: output.covenant.covenantId },
        }),
        spentBy: this.#expectedSpender(nameOf({ transactionId, index }), outputs[index]?.spentBy),
        isSpent: this.#spenders.has(nameOf({ transactionId, index })),
      })),
    };
  }

  #expectedAcceptance(accepting: ChainBlock | undefined): Json {
    return {
      isAccepted: accepting !== undefined,
      acceptingBlockHash: accepting?.hash ?? null,
      acceptingBlockBlueScore: accepting === undefined ? null : String(accepting.header.blueScore),
      confirmations: accepting === undefined ? 0 : Number(this.#dag.sink.header.blueScore - accepting.header.blueScore),
    };
  }

  #expectedInput(transactionId: string, version: number, input: protocol.TransactionInput, index: number): Json {
    const { previousOutpoint } = input;
    const utxo = this.#findExistingUtxo(transactionId, previousOutpoint);
    return {
      transactionId,
      index,
      signatureScript: input.signatureScript,
      sequence: String(input.sequence),
      sigOpCount: input.sigOpCount,
      ...(version >= 1 && { computeBudget: input.computeBudget }),
      previousOutput: {
        transactionId: previousOutpoint?.transactionId,
        index: previousOutpoint?.index,
        ...(utxo === undefined ? NO_UTXO : expectedUtxo(utxo)),
      },
    };
  }

  #expectedFee(transactionId: string, { inputs, outputs, subnetworkId }: protocol.Transaction): string | null {
    if (subnetworkId === toHex(COINBASE_SUBNETWORK)) return '0';
    let fee = 0n;
    for (const { previousOutpoint } of inputs) {
      const utxo = this.#findExistingUtxo(transactionId, previousOutpoint);
      if (utxo === undefined) return null;
      fee += utxo.amount;
    }
    for (const { amount } of outputs) fee -= amount;
    return fee < 0n ? null : String(fee);
  }

  /**
   * A UTXO exists if its transaction is accepted. Throws Error if an accepted transaction spends
   * one that does not.
   */
  #findExistingUtxo(spender: string, outpoint: protocol.Outpoint | undefined): protocol.TransactionOutput | undefined {
    const exists = this.isAccepted(outpoint?.transactionId ?? '');
    if (!exists && this.isAccepted(spender))
      throw new Error(`accepted transaction ${spender} spends ${nameOf(outpoint)}, which is not accepted`);
    return exists ? this.#findUtxo(outpoint) : undefined;
  }

  #findUtxo(outpoint: protocol.Outpoint | undefined): protocol.TransactionOutput | undefined {
    return this.#carriedOf(outpoint?.transactionId ?? '')[0]?.transaction.outputs[outpoint?.index ?? 0];
  }

  #carriedOf(transactionId: string): readonly Carried[] {
    return this.#carried.get(transactionId) ?? [];
  }
}

/** The parts of a response that may have one of several right values. */
interface ShownTransaction {
  hash?: unknown;
  outputs?: { spentBy?: string | null }[];
}

const MAX_BLOCK_HASHES = 16;

const NO_UTXO = { amount: null, scriptPublicKey: null, scriptPublicKeyAddress: null, scriptPublicKeyType: null };

function expectedUtxo({ amount, scriptPublicKey, verboseData }: protocol.TransactionOutput): Json {
  return {
    amount: String(amount),
    scriptPublicKey: scriptPublicKey?.scriptPublicKey,
    scriptPublicKeyAddress: verboseData?.scriptPublicKeyAddress ?? null,
    scriptPublicKeyType: verboseData?.scriptPublicKeyType ?? 'nonstandard',
  };
}

const hashOf = ({ verboseData }: protocol.Block): string => verboseData?.hash ?? '';

const nameOf = (outpoint: { transactionId: string; index: number } | undefined): string =>
  `${outpoint?.transactionId}:${outpoint?.index}`;

function byTimeAndHash({ block: a }: Carried, { block: b }: Carried): number {
  const difference = Number((a.header?.timestamp ?? 0n) - (b.header?.timestamp ?? 0n));
  return difference === 0 ? (hashOf(a) < hashOf(b) ? -1 : 1) : difference;
}

/**
 * Reads the node's transactions, also of blocks that only an index still knows: after a
 * reorganisation no block merges them, and getBlocks leaves them out.
 */
export async function readTransactions(
  node: NodeClient,
  pool: Pool,
  findAcceptedHash: FindAcceptedHash,
): Promise<NodeTransactions> {
  const dag = await readDag(node);
  const { rows } = await pool.query<{ hash: string }>(`select encode(hash, 'hex') as hash from blocks`);
  await inParallel(
    rows.filter(({ hash }) => !dag.blocks.has(hash)),
    async ({ hash }) => {
      const { block } = await node.call('getBlock', { hash, includeTransactions: true });
      if (block !== undefined) dag.blocks.set(hash, block);
    },
  );
  // The node cannot always tell which variant of an id it accepted (docs/architecture.md).
  const { rows: told } = await pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions where accepted_variant is not null`,
  );
  const toldIds = new Set(told.map(({ id }) => id));
  return new NodeTransactions(dag, (id) => (toldIds.has(id) ? findAcceptedHash(id) : undefined));
}

const MAX_IDS = 500;
const UNKNOWN_ID = 'ab'.repeat(32);

/** Compares the look-up of every transaction. */
export async function compareTransactions(api: ApiClient, transactions: NodeTransactions): Promise<string[]> {
  const faults: string[] = [];
  await inParallel(chunks(transactions.ids, MAX_IDS), async (transactionIds) => {
    const { status, json } = await api.post('/v1/transactions', { transactionIds, includePayload: true });
    const shown = (json['transactions'] ?? []) as Json[];
    if (status !== 200 || shown.length !== transactionIds.length)
      faults.push(`${shown.length} of ${transactionIds.length} transactions with status ${status}`);
    for (const [index, id] of transactionIds.entries()) {
      const difference = differenceOf(transactions, id, shown[index]);
      if (difference !== undefined) faults.push(`transaction ${id}: ${difference}`);
    }
  });
  return faults;
}

/** Describes the first difference of a transaction that is shown with its payload. */
export function differenceOf(transactions: NodeTransactions, id: string, shown: unknown): string | undefined {
  const expected = transactions.expected(id, shown ?? {});
  if (expected === undefined) return 'none of its variants is shown';
  return firstDifference(expected, shown);
}

/** Compares the acceptance of every transaction, and of an unknown one. */
export async function compareAcceptance({ api, dag }: Omit<DagComparison, 'node'>): Promise<string[]> {
  const faults: string[] = [];
  await inParallel(chunks([UNKNOWN_ID, ...dag.transactionIds.toSorted()], MAX_IDS), async (transactionIds) => {
    const transactions = transactionIds.map((transactionId) => {
      const accepting = dag.acceptedBy.get(transactionId);
      return {
        transactionId,
        isAccepted: accepting !== undefined,
        acceptingBlockHash: accepting?.hash ?? null,
        confirmations: accepting === undefined ? 0 : Number(dag.sink.header.blueScore - accepting.header.blueScore),
      };
    });
    const { status, json } = await api.post('/v1/transactions/acceptance', { transactionIds });
    const difference = firstDifference({ status: 200, json: { transactions } }, { status, json });
    if (difference !== undefined) faults.push(`acceptance: ${difference}`);
  });
  return faults;
}
