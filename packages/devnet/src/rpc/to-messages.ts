import {
  type AddressPrefix,
  classifyScript,
  type Header,
  type ScriptPublicKey,
  scriptToAddress,
  toHex,
  type Utxo,
} from '@kasgres/kaspa';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type protocol, toHeaderMessage, toOutputMessage, toScriptMessage, toTransactionMessage } from '@kasgres/node';
import type { DagBlock, DagTransaction } from '../dag/dag.ts';
import type { BlockTemplate, MempoolEntry } from '../dag/node-state.ts';

/** The hash that kaspad reports as the selected parent of genesis. */
const ORIGIN = 'fe'.repeat(32);
const NO_BLOCK = { blockHash: '00'.repeat(32), blockTime: 0n };

export function blockMessage(
  block: DagBlock,
  includeTransactions: boolean,
  prefix: AddressPrefix,
): MessageInitShape<typeof protocol.BlockSchema> {
  return {
    header: headerMessage(block.header, block.hash),
    transactions: includeTransactions
      ? block.transactions.map((transaction) => transactionMessage(transaction, block, prefix))
      : [],
    verboseData: {
      hash: block.hash,
      difficulty: block.difficulty,
      selectedParentHash: block.selectedParent?.hash ?? ORIGIN,
      transactionIds: block.transactions.map(({ transactionId }) => toHex(transactionId)),
      isHeaderOnly: block.isHeaderOnly,
      blueScore: block.header.blueScore,
      childrenHashes: hashesOf(block.children),
      mergeSetBluesHashes: hashesOf(block.mergeSetBlues),
      mergeSetRedsHashes: hashesOf(block.mergeSetReds),
      isChainBlock: block.chainIndex !== undefined,
    },
  };
}

/** A template has no hashes and no verbose data. */
export function templateMessage({
  header,
  transactions,
}: BlockTemplate): MessageInitShape<typeof protocol.BlockSchema> {
  return { header: headerMessage(header, ''), transactions: transactions.map(toTransactionMessage) };
}

export function headerMessage(header: Header, hash: string): MessageInitShape<typeof protocol.HeaderSchema> {
  return { ...toHeaderMessage(header), hash };
}

/** `block` undefined: a transaction of the mempool. */
function transactionMessage(
  transaction: DagTransaction,
  block: DagBlock | undefined,
  prefix: AddressPrefix,
): MessageInitShape<typeof protocol.TransactionSchema> {
  return {
    ...toTransactionMessage(transaction),
    outputs: transaction.outputs.map((output) => ({
      ...toOutputMessage(output),
      ...optionally('verboseData', scriptVerboseData(output.scriptPublicKey, prefix)),
    })),
    verboseData: {
      transactionId: toHex(transaction.transactionId),
      hash: toHex(transaction.hash),
      computeMass: transaction.computeMass,
      ...(block === undefined ? NO_BLOCK : { blockHash: block.hash, blockTime: block.header.timestamp }),
    },
  };
}

export function mempoolEntryMessage(
  { fee, transaction, isOrphan }: MempoolEntry,
  prefix: AddressPrefix,
): MessageInitShape<typeof protocol.MempoolEntrySchema> {
  return { fee, transaction: transactionMessage(transaction, undefined, prefix), isOrphan };
}

export function utxoEntryMessage(utxo: Utxo): MessageInitShape<typeof protocol.UtxoEntrySchema> {
  return {
    amount: utxo.amount,
    scriptPublicKey: toScriptMessage(utxo.scriptPublicKey),
    blockDaaScore: utxo.blockDaaScore,
    isCoinbase: utxo.isCoinbase,
    covenantId: utxo.covenantId === undefined ? '' : toHex(utxo.covenantId),
  };
}

/** Returns `undefined` for a non-standard script. */
export function scriptVerboseData(
  script: ScriptPublicKey,
  prefix: AddressPrefix,
): { scriptPublicKeyType: string; scriptPublicKeyAddress: string } | undefined {
  const address = scriptToAddress(script, prefix);
  if (address === undefined) return undefined;
  return { scriptPublicKeyType: classifyScript(script), scriptPublicKeyAddress: address };
}

export function hashesOf(blocks: readonly DagBlock[]): string[] {
  return blocks.map(({ hash }) => hash);
}

/**
 * Returns an object with the property, or an empty one: a message field is absent, never undefined.
 */
export function optionally<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
