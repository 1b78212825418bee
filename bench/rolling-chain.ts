/** A chain of any length whose UTXOs and scripts are as many as wanted: what depends on the length of a history is measured with it. */
import { getNetwork, type Header, headerHash, merkleRoot, type ScriptPublicKey } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { digest } from '../packages/devnet/src/economy/random.ts';
import type { AddedChainBlock } from '../packages/indexer/src/chain-update.ts';
import { makeGenesis } from './request-chain/chain.ts';
import { makeCoinbase, named } from './request-chain/transactions.ts';

const TRANSACTIONS_A_BLOCK = 500;
const BLOCK_MS = 1_000n;
const UTXOS_A_SCRIPT = 2;

/** Payments that pass on the same UTXOs in turn, each to the next of as many scripts: UTXOs and scripts do not grow with its length. */
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
    let below = this.genesis;
    for (let made = 0, number = 0; made < this.#transactions; made += TRANSACTIONS_A_BLOCK) {
      const block = this.#mine(below, number, made);
      number += 1;
      yield {
        block,
        mergeSet: [below],
        acceptedTransactionIds: below === this.genesis ? [] : below.transactions.map((each) => each.transactionId),
      };
      below = block;
    }
  }

  #mine(parent: RpcBlock, number: number, made: number): RpcBlock {
    const blueScore = BigInt(number + 1);
    const coinbase = makeCoinbase({
      blueScore: number + 1,
      subsidy: 0,
      scriptPublicKey: scriptOf(0),
      words: `bench ${number}`,
      rewards: [],
    });
    const payments = Array.from({ length: TRANSACTIONS_A_BLOCK }, (_, index) => this.#pay(made + index));
    const transactions = [coinbase, ...payments];
    const header: Header = {
      ...this.genesis.header,
      parentsByLevel: [[parent.hash]],
      hashMerkleRoot: merkleRoot(transactions.map(({ hash }) => hash)),
      timestamp: this.genesis.header.timestamp + blueScore * BLOCK_MS,
      nonce: BigInt(number),
      daaScore: blueScore,
      blueWork: blueScore,
      blueScore,
      pruningPoint: this.genesis.hash,
    };
    return {
      ...this.genesis,
      hash: headerHash(header),
      header,
      transactions,
      selectedParentHash: parent.hash,
      mergeSetBluesHashes: [parent.hash],
      blueScore,
      isChainBlock: false,
    };
  }

  /** UTXOs come out of nothing in the first round: nobody checks that here. */
  #pay(number: number): RpcTransaction {
    const place = number % this.#utxos.length;
    const utxo = this.#utxos[place];
    const inputs =
      utxo === undefined
        ? []
        : [
            {
              previousOutpoint: utxo,
              signatureScript: new Uint8Array(65),
              sequence: 0n,
              sigOpCount: 1,
              computeBudget: 0,
            },
          ];
    const script = scriptOf((number * 7_919) % Math.ceil(this.#utxos.length / UTXOS_A_SCRIPT));
    const made = named(
      {
        version: 0,
        inputs,
        outputs: [{ amount: 100_000n, scriptPublicKey: script, covenant: undefined }],
        lockTime: BigInt(number),
        subnetworkId: new Uint8Array(20),
        gas: 0n,
        payload: new Uint8Array(0),
        storageMass: 0n,
      },
      0n,
    );
    this.#utxos[place] = { transactionId: made.transactionId, index: 0 };
    return made;
  }
}

function scriptOf(owner: number): ScriptPublicKey {
  return { version: 0, script: Buffer.concat([Buffer.of(0x20), digest(['gap', owner]), Buffer.of(0xac)]) };
}
