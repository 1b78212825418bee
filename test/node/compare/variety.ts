/** What a DAG has to offer to a comparison: a load without one of these would leave something untested. */
import { COINBASE_SUBNETWORK, NATIVE_SUBNETWORK, toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import type { NodeDag } from './node-dag.ts';

const COINBASE = toHex(COINBASE_SUBNETWORK);
const NATIVE = toHex(NATIVE_SUBNETWORK);
const MANY_INPUTS = 10;
/** More than a key of a B-tree of Postgres can hold. */
const LONG_SCRIPT_BYTES = 2704;

/** How many there are of each, by transaction id where it is about transactions. */
export function varietyOf({ blocks, chain, acceptedBy, transactionIds }: NodeDag): Record<string, number> {
  const bodies = [...blocks.values()].flatMap((block) => block.transactions);
  const byId = Map.groupBy(bodies, ({ verboseData }) => verboseData?.transactionId ?? '');
  const transactions = [...byId.values()].flatMap(([first]) => first ?? []);
  const payments = transactions.filter(({ subnetworkId }) => subnetworkId !== COINBASE);
  const inputs = payments.flatMap((payment) => payment.inputs);
  const outputs = transactions.flatMap((transaction) => transaction.outputs);

  const payment = (has: (transaction: protocol.Transaction) => boolean): number => payments.filter(has).length;
  const output = (has: (output: protocol.TransactionOutput) => boolean): number => outputs.filter(has).length;
  const id = (has: (bodies: protocol.Transaction[]) => boolean): number => [...byId.values()].filter(has).length;
  return {
    redBlocks: chain.flatMap(({ hash }) => blocks.get(hash)?.verboseData?.mergeSetRedsHashes ?? []).length,
    coinbasesInSeveralBlocks: id((bodies) => isCoinbase(bodies) && bodies.length > 1),
    paymentsInSeveralBlocks: id((bodies) => !isCoinbase(bodies) && bodies.length > 1),
    idsWithSeveralBodies: id((bodies) => new Set(bodies.map(({ verboseData }) => verboseData?.hash)).size > 1),
    paymentsNotAccepted: payment(({ verboseData }) => !acceptedBy.has(verboseData?.transactionId ?? '')),
    utxosSpentTwice: [
      ...Map.groupBy(inputs, ({ previousOutpoint }) => `${previousOutpoint?.transactionId}:${previousOutpoint?.index}`),
    ].filter(([, spending]) => spending.length > 1).length,
    utxosThatNeverExisted: inputs.filter(({ previousOutpoint }) => !byId.has(previousOutpoint?.transactionId ?? ''))
      .length,
    sweeps: payment((transaction) => transaction.inputs.length >= MANY_INPUTS),
    version1: payment(({ version }) => version === 1),
    lanes: payment(({ subnetworkId }) => subnetworkId !== NATIVE),
    payloads: payment((transaction) => transaction.payload !== ''),
    lockTimes: payment((transaction) => transaction.lockTime > 0n),
    covenants: output(({ covenant }) => covenant !== undefined),
    pubKeys: output(({ verboseData }) => verboseData?.scriptPublicKeyType === 'pubkey'),
    ecdsaPubKeys: output(({ verboseData }) => verboseData?.scriptPublicKeyType === 'pubkeyecdsa'),
    scriptHashes: output(({ verboseData }) => verboseData?.scriptPublicKeyType === 'scripthash'),
    nonStandardScripts: output(({ verboseData }) => verboseData === undefined),
    scriptsOfOtherVersions: output(({ scriptPublicKey }) => (scriptPublicKey?.version ?? 0) > 0),
    longScripts: output(
      ({ scriptPublicKey }) => (scriptPublicKey?.scriptPublicKey.length ?? 0) / 2 > LONG_SCRIPT_BYTES,
    ),
    transactions: transactionIds.length,
  };
}

function isCoinbase([first]: protocol.Transaction[]): boolean {
  return first?.subnetworkId === COINBASE;
}
