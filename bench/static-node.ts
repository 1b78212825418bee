/** The state of a simulated node without mempool and mining, whose DAG a benchmark has made. */
import {
  Dag,
  type DagBlock,
  type DagTransaction,
  NodeResponseError,
  type NodeState,
  withDerived,
} from '@kasgres/devnet';
import {
  genesisBlock,
  getNetwork,
  type Header,
  headerHash,
  type ScriptPublicKey,
  toHex,
  workFromBits,
} from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import { type BlockOptions, makeBlock } from './request-chain/blocks.ts';

export const network = getNetwork('simnet');

interface MinedBlock extends Pick<BlockOptions, 'number' | 'genesis' | 'timestamp' | 'rewards'> {
  miner: ScriptPublicKey;
  /** Sompi. */
  subsidy: number;
  payments: readonly DagTransaction[];
}

/** A DAG of one chain without parallel blocks, and the node that serves it. */
export class StaticNode {
  readonly dag = new Dag();
  readonly genesis: Header;
  /** The latest block. */
  tip: DagBlock;

  /** @param changes to the header of simnet's genesis */
  constructor(changes: Partial<Header> = {}) {
    const { header, transactions } = genesisBlock(network);
    this.genesis = { ...header, ...changes };
    this.tip = this.add(this.genesis, transactions.map(withDerived));
    this.dag.setAcceptance(this.tip.hash, []);
  }

  /** Adds a block above the tip, which accepts the transactions of the tip. */
  add(header: Header, transactions: DagTransaction[]): DagBlock {
    const [parent] = header.parentsByLevel[0] ?? [];
    const selectedParentHash = parent && toHex(parent);
    const hash = toHex(headerHash(header));
    const mergeSetBlues = selectedParentHash === undefined ? [] : [selectedParentHash];
    this.dag.add({ hash, header, selectedParentHash, mergeSetBlues, mergeSetReds: [], transactions, difficulty: 1 });
    if (selectedParentHash !== undefined) {
      const accepted = this.tip.transactions.map((_, index) => ({ blockHash: selectedParentHash, index }));
      this.dag.setAcceptance(hash, accepted);
    }
    this.tip = this.dag.get(hash);
    return this.tip;
  }

  /** Makes a block above `parent`, which is the tip, and adds it. Returns its coinbase, too. */
  mine(
    parent: RpcBlock,
    { miner, subsidy, payments, ...options }: MinedBlock,
  ): { block: RpcBlock; coinbase: DagTransaction } {
    const { bits, blueWork } = parent.header;
    const block = makeBlock({
      ...options,
      selectedParent: parent,
      blues: [parent],
      reds: [],
      blueWork: blueWork + workFromBits(bits),
      bits,
      miner: { scriptPublicKey: miner, extraData: '2.1.0/', subsidy },
      payments,
    });
    const coinbase = withDerived(block.transactions[0] as RpcBlock['transactions'][number]);
    this.add(block.header, [coinbase, ...payments]);
    return { block, coinbase };
  }

  /** Returns the node with the tip as its sink. */
  state(pruningPoint: string): NodeState {
    const { hash, header } = this.tip;
    const { blueScore, daaScore, timestamp } = header;
    this.dag.setVirtual({
      sink: hash,
      parents: [hash],
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
      pruningPoint,
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
