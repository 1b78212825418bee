import { count, decimal, hash, timestamp } from '@kasgres/reads';
import { z } from 'zod';

export const status = z
  .object({
    network: z.string().nullable().meta({ description: 'Null until the indexer has run once' }),
    synced: z.boolean().meta({
      description:
        'Whether the first catch-up has finished, every database index is built, and the sink is that of the node or less than 10 seconds old',
    }),
    sink: hash.nullable(),
    sinkBlueScore: decimal.nullable(),
    nodeSinkBlueScore: decimal.nullable().meta({ description: 'Null while the node is unavailable' }),
    lagSeconds: count.nullable().meta({ description: 'Age of the sink; 0 if its blue score is that of the node' }),
    replicaLagSeconds: count.nullable().meta({
      description: 'Lag of the replica that responses are read from; null if they are read from the primary',
    }),
    firstBlock: hash.nullable().meta({ description: 'First indexed chain block' }),
    starts: z
      .array(
        z.object({
          hash,
          blueScore: decimal,
          daaScore: decimal,
          timestamp,
          utxoCount: count.meta({ description: 'Size of its UTXO set; 0 at genesis' }),
        }),
      )
      .meta({
        description:
          'The bootstrap blocks of the index, each with its UTXO set, in the order of the chain. Of blocks before the first one, only their UTXOs are indexed; UTXOs and balances count from the last one',
      }),
    gaps: z
      .array(
        z.object({
          afterBlock: hash.meta({ description: 'Last chain block before the gap' }),
          beforeBlock: hash.meta({ description: 'First chain block after the gap, which is in `starts`' }),
          reason: z.string(),
          afterBlueScore: decimal.nullable(),
          beforeBlueScore: decimal.nullable(),
          afterTimestamp: timestamp.nullable(),
          beforeTimestamp: timestamp.nullable(),
          recordedAt: timestamp,
        }),
      )
      .meta({ description: 'Stretches of the chain that are not indexed' }),
    utxoSetLoad: z
      .object({ pruningPoint: hash, utxoCount: count.meta({ description: 'UTXOs loaded so far' }) })
      .nullable()
      .meta({
        description:
          'Progress of loading the UTXO set of the next bootstrap block; null if none is being loaded, and on a replica',
      }),
    nodeConnected: z.boolean(),
    nodeSynced: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether the node reports that it is synced; null while it is unavailable' }),
    version: z.string(),
  })
  .meta({ id: 'Status' });

export type StatusJson = z.infer<typeof status>;
