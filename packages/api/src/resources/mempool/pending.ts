/**
 * GET /v1/mempool/{transactionId}: a transaction of the mempool in the form of look-ups, with what
 * it spends as far as it is indexed.
 */
import { fromHex, toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { hash, hashInput, requireCaughtUp, Slices, sompi, timestamp } from '@kasgres/reads';
import { z } from 'zod';
import { required } from '../../node/node-calls.ts';
import { route } from '../../openapi/route.ts';
import { listUtxos, type UtxoRow } from '../rpc/submitted/storage-masses.ts';
import { lookUp } from '../shared.ts';
import { describeAll, type SelectedInput } from '../transactions/rest/programs.ts';
import { includePayload, restTransaction } from '../transactions/rest/schemas.ts';
import { toMempoolEntry } from './to-mempool-entry.ts';

const pending = restTransaction
  .extend({
    blockTime: timestamp.nullable(),
    blockHashes: z.array(hash).max(0),
    blockCount: z.literal(0),
    isAccepted: z.literal(false),
    fee: sompi,
  })
  .meta({ id: 'TransactionInMempool' });

type PendingJson = z.infer<typeof pending>;

export const getPendingTransaction = route(
  {
    ...lookUp('Network', '/v1/mempool/:transactionId', 'getPendingTransaction'),
    summary: 'One transaction of the mempool, with the UTXOs that it spends',
    description: 'UTXOs of transactions that are not indexed yet have neither amount nor script.',
    params: z.strictObject({ transactionId: hashInput }),
    query: z.strictObject({
      include_payload: includePayload,
      include: z
        .literal('programs')
        .optional()
        .meta({ description: '`programs` adds what programs and protocols the transaction uses' }),
    }),
    response: z.object({ transaction: pending }),
    errors: [404],
  },
  async ({ services: { index, turns }, node, caller }, { params: { transactionId }, query }) => {
    const request = { txId: toHex(transactionId), includeOrphanPool: true, filterTransactionPool: false };
    const { entry } = await node.call('getMempoolEntry', request);
    const found = required(entry, 'entry');
    const outpoints = required(found.transaction, 'transaction').inputs.map(({ previousOutpoint }) => {
      const outpoint = required(previousOutpoint, 'outpoint of an input');
      return { ...outpoint, transactionId: fromHex(outpoint.transactionId) };
    });
    const rows = await index.read(({ db, state }) => {
      requireCaughtUp(state);
      return listUtxos(db, outpoints);
    }, caller);
    const utxos = new Map(rows.map((row) => [`${toHex(row.transaction_id)}:${row.index}`, row]));
    const { include, include_payload: withPayload } = query;
    return include === undefined
      ? { transaction: toPending(found, utxos, { withPayload }) }
      : describeAll(
          { transaction: toPending(found, utxos, { withPayload: true, withPrograms: true }) },
          new Slices(turns, caller),
          withPayload,
        );
  },
);

function toPending(
  entry: protocol.MempoolEntry,
  utxos: ReadonlyMap<string, UtxoRow>,
  { withPayload, withPrograms = false }: { withPayload: boolean; withPrograms?: boolean },
): PendingJson {
  const { transaction: json, fee } = toMempoolEntry(entry);
  const { verboseData, inputs, outputs, payload, subnetworkId, mass, version, lockTime, gas } = json;
  const { transactionId, hash: transactionHash, computeMass } = verboseData;
  return {
    transactionId,
    version,
    blockTime: null,
    subnetworkId,
    hash: transactionHash,
    mass,
    computeMass,
    fee,
    lockTime,
    gas,
    ...(withPayload && { payload }),
    blockHashes: [],
    blockCount: 0,
    isAccepted: false,
    acceptingBlockHash: null,
    acceptingBlockBlueScore: null,
    confirmations: 0,
    inputs: inputs.map(({ previousOutpoint, ...input }, at): SelectedInput => {
      const utxo = utxos.get(`${previousOutpoint.transactionId}:${previousOutpoint.index}`);
      return {
        transactionId,
        index: at,
        ...input,
        ...(withPrograms && { spentScriptVersion: utxo?.version ?? null }),
        previousOutput: {
          ...previousOutpoint,
          amount: utxo === undefined ? null : String(utxo.amount),
          scriptPublicKey: utxo === undefined ? null : toHex(utxo.script),
          scriptPublicKeyAddress: utxo?.address ?? null,
          scriptPublicKeyType: utxo?.type ?? null,
        },
      };
    }),
    outputs: outputs.map(({ value, scriptPublicKey, verboseData: data, ...output }, at) => ({
      transactionId,
      index: at,
      amount: value,
      // Without the version.
      scriptPublicKey: scriptPublicKey.slice(4),
      scriptPublicKeyAddress: data?.scriptPublicKeyAddress ?? null,
      scriptPublicKeyType: data?.scriptPublicKeyType ?? 'nonstandard',
      ...output,
      ...(withPrograms && { covenantEvent: null }),
      spentBy: null,
      isSpent: false,
    })),
  };
}
