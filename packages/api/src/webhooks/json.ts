/** Webhooks and their deliveries as responses show them. */
import { eventsOf } from '@kasgres/chain-steps';
import { address, count, decimal, hash, timestamp } from '@kasgres/reads';
import { type Delivery, type Webhook, WEBHOOK_EVENTS } from '@kasgres/webhooks';
import { z } from 'zod';

export const webhookJson = z
  .object({
    id: decimal,
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    addresses: z.array(address),
    covenants: z.array(hash),
    template: hash.nullable(),
    confirmations: z.int().nullable(),
    status: z.enum(['active', 'disabled']),
    statusReason: z.string().nullable().meta({ description: 'Why it is disabled' }),
    cursor: hash.meta({ description: 'Everything up to this block was delivered' }),
    sequence: decimal.meta({ description: 'Number of the latest delivery' }),
    failures: count.meta({ description: 'Failed attempts since the last success' }),
    failingSince: timestamp.nullable(),
    nextAttemptAt: timestamp.nullable().meta({ description: 'Null without a pending delivery' }),
    createdAt: timestamp,
  })
  .meta({ id: 'Webhook' });

export const deliveryJson = z
  .object({
    id: decimal,
    sequence: decimal.nullable().meta({ description: 'Null for a test' }),
    cursor: hash.meta({ description: 'The block that the delivery reaches' }),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: count,
    statusCode: z.int().nullable().meta({ description: 'HTTP status of the latest attempt; null without a response' }),
    latencyMs: count.nullable(),
    error: z.string().nullable(),
    createdAt: timestamp,
    attemptedAt: timestamp.nullable(),
    deliveredAt: timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const time = (date: Date | null): number | null => date && date.getTime();

export const toWebhookJson = ({
  id,
  sequence,
  failingSince,
  nextAttemptAt,
  createdAt,
  withIds: _ids,
  revision: _revision,
  ...rest
}: Webhook) => ({
  id: String(id),
  sequence: String(sequence),
  failingSince: time(failingSince),
  nextAttemptAt: time(nextAttemptAt),
  createdAt: createdAt.getTime(),
  ...rest,
  // Addresses, covenants or a template may have been added since it was created.
  events: [...eventsOf(rest.events, rest)],
});

export const toDeliveryJson = ({ id, sequence, createdAt, attemptedAt, deliveredAt, ...rest }: Delivery) => ({
  id: String(id),
  sequence: sequence === null ? null : String(sequence),
  createdAt: createdAt.getTime(),
  attemptedAt: time(attemptedAt),
  deliveredAt: time(deliveredAt),
  ...rest,
});
