/**
 * Blocks of the load: the node's template, with payments that never were in its mempool and the
 * merkle root that belongs to them. On simnet every nonce is a proof of work, so the nonce only
 * makes siblings differ.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DagTransaction, type Random, readHeader, readTransaction, scriptKey, withDerived } from '@kasgres/devnet';
import {
  type CoinbasePayload,
  decodeCoinbasePayload,
  encodeCoinbasePayload,
  type Hash,
  headerHash,
  merkleRoot,
  type ScriptPublicKey,
  scriptToAddress,
  toHex,
} from '@kasgres/kaspa';
import { type NodeClient, type protocol, type RequestOf, toTransactionMessage } from '@kasgres/node';
import { type LoadKeys, schnorrOwner } from './keys.ts';
import type { Payment } from './payment.ts';
import type { Wallet } from './wallet.ts';

/** The share of blocks whose coinbase names a script without an address. */
const NON_STANDARD_MINER_RATE = 0.05;
/** A template may omit a parent for other reasons, so the wait for it is limited. */
const PATIENCE_MS = 400;
/** A miner who spends nothing. */
export const IDLE_MINER = schnorrOwner(new Uint8Array(32).fill(1)).scriptPublicKey;

export interface MinedBlock<Contained extends Pick<Payment, 'transaction'> = Payment> {
  hash: Hash;
  coinbase: DagTransaction;
  payments: Contained[];
  message: NonNullable<RequestOf<'submitBlock'>['block']>;
}

/** The miners of the load on one node. */
export class Mining {
  /** The number of submitted blocks. */
  blocks = 0;
  readonly #node: NodeClient;
  readonly #random: Random;
  readonly #wallet: Wallet;
  readonly #keys: LoadKeys;
  #nonce = 0n;
  /** Hex hashes of blocks that the next template should merge. */
  #unmerged: string[] = [];

  constructor(node: NodeClient, random: Random, wallet: Wallet, keys: LoadKeys) {
    this.#node = node;
    this.#random = random;
    this.#wallet = wallet;
    this.#keys = keys;
  }

  /**
   * Returns templates of siblings, all of one moment, each for a random miner. The first has every
   * submitted block among its parents.
   */
  async templates(count: number): Promise<protocol.Block[]> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const first = await this.#template();
      const parents = first.header?.parents[0]?.parentHashes ?? [];
      if (this.#unmerged.every((hash) => parents.includes(hash)) || Date.now() > giveUpAt) {
        return [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => this.#template())))];
      }
      await sleep(2);
    }
  }

  make(template: protocol.Block, payments: Payment[]): MinedBlock {
    this.#nonce += 1n;
    // The upper bits make hashes, and so the order of siblings, random.
    const nonce = ((this.#random.uint64() << 32n) & (2n ** 64n - 1n)) | this.#nonce;
    const isNonStandard = this.#random.chance(NON_STANDARD_MINER_RATE) && !paysItsMiner(template);
    const block = mine(
      template,
      payments,
      nonce,
      isNonStandard ? { scriptPublicKey: this.#random.pick(this.#keys.nonStandard) } : undefined,
    );
    this.#wallet.expect(block.coinbase, true);
    for (const { transaction } of payments) this.#wallet.expect(transaction);
    return block;
  }

  /** Submits blocks. Templates need not merge the `invalid` ones. */
  async submit(blocks: MinedBlock[], invalid: MinedBlock[] = []): Promise<void> {
    const all = [...blocks, ...invalid];
    this.#unmerged = blocks.map(({ hash }) => toHex(hash));
    this.blocks += all.length;
    await Promise.all(all.map((block) => submit(this.#node, block)));
  }

  #template(): Promise<protocol.Block> {
    const { keys } = this.#random.pick(this.#keys.miners);
    return getTemplate(this.#node, keys[0]?.scriptPublicKey);
  }
}

export async function getTemplate(node: NodeClient, miner: ScriptPublicKey = IDLE_MINER): Promise<protocol.Block> {
  const payAddress = scriptToAddress(miner, 'kaspasim') ?? '';
  const { block } = await node.call('getBlockTemplate', { payAddress, extraData: '' });
  if (block === undefined) throw new Error('the node returned no template');
  return block;
}

/**
 * @param miner replaces that of the template. The block is valid only while no output of the
 * coinbase pays the template's miner
 */
export function mine<Contained extends Pick<Payment, 'transaction'>>(
  template: protocol.Block,
  payments: Contained[],
  nonce: bigint,
  miner?: Partial<Pick<CoinbasePayload, 'scriptPublicKey' | 'extraData'>>,
): MinedBlock<Contained> {
  if (template.header === undefined) throw new Error('the template is empty');
  let coinbase = withDerived(readTransaction(template.transactions[0]));
  if (miner !== undefined) {
    const payload = { ...decodeCoinbasePayload(coinbase.payload), ...miner };
    coinbase = withDerived({ ...coinbase, payload: encodeCoinbasePayload(payload) });
  }
  const transactions = [coinbase, ...payments.map(({ transaction }) => transaction)];
  const hashMerkleRoot = merkleRoot(transactions.map(({ hash }) => hash));
  return {
    hash: headerHash({ ...readHeader(template.header), hashMerkleRoot, nonce }),
    coinbase,
    payments,
    message: {
      header: { ...template.header, hashMerkleRoot: toHex(hashMerkleRoot), nonce },
      transactions: transactions.map(toTransactionMessage),
    },
  };
}

/** Throws if the node rejects the block. */
export async function submit(node: NodeClient, { hash, message }: Pick<MinedBlock, 'hash' | 'message'>): Promise<void> {
  const { rejectReason } = await node.call('submitBlock', { block: message, allowNonDAABlocks: false });
  if (rejectReason !== 0) throw new Error(`the node rejected block ${toHex(hash)}: reason ${rejectReason}`);
}

/** Mines a block on the template as it is, with the transactions of the node's mempool. */
export async function mineTemplate(node: NodeClient): Promise<void> {
  await submit(node, { hash: new Uint8Array(0), message: await getTemplate(node) });
}

/**
 * Returns whether an output of the coinbase is the miner's reward for red blocks, which must stay
 * what the payload says.
 */
function paysItsMiner(template: protocol.Block): boolean {
  const { payload, outputs } = readTransaction(template.transactions[0]);
  const miner = scriptKey(decodeCoinbasePayload(payload).scriptPublicKey);
  return outputs.some(({ scriptPublicKey }) => scriptKey(scriptPublicKey) === miner);
}
