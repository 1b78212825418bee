/** A simulated node without mempool and mining, whose DAG a benchmark makes. */
import {
  Dag,
  type DagTransaction,
  digest,
  NodeResponseError,
  type NodeState,
  payToKey,
  type Random,
  withDerived,
} from '@kasgres/devnet';
import { getNetwork, type Hash, type Header, headerHash, toHex, workFromBits } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { makeBlock, makeGenesis, type Reward } from './request-chain/blocks.ts';

export const network = getNetwork('simnet');
export const BEGINS_AT = Date.UTC(2026, 6, 1);

interface MinedBlock {
  /** Sompi. */
  subsidy: number;
  rewards: readonly Reward[];
  payments: readonly DagTransaction[];
}

/** A DAG of one chain without parallel blocks, and the node that serves it. */
export class StaticNode {
  readonly dag = new Dag();
  readonly miner = payToKey(digest(['miner']));
  /** The number of blocks above the first one, which stands for their DAA score. */
  blocks = 0;
  readonly #first: RpcBlock;
  readonly #blockMs: number;
  #tip: RpcBlock;

  /** @param changes to the header of simnet's genesis, which make another first block of it */
  constructor(blockMs = 1_000, changes: Partial<Header> = {}) {
    const genesis = makeGenesis(network);
    const header = { ...genesis.header, ...changes };
    this.#first = { ...genesis, header, hash: headerHash(header), blueScore: header.blueScore };
    this.#tip = this.#first;
    this.#blockMs = blockMs;
    this.#add(this.#first, undefined, genesis.transactions.map(withDerived));
  }

  get firstHash(): Hash {
    return this.#first.hash;
  }

  /** Adds a block, which accepts the transactions of the latest one. Returns its coinbase. */
  mine({ subsidy, rewards, payments }: MinedBlock): DagTransaction {
    const parent = this.#tip;
    const { bits, blueWork } = parent.header;
    this.blocks += 1;
    this.#tip = makeBlock({
      number: this.blocks,
      genesis: this.#first,
      selectedParent: parent,
      blues: [parent],
      reds: [],
      blueWork: blueWork + workFromBits(bits),
      bits,
      timestamp: BigInt(BEGINS_AT + this.blocks * this.#blockMs),
      miner: { scriptPublicKey: this.miner, extraData: '2.1.0/', subsidy },
      rewards,
      payments,
    });
    const coinbase = withDerived(this.#tip.transactions[0] as RpcTransaction);
    this.#add(this.#tip, toHex(parent.hash), [coinbase, ...payments]);
    return coinbase;
  }

  #add(block: RpcBlock, parent: string | undefined, transactions: DagTransaction[]): void {
    const [hash, mergeSetBlues] = [toHex(block.hash), parent === undefined ? [] : [parent]];
    const { header } = block;
    this.dag.add({
      hash,
      header,
      selectedParentHash: parent,
      mergeSetBlues,
      mergeSetReds: [],
      transactions,
      difficulty: 1,
    });
    const accepted = mergeSetBlues.flatMap((blockHash) =>
      this.dag.get(blockHash).transactions.map((_, index) => ({ blockHash, index })),
    );
    this.dag.setAcceptance(hash, accepted);
  }

  /** Returns the node with the latest block as its sink, and the first as its pruning point. */
  state(): NodeState {
    const { blueScore, daaScore, timestamp } = this.#tip.header;
    const sink = toHex(this.#tip.hash);
    this.dag.setVirtual({
      sink,
      parents: [sink],
      blueScore: blueScore + 1n,
      daaScore: daaScore + 1n,
      pastMedianTime: timestamp,
      difficulty: 1,
    });
    return {
      network,
      dag: this.dag,
      serverVersion: '2.1.0',
      isSynced: true,
      pruningPoint: toHex(this.#first.hash),
      isUtxoIndexed: true,
      findMempoolEntry: () => undefined,
      mempoolEntries: () => [],
      mempoolEntriesByScript: () => ({ sending: [], receiving: [] }),
      blockTemplate: refuse,
      submitBlock: () => 'invalid',
      submitTransaction: refuse,
      balance: () => 0n,
      utxos: () => [],
      circulatingSompi: () => 0n,
      onEvent: () => () => undefined,
    };
  }
}

function refuse(): never {
  throw new NodeResponseError('this node does not mine');
}

/** Removes one of the values, whose order changes. */
export function takeAny<Value>(values: Value[], random: Random): Value | undefined {
  const index = random.below(values.length);
  const [taken, last] = [values[index], values.pop()];
  if (index < values.length && last !== undefined) values[index] = last;
  return taken;
}
