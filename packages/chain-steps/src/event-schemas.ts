/**
 * Schemas of the events of streams and webhooks. They describe them in openapi.json, from which the
 * client has its types, and give the types of what the statements select and of what is sent.
 */
import {
  address,
  count,
  dagBlock,
  decimal,
  errorEnvelope,
  hash,
  pendingTransaction,
  sompi,
  sompiDelta,
  timestamp,
} from '@kasgres/reads';
import { z } from 'zod';

const addedChainBlock = z
  .object({
    hash,
    selectedParentHash: hash,
    blueScore: decimal,
    daaScore: decimal,
    timestamp,
    mergeSetBluesHashes: z.array(hash).meta({ description: 'Selected parent first' }),
    mergeSetRedsHashes: z.array(hash),
    acceptedTransactionIds: z
      .array(hash)
      .optional()
      .meta({ description: 'In the order of acceptance; only with `include=accepted_ids`' }),
  })
  .meta({ id: 'AddedChainBlock' });

const chainChange = z
  .object({
    removed: z.array(hash).meta({ description: 'From the top down' }),
    added: z.array(addedChainBlock).meta({ description: 'From the bottom up' }),
    isCaughtUp: z.boolean().meta({ description: 'Whether the block that was reached is the sink' }),
  })
  .meta({ id: 'ChainChange' });

const accepted = {
  status: z.enum(['accepted', 'reverted', 'confirmed']),
  acceptingBlockHash: hash.meta({ description: 'For `reverted`, the block that had accepted the transaction' }),
  acceptingBlockBlueScore: decimal,
  confirmations: count.meta({ description: 'Blue scores since the accepting block; 0 for `reverted`' }),
};

const pending = {
  status: z.enum(['pending', 'dropped']),
  acceptingBlockHash: z.null(),
  acceptingBlockBlueScore: z.null(),
  confirmations: z.literal(0),
};

const ofAddress = {
  address,
  transactionId: hash,
  isCoinbase: z.boolean(),
  amountSent: sompi,
  amountReceived: sompi,
  balanceChange: sompiDelta.meta({ description: 'Received less sent, in sompi; subtract it for `reverted`' }),
};

const addressChange = z
  .object({
    ...ofAddress,
    ...accepted,
    balance: sompi.nullable().meta({
      description:
        'In sompi, at the id of the step; null while the stream is catching up, and during the first catch-up',
    }),
  })
  .meta({ id: 'AddressChange' });

const pendingAddressChange = z
  .object({ ...ofAddress, ...pending, balance: z.null() })
  .meta({ id: 'PendingAddressChange' });

const ofCovenant = {
  covenantId: hash,
  transactionId: hash,
  kind: z.enum(['genesis', 'transition', 'burn']),
  template: hash.nullable().meta({
    description:
      'The template that the covenant has after the event: that of the last program that its spends have revealed; null before the first',
  }),
};

const covenantChange = z.object({ ...ofCovenant, ...accepted }).meta({ id: 'CovenantChange' });

const pendingCovenantChange = z.object({ ...ofCovenant, ...pending }).meta({ id: 'PendingCovenantChange' });

const mempoolChange = z
  .union([
    z.object({
      added: z.array(pendingTransaction),
      removed: z.array(hash),
      isSnapshot: z.boolean().meta({ description: 'Whether `added` is the whole mempool, which comes first' }),
    }),
    z.object({ available: z.literal(false).meta({ description: 'The node does not respond' }) }),
  ])
  .meta({ id: 'MempoolChange' });

const id = hash.optional().meta({
  description: 'The chain block that the stream has reached: the last event of a step has it',
});

/** Events that belong to no step have no id. */
const stepEvent = <Event extends string, Data extends z.ZodType>(event: Event, data: Data) =>
  z.object({ event: z.literal(event), id, data });
const event = <Event extends string, Data extends z.ZodType>(event: Event, data: Data) =>
  z.object({ event: z.literal(event), data });

export const streamMessage = z
  .discriminatedUnion('event', [
    stepEvent('chain', chainChange),
    stepEvent('address', z.union([addressChange, pendingAddressChange])),
    stepEvent('covenant', z.union([covenantChange, pendingCovenantChange])),
    event('block', dagBlock),
    event('mempool', mempoolChange),
    z.object({
      event: z.literal('heartbeat'),
      id: hash,
      data: z.object({ sink: hash.meta({ description: 'That of the index' }), blueScore: decimal }),
    }),
    event('error', errorEnvelope),
  ])
  .meta({
    id: 'StreamMessage',
    description:
      'A message of a stream. In Server-Sent Events, `event` and `id` are fields, and `data` is JSON. A WebSocket sends the whole object.',
  });

const commandId = z.int().nullable().meta({ description: 'That of the command' });

export const webSocketMessage = z
  .union([
    streamMessage,
    event(
      'subscribed',
      z.object({
        id: commandId,
        addresses: count.meta({ description: 'Number of the addresses of the connection' }),
        covenants: count.meta({ description: 'Number of the covenants of the connection' }),
        template: hash.nullable(),
        cursor: hash.nullable().meta({ description: 'Null before the first subscription' }),
      }),
    ),
    event('error', errorEnvelope.extend({ id: commandId })),
  ])
  .meta({ id: 'WebSocketMessage' });

export const webhookMessage = z
  .object({
    type: z.enum(['kasgres.step', 'kasgres.test']).meta({ description: 'A test has no events' }),
    timestamp: z.iso.datetime(),
    data: z.object({
      previous: hash.meta({ description: 'The block that the step begins at' }),
      cursor: hash.meta({ description: 'The block that the step reaches' }),
      events: z.array(
        z.discriminatedUnion('event', [
          event('chain', chainChange),
          event('address', addressChange),
          event('covenant', covenantChange),
        ]),
      ),
    }),
  })
  .meta({ id: 'WebhookMessage', description: 'The body of a delivery' });

export type AddedChainBlockJson = z.infer<typeof addedChainBlock>;
export type AddressChangeJson = z.infer<typeof addressChange>;
export type CovenantChangeJson = z.infer<typeof covenantChange>;
export type WebSocketMessageJson = z.infer<typeof webSocketMessage>;
export type WebhookMessageJson = z.infer<typeof webhookMessage>;
