/**
 * A node with a chain of the largest blocks that the protocol allows, for measurements of memory. Payloads are views of one pool of random bytes,
 * so that thousands of blocks fit.
 */
import { randomBytes } from 'node:crypto';
import { type BlockTemplate, Dag, type DagTransaction, NodeResponseError, type NodeState } from '@kasgres/devnet';
import {
  computeMass,
  genesisBlock,
  getNetwork,
  type Hash,
  type Header,
  headerHash,
  merkleRoot,
  toHex,
  type Transaction,
  transactionHash,
  transactionId,
  transientMass,
  ZERO_HASH,
} from '@kasgres/kaspa';

/** The content of the blocks: one payload, as many transactions as fit, or one transaction with as many outputs as fit. */
export const FILLINGS = ['payload', 'transactions', 'outputs'] as const;
export type Filling = (typeof FILLINGS)[number];

/** Mass limits of a block. */
const MAX_COMPUTE_MASS = 500_000n;
const MAX_TRANSIENT_MASS = 1_000_000n;
const BLOCK_MS = 100n;
/** The number of levels in a mainnet header. */
const LEVELS = 54;
const HASH_BYTES = 32;
const UTXOS = 10n ** 15n;
/** OP_TRUE, the shortest script, so that most outputs fit. */
const SCRIPT = { version: 0, script: Uint8Array.of(0x51) };
const NATIVE = new Uint8Array(20);
const COINBASE = Uint8Array.of(1, ...new Uint8Array(19));

/** Returns as many random bytes as a block holds, and one more for each block. */
function randomPool(blocks: number): Uint8Array {
  return randomBytes(Number(MAX_TRANSIENT_MASS / 4n) + blocks);
}

export class LargeChain implements NodeState {
  readonly network = getNetwork('simnet');
  readonly dag = new Dag();
  readonly serverVersion = '2.1.0';
  readonly isSynced = true;
  readonly isUtxoIndexed = true;
  readonly pruningPoint = toHex(this.network.genesisHash);
  readonly #pool: Uint8Array;
  readonly #filling: Filling;
  /** Transactions of a block without its coinbase. */
  readonly #lanes: number;
  readonly #parentsPerLevel: number;

  /** @param parentsPerLevel made-up parents on each of 54 levels, no two the same; 0: the direct parent alone */
  constructor(blocks: number, filling: Filling, parentsPerLevel = 0) {
    this.#filling = filling;
    this.#parentsPerLevel = parentsPerLevel;
    this.#pool = randomPool(blocks);
    this.#lanes = filling === 'transactions' ? mostThatFit((count) => Array.from({ length: count }, () => spend())) : 1;
    const { header, transactions } = genesisBlock(this.network);
    this.#add(this.network.genesisHash, header, transactions.map(derived));
    let last = { hash: this.network.genesisHash, transactions: this.dag.get(this.pruningPoint).transactions };
    for (let height = 1; height <= blocks; height += 1) last = this.#mine(height, header, last);
    this.#standAt(toHex(last.hash), BigInt(blocks));
  }

  #mine(height: number, genesis: Header, below: { hash: Hash; transactions: readonly DagTransaction[] }) {
    const transactions = [derived(this.#coinbase(height)), ...this.#payments(height, below.transactions)];
    const header: Header = {
      version: 2,
      parentsByLevel: [[below.hash], ...this.#levelsAbove(height)],
      hashMerkleRoot: merkleRoot(transactions.map(({ hash }) => hash)),
      acceptedIdMerkleRoot: ZERO_HASH,
      utxoCommitment: ZERO_HASH,
      timestamp: genesis.timestamp + BigInt(height) * BLOCK_MS,
      bits: genesis.bits,
      nonce: BigInt(height),
      daaScore: genesis.daaScore + BigInt(height),
      blueWork: BigInt(height),
      blueScore: BigInt(height),
      pruningPoint: this.network.genesisHash,
    };
    const hash = headerHash(header);
    this.#add(hash, header, transactions, below.hash);
    const accepted = below.transactions.map((_, index) => ({ blockHash: toHex(below.hash), index }));
    this.dag.setAcceptance(toHex(hash), accepted);
    return { hash, transactions };
  }

  /** Returns views of the pool, at a different offset for each block. */
  #levelsAbove(height: number): Hash[][] {
    if (this.#parentsPerLevel === 0) return [];
    return Array.from({ length: LEVELS - 1 }, (_level, level) =>
      Array.from({ length: this.#parentsPerLevel }, (_parent, parent) => {
        const start = height + (level * this.#parentsPerLevel + parent) * HASH_BYTES;
        return this.#pool.subarray(start, start + HASH_BYTES);
      }),
    );
  }

  #add(hash: Hash, header: Header, transactions: DagTransaction[], parent?: Hash): void {
    const mergeSetBlues = parent === undefined ? [] : [toHex(parent)];
    this.dag.add({
      hash: toHex(hash),
      header,
      selectedParentHash: mergeSetBlues[0],
      mergeSetBlues,
      mergeSetReds: [],
      transactions,
      difficulty: 1,
    });
  }

  /** The coinbase of the first block creates the UTXOs that all payments spend in turn. */
  #coinbase(height: number): Transaction {
    const payload = Buffer.alloc(8);
    payload.writeBigUInt64LE(BigInt(height));
    const outputs = height === 1 ? [UTXOS] : [];
    return transaction({ inputs: [], amounts: outputs, payload, subnetworkId: COINBASE });
  }

  #payments(height: number, below: readonly DagTransaction[]): DagTransaction[] {
    if (height === 1) return [];
    const [coinbase, ...others] = below;
    const utxo = UTXOS / BigInt(this.#lanes);
    if (height === 2) {
      return [
        derived(
          spend(
            coinbase?.transactionId,
            Array.from({ length: this.#lanes }, () => utxo),
          ),
        ),
      ];
    }
    return Array.from({ length: this.#lanes }, (_, lane) => {
      const previous = height === 3 ? others[0] : others[lane];
      return this.#payment(height, previous?.transactionId, height === 3 ? lane : 0, utxo);
    });
  }

  #payment(height: number, previous: Hash | undefined, index: number, utxo: bigint): DagTransaction {
    if (this.#filling === 'transactions') return derived(spend(previous, [utxo], index));
    if (this.#filling === 'payload') {
      const length = mostThatFit((bytes) => [spend(previous, [utxo], index, new Uint8Array(bytes))]);
      return derived(spend(previous, [utxo], index, this.#pool.subarray(height, height + length)));
    }
    const count = mostThatFit((outputs) => [
      spend(
        previous,
        Array.from({ length: outputs }, () => 1n),
      ),
    ]);
    const amounts = Array.from({ length: count }, (_, output) => (output === 0 ? utxo - BigInt(2 * count) : 1n));
    return derived(spend(previous, amounts, index, this.#pool.subarray(height, height + 8)));
  }

  #standAt(sink: string, score: bigint): void {
    this.dag.setVirtual({
      sink,
      parents: [sink],
      blueScore: score + 1n,
      daaScore: this.dag.get(sink).header.daaScore + 1n,
      pastMedianTime: this.dag.get(sink).header.timestamp,
      difficulty: 1,
    });
  }

  findMempoolEntry(): undefined {
    return undefined;
  }

  mempoolEntries(): [] {
    return [];
  }

  mempoolEntriesByScript() {
    return { sending: [], receiving: [] };
  }

  blockTemplate(): BlockTemplate {
    throw new NodeResponseError('this node does not mine');
  }

  submitBlock(): 'invalid' {
    return 'invalid';
  }

  submitTransaction(): Hash {
    throw new NodeResponseError('this node does not mine');
  }

  balance(): bigint {
    return 0n;
  }

  utxos(): [] {
    return [];
  }

  circulatingSompi(): bigint {
    return UTXOS;
  }

  onEvent(): () => void {
    return () => undefined;
  }
}

interface TransactionOptions {
  inputs: { transactionId: Hash; index: number }[];
  amounts: bigint[];
  payload: Uint8Array;
  subnetworkId: Uint8Array;
}

function transaction({ inputs, amounts, payload, subnetworkId }: TransactionOptions): Transaction {
  return {
    version: 0,
    inputs: inputs.map((previousOutpoint) => ({
      previousOutpoint,
      signatureScript: new Uint8Array(),
      sequence: 0n,
      sigOpCount: 0,
      computeBudget: 0,
    })),
    outputs: amounts.map((amount) => ({ amount, scriptPublicKey: SCRIPT, covenant: undefined })),
    lockTime: 0n,
    subnetworkId,
    gas: 0n,
    payload,
    storageMass: 0n,
  };
}

function spend(
  previous: Hash = ZERO_HASH,
  amounts = [UTXOS],
  index = 0,
  payload: Uint8Array = new Uint8Array(),
): Transaction {
  return transaction({ inputs: [{ transactionId: previous, index }], amounts, payload, subnetworkId: NATIVE });
}

/** Returns how many items a block can hold. */
function mostThatFit(make: (count: number) => Transaction[]): number {
  const [few, many] = [make(1), make(2)];
  const most = ([mass, limit]: [(transaction: Transaction) => bigint, bigint]): number => {
    const [base, more] = [few, many].map((all) => all.reduce((sum, one) => sum + mass(one), 0n)) as [bigint, bigint];
    return 1 + Number((limit - base) / (more - base));
  };
  return Math.min(most([computeMass, MAX_COMPUTE_MASS]), most([transientMass, MAX_TRANSIENT_MASS]));
}

function derived(bare: Transaction): DagTransaction {
  return {
    ...bare,
    transactionId: transactionId(bare),
    hash: transactionHash(bare),
    computeMass: computeMass(bare),
  };
}
