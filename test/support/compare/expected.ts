/**
 * The node's messages in the JSON of the API, written from its specification alone: 64-bit numbers
 * are decimal strings, a payload is empty or 0x and hex, a script is one hex string after its
 * version, and fields of other transaction versions are left out.
 */
import { parseBlueWork, toHex, type Transaction } from '@kasgres/kaspa';
import type { protocol, ResponseOf } from '@kasgres/node';

type Json = Record<string, unknown>;

export function expectedBlock(block: protocol.Block, { withTransactions }: { withTransactions: boolean }): Json {
  const { header, verboseData } = present(block, 'header', 'verboseData');
  return {
    header: { hash: header.hash, ...expectedHeader(header) },
    ...(withTransactions && { transactions: block.transactions.map(expectedTransaction) }),
    verboseData: {
      ...fieldsOf(verboseData, 'hash difficulty selectedParentHash transactionIds isHeaderOnly childrenHashes'),
      ...fieldsOf(verboseData, 'mergeSetBluesHashes mergeSetRedsHashes isChainBlock'),
      blueScore: Number(verboseData.blueScore),
    },
  };
}

export function expectedTemplate(block: protocol.Block): Json {
  const { header } = present(block, 'header');
  return {
    header: expectedHeader(header),
    transactions: block.transactions.map((transaction) => ({
      version: transaction.version,
      inputs: transaction.inputs.map((input) => ({
        ...expectedInput(input, transaction.version),
        sequence: exactNumber(input.sequence),
      })),
      outputs: transaction.outputs.map((output) => {
        const { scriptPublicKey } = present(output, 'scriptPublicKey');
        return {
          value: String(output.amount),
          scriptPublicKey: { version: scriptPublicKey.version, script: scriptPublicKey.scriptPublicKey },
          ...expectedCovenant(output),
        };
      }),
      lockTime: exactNumber(transaction.lockTime),
      subnetworkId: transaction.subnetworkId,
      gas: String(transaction.gas),
      payload: expectedPayload(transaction.payload),
    })),
  };
}

export function expectedMempoolEntry(entry: protocol.MempoolEntry): Json {
  const { transaction } = present(entry, 'transaction');
  return { fee: String(entry.fee), transaction: expectedTransaction(transaction), isOrphan: entry.isOrphan };
}

export function expectedDagInfo(info: ResponseOf<'getBlockDagInfo'>): Json {
  return {
    ...fieldsOf(info, 'networkName blockCount headerCount tipHashes difficulty pastMedianTime'),
    ...fieldsOf(info, 'virtualParentHashes pruningPointHash virtualDaaScore sink'),
  };
}

export function expectedInfo(info: ResponseOf<'getInfo'>): Json {
  return fieldsOf(info, 'p2pId mempoolSize serverVersion isUtxoIndexed isSynced hasNotifyCommand hasMessageId');
}

export function expectedServerInfo(info: ResponseOf<'getServerInfo'>): Json {
  return {
    ...fieldsOf(info, 'rpcApiVersion rpcApiRevision serverVersion networkId hasUtxoIndex isSynced'),
    virtualDaaScore: String(info.virtualDaaScore),
  };
}

export function expectedFees(response: ResponseOf<'getFeeEstimate'>): Json {
  const { estimate } = present(response, 'estimate');
  const { priorityBucket } = present(estimate, 'priorityBucket');
  return {
    estimate: {
      priorityBucket: expectedBucket(priorityBucket),
      normalBuckets: estimate.normalBuckets.map(expectedBucket),
      lowBuckets: estimate.lowBuckets.map(expectedBucket),
    },
  };
}

function expectedBucket({ feerate, estimatedSeconds }: protocol.FeerateBucket): Json {
  return { feerate, estimatedSeconds };
}

export function expectedUtxo(entry: protocol.AddressUtxo): Json {
  const { outpoint, utxoEntry } = present(entry, 'outpoint', 'utxoEntry');
  return {
    address: entry.address,
    outpoint: { transactionId: outpoint.transactionId, index: outpoint.index },
    utxoEntry: {
      amount: String(utxoEntry.amount),
      scriptPublicKey: expectedScript(present(utxoEntry, 'scriptPublicKey').scriptPublicKey),
      blockDaaScore: String(utxoEntry.blockDaaScore),
      isCoinbase: utxoEntry.isCoinbase,
      ...(utxoEntry.covenantId !== '' && { covenantId: utxoEntry.covenantId }),
    },
  };
}

/** Returns a transaction in the form in which the API takes it. */
export function submittedForm(transaction: Transaction) {
  return {
    version: transaction.version,
    inputs: transaction.inputs.map((input) => ({
      previousOutpoint: {
        transactionId: toHex(input.previousOutpoint.transactionId),
        index: input.previousOutpoint.index,
      },
      sequence: String(input.sequence),
      sigOpCount: input.sigOpCount,
      signatureScript: toHex(input.signatureScript),
      ...(transaction.version > 0 && { computeBudget: input.computeBudget }),
    })),
    outputs: transaction.outputs.map(({ amount, scriptPublicKey: { version, script }, covenant }) => ({
      value: String(amount),
      scriptPublicKey: version.toString(16).padStart(4, '0') + toHex(script),
      ...(covenant && {
        covenant: { authorizingInput: covenant.authorizingInput, covenantId: toHex(covenant.covenantId) },
      }),
    })),
    lockTime: String(transaction.lockTime),
    subnetworkId: toHex(transaction.subnetworkId),
    gas: String(transaction.gas),
    payload: transaction.payload.length === 0 ? '' : `0x${toHex(transaction.payload)}`,
    mass: String(transaction.storageMass),
  };
}

function expectedHeader(header: protocol.Header): Json {
  return {
    ...fieldsOf(header, 'version hashMerkleRoot acceptedIdMerkleRoot utxoCommitment timestamp bits nonce'),
    ...fieldsOf(header, 'daaScore blueScore pruningPoint'),
    parentsByLevel: header.parents.map(({ parentHashes }) => parentHashes),
    blueWork: String(parseBlueWork(header.blueWork)),
  };
}

function expectedTransaction(transaction: protocol.Transaction): Json {
  const { verboseData } = present(transaction, 'verboseData');
  return {
    ...fieldsOf(transaction, 'version lockTime subnetworkId gas'),
    inputs: transaction.inputs.map((input) => expectedInput(input, transaction.version)),
    outputs: transaction.outputs.map(expectedOutput),
    payload: expectedPayload(transaction.payload),
    mass: String(transaction.storageMass),
    verboseData: fieldsOf(verboseData, 'transactionId hash computeMass blockHash blockTime'),
  };
}

function expectedInput(input: protocol.TransactionInput, version: number): Json {
  const { previousOutpoint } = present(input, 'previousOutpoint');
  return {
    previousOutpoint: { transactionId: previousOutpoint.transactionId, index: previousOutpoint.index },
    sequence: String(input.sequence),
    sigOpCount: input.sigOpCount,
    signatureScript: input.signatureScript,
    ...(version >= 1 && { computeBudget: input.computeBudget }),
  };
}

function expectedOutput(output: protocol.TransactionOutput): Json {
  const { scriptPublicKey } = present(output, 'scriptPublicKey');
  return {
    value: String(output.amount),
    scriptPublicKey: expectedScript(scriptPublicKey),
    ...(output.verboseData && {
      verboseData: {
        scriptPublicKeyType: output.verboseData.scriptPublicKeyType,
        scriptPublicKeyAddress: output.verboseData.scriptPublicKeyAddress,
      },
    }),
    ...expectedCovenant(output),
  };
}

function expectedScript({ version, scriptPublicKey }: protocol.ScriptPublicKey): string {
  return version.toString(16).padStart(4, '0') + scriptPublicKey;
}

function expectedCovenant({ covenant }: protocol.TransactionOutput): Json {
  if (covenant === undefined) return {};
  return { covenant: { authorizingInput: covenant.authorizingInput, covenantId: covenant.covenantId } };
}

function expectedPayload(hex: string): string {
  return hex === '' ? '' : `0x${hex}`;
}

/** Returns the fields of these names, with 64-bit numbers as text. */
function fieldsOf(message: object, names: string): Json {
  const fields = message as Json;
  return Object.fromEntries(
    names.split(' ').map((name) => {
      const value = fields[name];
      return [name, typeof value === 'bigint' ? String(value) : value];
    }),
  );
}

/** Returns a number as ApiClient.postExactly reads it. */
function exactNumber(value: bigint): number | bigint {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? value : Number(value);
}

/** Returns the message. Throws Error if one of these fields is missing. */
function present<T extends object, Key extends keyof T>(
  message: T,
  ...keys: Key[]
): T & { [K in Key]-?: NonNullable<T[K]> } {
  for (const key of keys) {
    if (message[key] === undefined) throw new Error(`the node's message has no ${String(key)}`);
  }
  return message as T & { [K in Key]-?: NonNullable<T[K]> };
}
