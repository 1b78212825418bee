/** A chain of any length with a fixed number of UTXOs and scripts, for measurements of what depends on the length of a history. */
import { digest, withDerived } from '@kasgres/devnet';
import { getNetwork, NATIVE_SUBNETWORK, type ScriptPublicKey } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { AddedChainBlock } from '../packages/indexer/src/chain-update.ts';
import { makeBlock, makeGenesis } from './request-chain/blocks.ts';

const TRANSACTIONS_PER_BLOCK = 500;
const BLOCK_MS = 1_000n;
const UTXOS_PER_SCRIPT = 2;

/** Each payment spends the oldest UTXO and pays it to the next script. */
export class RollingChain {
  readonly network = getNetwork('simnet');
  readonly genesis = makeGenesis(this.network);
  readonly #transactions: number;
  readonly #utxos: ({ transactionId: Uint8Array; index: number } | undefined)[];

  constructor(transactions: number, utxos: number) {
    this.#transactions = transactions;
    this.#utxos = Array.from({ length: utxos });
  }

  *chainBlocks(): Generator<AddedChainBlock> {
    let parent = this.genesis;
    for (let made = 0; made < this.#transactions; made += TRANSACTIONS_PER_BLOCK) {
      const block = this.#mine(parent, made);
      const ids = parent === this.genesis ? [] : parent.transactions.map(({ transactionId }) => transactionId);
      yield { block, mergeSet: [parent], acceptedTransactionIds: ids };
      parent = block;
    }
  }

  #mine(selectedParent: RpcBlock, made: number): RpcBlock {
    const { header } = selectedParent;
    return makeBlock({
      number: made,
      genesis: this.genesis,
      selectedParent,
      blues: [selectedParent],
      reds: [],
      blueWork: header.blueWork + 1n,
      bits: header.bits,
      timestamp: header.timestamp + BLOCK_MS,
      miner: { scriptPublicKey: scriptOf(0), extraData: `bench ${made}`, subsidy: 0 },
      rewards: [],
      payments: Array.from({ length: TRANSACTIONS_PER_BLOCK }, (_, index) => this.#pay(made + index)),
    });
  }

  /** The first payments have no inputs and create the UTXOs. */
  #pay(number: number): RpcTransaction {
    const index = number % this.#utxos.length;
    const previousOutpoint = this.#utxos[index];
    const input = { signatureScript: new Uint8Array(65), sequence: 0n, sigOpCount: 1, computeBudget: 0 };
    const scriptPublicKey = scriptOf((number * 7_919) % Math.ceil(this.#utxos.length / UTXOS_PER_SCRIPT));
    const payment = withDerived({
      version: 0,
      inputs: previousOutpoint === undefined ? [] : [{ previousOutpoint, ...input }],
      outputs: [{ amount: 100_000n, scriptPublicKey, covenant: undefined }],
      lockTime: BigInt(number),
      subnetworkId: NATIVE_SUBNETWORK,
      gas: 0n,
      payload: new Uint8Array(0),
      storageMass: 0n,
    });
    this.#utxos[index] = { transactionId: payment.transactionId, index: 0 };
    return payment;
  }
}

function scriptOf(owner: number): ScriptPublicKey {
  return { version: 0, script: Buffer.concat([Buffer.of(0x20), digest(['gap', owner]), Buffer.of(0xac)]) };
}
