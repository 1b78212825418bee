/** GET /v1/mempool/{transactionId}: a transaction of the mempool in the form of look-ups, with what it spends as far as it is indexed. */
import { toHex } from '@kasgres/kaspa';
import type { protocol } from '@kasgres/node';
import { sql } from 'kysely';
import { z } from 'zod';
import { required } from '../../node-calls.ts';
import { route } from '../../route.ts';
import { hash, hashInput, sompi } from '../../schemas/values.ts';
import { lookUp } from '../shared.ts';
import { restTransaction } from '../transactions/rest/schemas.ts';
import { toMempoolEntry } from './to-mempool-entry.ts';

const pending = restTransaction
  .omit({ blockTime: true })
  .extend({ blockHashes: z.array(hash).max(0), isAccepted: z.literal(false), fee: sompi })
  .meta({ id: 'TransactionInMempool' });

type PendingJson = z.infer<typeof pending>;

interface Utxo {
  id: string;
  index: number;
  amount: string;
  script: string;
  address: string | null;
  type: NonNullable<PendingJson['inputs'][number]['previousOutput']['scriptPublicKeyType']>;
}

export const getPendingTransaction = route(
  {
    ...lookUp('Network', '/v1/mempool/:transactionId', 'getPendingTransaction'),
    summary: 'One transaction of the mempool, with the UTXOs that it spends',
    description: 'UTXOs of transactions that are not indexed yet have neither amount nor script.',
    params: z.strictObject({ transactionId: hashInput }),
    response: z.object({ transaction: pending }),
    errors: [404],
  },
  async ({ services: { index }, node, caller }, { params: { transactionId } }) => {
    const request = { txId: toHex(transactionId), includeOrphanPool: true, filterTransactionPool: false };
    const { entry } = await node.call('getMempoolEntry', request);
    const found = required(entry, 'entry');
    const outpoints = required(found.transaction, 'transaction').inputs.map(({ previousOutpoint }) =>
      required(previousOutpoint, 'outpoint of an input'),
    );
    const utxos = await index.read(async ({ db }) => {
      const { rows } = await sql<Utxo>`
        select encode(t.transaction_id, 'hex') as id, o.index, o.amount::text as amount, encode(s.script, 'hex') as script, s.address, s.type
        from unnest(${outpoints.map((outpoint) => outpoint.transactionId)}::text[], ${outpoints.map(({ index: at }) => at)}::bigint[]) spent (id, index)
        join transactions t on encode(t.transaction_id, 'hex') = spent.id
        join transaction_outputs o on o.transaction_id = t.id and o.index = spent.index
        join scripts s on s.id = o.script_id`.execute(db);
      return new Map(rows.map((row) => [`${row.id}:${row.index}`, row]));
    }, caller);
    return { transaction: toPending(found, utxos) };
  },
);

function toPending(entry: protocol.MempoolEntry, utxos: ReadonlyMap<string, Utxo>): PendingJson {
  const { transaction: json, fee } = toMempoolEntry(entry);
  const { verboseData, inputs, outputs, payload, subnetworkId, mass, version, lockTime, gas } = json;
  const { transactionId, hash: transactionHash, computeMass } = verboseData;
  return {
    transactionId,
    version,
    subnetworkId,
    hash: transactionHash,
    mass,
    computeMass,
    fee,
    lockTime,
    gas,
    ...(payload !== '' && { payload }),
    blockHashes: [],
    isAccepted: false,
    acceptingBlockHash: null,
    acceptingBlockBlueScore: null,
    confirmations: 0,
    inputs: inputs.map(({ previousOutpoint, ...input }, at) => {
      const utxo = utxos.get(`${previousOutpoint.transactionId}:${previousOutpoint.index}`);
      return {
        transactionId,
        index: at,
        ...input,
        previousOutput: {
          ...previousOutpoint,
          amount: utxo?.amount ?? null,
          scriptPublicKey: utxo?.script ?? null,
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
      spentBy: null,
    })),
  };
}
