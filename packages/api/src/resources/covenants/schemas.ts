/** Covenants and their events in responses. */
import { address, count, hash, hexBytes, outpoint, sompi, timestamp } from '@kasgres/reads';
import { z } from 'zod';
import { revealedProgram } from '../programs/schemas.ts';

const template = hash.nullable().meta({
  description:
    'Hash of the opcodes of the last program that a spend of one of its UTXOs revealed; null before the first. Bare scripts and programs that do not parse leave it',
});

export const covenant = z
  .object({
    covenantId: hash,
    isComplete: z.boolean().meta({
      description:
        'Whether all events since its genesis are counted: false if it began before the index or lived before a gap',
    }),
    genesis: z
      .object({
        transactionId: hash,
        previousOutput: outpoint.meta({ description: 'The outpoint to which the id commits' }),
        timestamp: timestamp.meta({ description: 'Time of the accepting block, Unix milliseconds' }),
      })
      .nullable()
      .meta({ description: 'Null if it began before the indexed blocks' }),
    isLive: z.boolean().meta({ description: 'Whether it has UTXOs' }),
    utxoCount: count,
    balance: sompi.meta({ description: 'Sum of its UTXOs in sompi' }),
    eventCount: count.meta({ description: 'Accepted transactions that spent or created UTXOs of it, as far as known' }),
    firstSeen: timestamp.meta({ description: 'Time of its first event, or of the bootstrap block that had it' }),
    lastSeen: timestamp.meta({ description: 'Time of its last event, or of the bootstrap block that changed it last' }),
    template,
  })
  .meta({ id: 'Covenant' });

export type CovenantJson = z.infer<typeof covenant>;

export const eventKind = z.enum(['genesis', 'transition', 'burn']);

const eventInput = z.object({
  index: count,
  previousOutput: outpoint,
  amount: sompi,
  program: revealedProgram
    .nullable()
    .meta({ description: 'The program that it reveals, or the bare script that it spends; null for other scripts' }),
});

const eventOutput = z.object({
  index: count,
  amount: sompi,
  scriptPublicKey: hexBytes.meta({ description: 'Script in hex, without its version' }),
  scriptPublicKeyAddress: address.nullable().meta({ description: 'Null for a non-standard script' }),
  spentBy: hash.nullable().meta({ description: 'Id of the accepted transaction that spends it' }),
});

export const covenantEvent = z
  .object({
    covenantId: hash,
    transactionId: hash,
    kind: eventKind.meta({
      description:
        '`genesis`: creates its first UTXOs; `transition`: spends UTXOs of it and creates others; `burn`: spends UTXOs and creates none',
    }),
    timestamp: timestamp.meta({ description: 'Time of the accepting block, Unix milliseconds' }),
    acceptingBlockHash: hash,
    inputs: z.array(eventInput).meta({ description: 'Inputs that spend UTXOs of the covenant' }),
    outputs: z.array(eventOutput).meta({ description: 'Outputs that are bound to the covenant' }),
  })
  .meta({ id: 'CovenantEvent' });

export type CovenantEventJson = z.infer<typeof covenantEvent>;
export type EventInputJson = z.infer<typeof eventInput>;
export type EventOutputJson = z.infer<typeof eventOutput>;
