/**
 * Blocks of the load: the node's template, with payments that never saw its mempool and the merkle root that belongs to them. On simnet
 * every nonce is a proof of work, so the nonce only makes siblings differ.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, readHeader, readTransaction, scriptKey } from '@kasgres/devnet';
import {
  decodeCoinbasePayload,
  encodeCoinbasePayload,
  type Hash,
  headerHash,
  merkleRoot,
  type ScriptPublicKey,
  scriptToAddress,
  toHex,
  type Transaction,
  transactionHash,
  transactionId,
} from '@kasgres/kaspa';
import { type NodeClient, type protocol, type RequestOf, toTransactionMessage } from '@kasgres/node';
import type { Owner } from './owner.ts';
import type { Payment } from './payment.ts';
import type { Wallet } from './wallet.ts';

const ADDRESS_PREFIX = 'kaspasim';
/** The share of blocks whose coinbase names a script without an address. */
const NON_STANDARD_MINER_RATE = 0.05;
/** A template may omit a parent for other reasons, so the wait for it is limited. */
const PATIENCE_MS = 400;

export interface MinedBlock {
  hash: Hash;
  coinbase: Transaction;
  payments: Payment[];
  message: NonNullable<RequestOf<'submitBlock'>['block']>;
}

export interface MineOptions {
  nonce: bigint;
  /** The script that the coinbase names instead of the template's miner. Only while no output of the coinbase pays that miner. */
  payTo?: ScriptPublicKey;
}

/** The miners of the load on one node: templates that know every submitted block, blocks on them, and their submission. */
export class Mining {
  /** The number of submitted blocks. */
  blocks = 0;
  readonly #node: NodeClient;
  readonly #random: Random;
  readonly #wallet: Wallet;
  readonly #miners: readonly Owner[];
  readonly #nonStandardMiners: readonly Owner[];
  #nonce = 0n;
  /** Hex hashes of blocks that the next template should merge. */
  #unmerged: string[] = [];

  constructor(
    node: NodeClient,
    random: Random,
    wallet: Wallet,
    { miners, nonStandard }: { miners: readonly Owner[]; nonStandard: readonly Owner[] },
  ) {
    this.#node = node;
    this.#random = random;
    this.#wallet = wallet;
    this.#miners = miners;
    this.#nonStandardMiners = nonStandard;
  }

  /** Returns templates of siblings, all of one moment and each for a random miner. */
  async templates(count: number): Promise<protocol.Block[]> {
    const first = await this.#freshTemplate();
    const others = await Promise.all(Array.from({ length: count - 1 }, () => this.#template()));
    return [first, ...others];
  }

  make(template: protocol.Block, payments: Payment[]): MinedBlock {
    this.#nonce += 1n;
    // The upper bits make hashes, and so the order of siblings, random.
    const nonce = ((this.#random.uint64() << 32n) & (2n ** 64n - 1n)) | this.#nonce;
    const isNonStandard = this.#random.chance(NON_STANDARD_MINER_RATE) && !paysItsMiner(template);
    const payTo = isNonStandard ? { payTo: this.#random.pick(this.#nonStandardMiners).scriptPublicKey } : {};
    const block = mine(template, payments, { nonce, ...payTo });
    this.#wallet.expect(transactionId(block.coinbase), block.coinbase, { isCoinbase: true });
    for (const { id, transaction } of payments) this.#wallet.expect(id, transaction);
    return block;
  }

  /** Submits blocks. Templates need not merge the `invalid` ones. */
  async submit(blocks: MinedBlock[], invalid: MinedBlock[] = []): Promise<void> {
    const all = [...blocks, ...invalid];
    this.#unmerged = blocks.map(({ hash }) => toHex(hash));
    this.blocks += all.length;
    await Promise.all(all.map((block) => submit(this.#node, block)));
  }

  async #freshTemplate(): Promise<protocol.Block> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const template = await this.#template();
      const parents = template.header?.parents[0]?.parentHashes ?? [];
      if (this.#unmerged.every((hash) => parents.includes(hash)) || Date.now() > giveUpAt) return template;
      await sleep(2);
    }
  }

  #template(): Promise<protocol.Block> {
    return getTemplate(this.#node, this.#random.pick(this.#miners));
  }
}

export async function getTemplate(node: NodeClient, miner: Owner, extraData = ''): Promise<protocol.Block> {
  const payAddress = scriptToAddress(miner.scriptPublicKey, ADDRESS_PREFIX);
  if (payAddress === undefined) throw new Error('a miner needs an address');
  const { block } = await node.call('getBlockTemplate', { payAddress, extraData });
  if (block === undefined) throw new Error('the node returned no template');
  return block;
}

export function mine(template: protocol.Block, payments: Payment[], { nonce, payTo }: MineOptions): MinedBlock {
  if (template.header === undefined) throw new Error('the template is empty');
  const coinbase = withMiner(readTransaction(template.transactions[0]), payTo);
  const hashMerkleRoot = merkleRoot([transactionHash(coinbase), ...payments.map(({ hash }) => hash)]);
  const transactions = [coinbase, ...payments.map(({ transaction }) => transaction)];
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
export async function mineTemplate(node: NodeClient, miner: Owner): Promise<void> {
  await submit(node, { hash: new Uint8Array(0), message: await getTemplate(node, miner) });
}

/** Whether an output of the coinbase is the miner's reward for red blocks, which must stay what the payload says. */
function paysItsMiner(template: protocol.Block): boolean {
  const { payload, outputs } = readTransaction(template.transactions[0]);
  const miner = scriptKey(decodeCoinbasePayload(payload).scriptPublicKey);
  return outputs.some(({ scriptPublicKey }) => scriptKey(scriptPublicKey) === miner);
}

function withMiner(coinbase: Transaction, payTo: ScriptPublicKey | undefined): Transaction {
  if (payTo === undefined) return coinbase;
  const payload = encodeCoinbasePayload({ ...decodeCoinbasePayload(coinbase.payload), scriptPublicKey: payTo });
  return { ...coinbase, payload };
}
