/**
 * Transactions as the look-ups and listings of the API must show them, worked out from what a node says of its blocks and its chain:
 * written from API.md alone, without a look at the database.
 */
import type { Dag } from '@kasgres/devnet';
import { COINBASE_SUBNETWORK, toHex } from '@kasgres/kaspa';
import type { NodeClient, protocol } from '@kasgres/node';
import type { Pool } from 'pg';
import type { ApiClient } from '../api-client.ts';
import { firstDifference } from './first-difference.ts';
import { chunks, inParallel } from './in-parallel.ts';
import { type ChainBlock, type NodeDag, readDag } from './node-dag.ts';

export type Json = Record<string, unknown>;

/** A transaction where it stands in a block. */
interface Carried {
  block: protocol.Block;
  transaction: protocol.Transaction;
}

/** The hash of the body that was accepted of an id, where that is known. */
export type FindAcceptedHash = (transactionId: string) => string | undefined;

/** As a DAG in memory has it. */
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
  /** By block: the chain block that merges it. */
  readonly #merging = new Map<string, string>();

  constructor(dag: NodeDag, findAcceptedHash: FindAcceptedHash) {
    this.#dag = dag;
    this.#findAcceptedHash = findAcceptedHash;
    const carried = [...dag.blocks.values()].flatMap((block) =>
      block.transactions.map((transaction) => ({ block, transaction })),
    );
    this.#carried = Map.groupBy(carried, ({ transaction }) => transaction.verboseData?.transactionId ?? '');
    for (const [id, [first]] of this.#carried) {
      if (!dag.acceptedBy.has(id)) continue;
      for (const { previousOutpoint } of first?.transaction.inputs ?? [])
        this.#spenders.set(nameOf(previousOutpoint), id);
    }
    for (const { hash } of dag.chain) {
      const { mergeSetBluesHashes = [], mergeSetRedsHashes = [] } = dag.blocks.get(hash)?.verboseData ?? {};
      for (const merged of [...mergeSetBluesHashes, ...mergeSetRedsHashes]) this.#merging.set(merged, hash);
    }
  }

  get ids(): string[] {
    return [...this.#carried.keys()];
  }

  isAccepted(transactionId: string): boolean {
    return this.#dag.acceptedBy.has(transactionId);
  }

  /** Every address that the transaction pays or names a UTXO of, whether or not that UTXO exists. */
  addressesOf(transactionId: string): Set<string> {
    const { inputs = [], outputs = [] } = this.#carriedOf(transactionId)[0]?.transaction ?? {};
    const utxos = inputs.flatMap(({ previousOutpoint }) => this.#findUtxo(previousOutpoint) ?? []);
    return new Set([...utxos, ...outputs].flatMap(({ verboseData }) => verboseData?.scriptPublicKeyAddress ?? []));
  }

  /** With its payload. @param hash of the body that is shown; undefined in return when it is none that may be shown */
  expected(transactionId: string, hash: unknown): Json | undefined {
    const accepting = this.#dag.acceptedBy.get(transactionId);
    const blocks = this.#carriedOf(transactionId).toSorted(byTimeAndHash);
    const merged = blocks.filter(({ block }) => accepting && this.#merging.get(hashOf(block)) === accepting.hash);
    const acceptedHash = accepting && this.#findAcceptedHash(transactionId);
    const body = (acceptedHash === undefined ? blocks : merged).find(
      ({ transaction }) => transaction.verboseData?.hash === (acceptedHash ?? hash),
    )?.transaction;
    if (body?.verboseData === undefined) return undefined;
    return {
      transactionId,
      version: body.version,
      blockTime: Number((merged[0] ?? blocks[0])?.block.header?.timestamp),
      subnetworkId: body.subnetworkId,
      hash: body.verboseData.hash,
      mass: String(body.storageMass),
      computeMass: String(body.verboseData.computeMass),
      fee: this.#expectedFee(transactionId, body),
      lockTime: String(body.lockTime),
      gas: String(body.gas),
      payload: body.payload === '' ? '' : `0x${body.payload}`,
      blockHashes: blocks.map(({ block }) => hashOf(block)),
      ...this.#expectedAcceptance(accepting),
      inputs: body.inputs.map((input, index) => this.#expectedInput(transactionId, body.version, input, index)),
      outputs: body.outputs.map((output, index) => ({
        transactionId,
        index,
        ...expectedUtxo(output),
        ...(output.covenant && {
          covenant: { authorizingInput: output.covenant.authorizingInput, covenantId: output.covenant.covenantId },
        }),
        spentBy: this.#spenders.get(nameOf({ transactionId, index })) ?? null,
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
    return String(fee);
  }

  /** A UTXO exists when the transaction that makes it is accepted; what is accepted itself spends none that does not. */
  #findExistingUtxo(spender: string, outpoint: protocol.Outpoint | undefined): protocol.TransactionOutput | undefined {
    const exists = this.isAccepted(outpoint?.transactionId ?? '');
    if (!exists && this.isAccepted(spender))
      throw new Error(`${spender} is accepted, the UTXO ${nameOf(outpoint)} not`);
    return exists ? this.#findUtxo(outpoint) : undefined;
  }

  #findUtxo(outpoint: protocol.Outpoint | undefined): protocol.TransactionOutput | undefined {
    return this.#carriedOf(outpoint?.transactionId ?? '')[0]?.transaction.outputs[outpoint?.index ?? 0];
  }

  #carriedOf(transactionId: string): readonly Carried[] {
    return this.#carried.get(transactionId) ?? [];
  }
}

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
 * The node's transactions, with the blocks that only an index may still know: after a reorganisation nobody merges them, and getBlocks
 * leaves them out.
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
  const tells = await listToldBodies(pool);
  return new NodeTransactions(dag, (id) => (tells.has(id) ? findAcceptedHash(id) : undefined));
}

/** Of some accepted ids with several bodies the node cannot say which one it accepted (docs/architecture.md). */
async function listToldBodies(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions where accepted_body is not null`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** As many ids as a request may have. */
const IDS_AT_ONCE = 500;

/** Every transaction, asked for by id. */
export async function compareTransactions(api: ApiClient, transactions: NodeTransactions): Promise<string[]> {
  const wrong: string[] = [];
  await inParallel(chunks(transactions.ids, IDS_AT_ONCE), async (transactionIds) => {
    const { status, body } = await api.post('/v1/transactions', { transactionIds, includePayload: true });
    const shown = body['transactions'];
    if (status !== 200 || !Array.isArray(shown) || shown.length !== transactionIds.length) {
      wrong.push(
        `asked for ${transactionIds.length} transactions: status ${status}, ${JSON.stringify(body).slice(0, 300)}`,
      );
      return;
    }
    for (const [place, id] of transactionIds.entries()) {
      const difference = differenceOf(transactions, id, shown[place]);
      if (difference !== undefined) wrong.push(`transaction ${id}: ${difference}`);
    }
  });
  return wrong;
}

/** What is wrong with a transaction as it is shown with its payload. */
export function differenceOf(transactions: NodeTransactions, id: string, shown: unknown): string | undefined {
  const expected = transactions.expected(id, (shown as Json | undefined)?.['hash']);
  if (expected === undefined) return 'this is none of its bodies';
  return firstDifference(expected, shown);
}
