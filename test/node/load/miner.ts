/**
 * Blocks of our own making: the node's template, with payments that never saw its mempool and the merkle root that belongs to them.
 * On simnet every nonce is a proof of work, so the nonce only makes siblings differ.
 */
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
import type { NodeClient, protocol } from '@kasgres/node';
import { type BlockMessage, toHeader, toTransaction, toTransactionMessage } from './messages.ts';
import type { Owner } from './owner.ts';
import type { Payment } from './payment.ts';

const ADDRESS_PREFIX = 'kaspasim';

export interface MinedBlock {
  hash: Hash;
  coinbase: Transaction;
  coinbaseId: Hash;
  payments: Payment[];
  message: BlockMessage;
}

export interface MineOptions {
  nonce: bigint;
  /** Whom the coinbase names instead of the template's miner. Only while no output of the template's coinbase pays that miner. */
  payTo?: ScriptPublicKey;
}

export async function getTemplate(node: NodeClient, miner: Owner, extraData = ''): Promise<protocol.Block> {
  const payAddress = scriptToAddress(miner.scriptPublicKey, ADDRESS_PREFIX);
  if (payAddress === undefined) throw new Error('a miner needs an address');
  const { block } = await node.call('getBlockTemplate', { payAddress, extraData });
  if (block === undefined) throw new Error('the node gave no template');
  return block;
}

export function mine(template: protocol.Block, payments: Payment[], { nonce, payTo }: MineOptions): MinedBlock {
  const [coinbaseMessage] = template.transactions;
  if (template.header === undefined || coinbaseMessage === undefined) throw new Error('the template is empty');
  const coinbase = withMiner(toTransaction(coinbaseMessage), payTo);
  const hashMerkleRoot = merkleRoot([transactionHash(coinbase), ...payments.map(({ hash }) => hash)]);
  const transactions = [coinbase, ...payments.map(({ transaction }) => transaction)];
  return {
    hash: headerHash({ ...toHeader(template.header), hashMerkleRoot, nonce }),
    coinbase,
    coinbaseId: transactionId(coinbase),
    payments,
    message: {
      header: { ...template.header, hashMerkleRoot: toHex(hashMerkleRoot), nonce },
      transactions: transactions.map(toTransactionMessage),
    },
  };
}

/** @throws Error when the node does not take the block */
export async function submit(node: NodeClient, { hash, message }: MinedBlock): Promise<void> {
  const { rejectReason } = await node.call('submitBlock', { block: message, allowNonDAABlocks: false });
  if (rejectReason !== 0) throw new Error(`the node rejected block ${toHex(hash)}: reason ${rejectReason}`);
}

/** Mines a block on the template as it is, with what the node's mempool put there. */
export async function mineTemplate(node: NodeClient, miner: Owner): Promise<void> {
  const block = await getTemplate(node, miner);
  const { rejectReason } = await node.call('submitBlock', { block, allowNonDAABlocks: false });
  if (rejectReason !== 0) throw new Error(`the node rejected its own template: reason ${rejectReason}`);
}

function withMiner(coinbase: Transaction, payTo: ScriptPublicKey | undefined): Transaction {
  if (payTo === undefined) return coinbase;
  const payload = encodeCoinbasePayload({ ...decodeCoinbasePayload(coinbase.payload), scriptPublicKey: payTo });
  return { ...coinbase, payload };
}
