/** /v1/webhooks: each webhook belongs to the key that created it, and is a 404 for others. */
import { eventsOf, webhookMessage } from '@kasgres/chain-steps';
import { badRequest, decimal, hashInput, hexHashInput, HttpError, list, notFound, unavailable } from '@kasgres/reads';
import {
  checkUrl,
  createSecret,
  formatSecret,
  type SecretBox,
  SecretKeyError,
  TargetError,
  testBodyOf,
  type Webhook,
  WEBHOOK_EVENTS,
  type WebhookChanges,
} from '@kasgres/webhooks';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { callerOf } from '../http/request-identity.ts';
import { type RequestContext, route } from '../openapi/route.ts';
import { queryNumber } from '../pages/page-query.ts';
import { PAGE_COST } from '../resources/shared.ts';
import type { Services } from '../services.ts';
import {
  addressList,
  covenantList,
  requireOneChoice,
  requireWatched,
  subscriptionBody,
  toSubscription,
  type Watched,
} from '../stream/routes.ts';
import { deliveryJson, toDeliveryJson, toWebhookJson, webhookJson } from './json.ts';

const MAX_URL_LENGTH = 2000;
const MAX_DELIVERIES = 100;
/** A replica may lag behind the one that the block was read from. */
const UNKNOWN_CURSOR_MS = 2000;

const common = { tag: 'Webhook', cost: 0.1, requiresKey: true } as const;
const ofOne = {
  ...common,
  params: z.strictObject({
    id: z
      .string()
      .regex(/^\d{1,18}$/, 'must be the id of a webhook')
      .transform(BigInt)
      .meta({ description: 'Id of a webhook' }),
  }),
  errors: [404],
} as const;

const url = z.string().max(MAX_URL_LENGTH).meta({
  format: 'uri',
  description:
    'Where events are delivered: `https`, with a port of 443 or at least 1024, and reachable over the internet',
});

const secretJson = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
  .meta({ description: 'The secret of the signatures (Standard Webhooks). It is not shown again' });

const done = z.object({ id: decimal });

const keyOf = ({ apiKey }: FastifyRequest): bigint => {
  if (apiKey?.id == null) throw new HttpError(401, 'x-api-key is missing from header');
  return apiKey.id;
};

/** Only tests run without. */
function webhooksOf({ webhooks }: Services): NonNullable<Services['webhooks']> {
  if (webhooks === undefined) throw new Error('webhooks are not set up');
  return webhooks;
}

const unknown = (): HttpError => notFound('This key has no such webhook');

/** @throws HttpError 400 */
function requireUrl(services: Services, text: string): void {
  try {
    checkUrl(text, webhooksOf(services).allowed);
  } catch (error) {
    if (error instanceof TargetError) throw badRequest({ path: 'url', message: error.message });
    throw error;
  }
}

/** @throws HttpError 503 if the operator has not made the key of secrets available */
async function openSecrets({ services, request }: RequestContext): Promise<SecretBox> {
  try {
    return await webhooksOf(services).openSecrets();
  } catch (error) {
    if (!(error instanceof SecretKeyError)) throw error;
    request.log.error({ reason: error.message }, 'could not open the key of the secrets of webhooks');
    throw unavailable('Webhooks are not available: the operator must set WEBHOOK_SECRET_KEY', 60, error);
  }
}

/**
 * Returns the block to begin after.
 * @throws HttpError 404 if it is unknown, 409 if the chain cannot be followed from it
 */
async function cursorOf(
  { services, request }: RequestContext,
  from: Uint8Array | undefined,
  { template, ...given }: Watched,
): Promise<string> {
  const subscription = await toSubscription(services, { events: ['chain'], ...given, template: template ?? undefined });
  return (await services.streams.findStart(callerOf(request), from, subscription, UNKNOWN_CURSOR_MS)).cursor;
}

export const createWebhook = route(
  {
    ...common,
    method: 'POST',
    url: '/v1/webhooks',
    operationId: 'createWebhook',
    summary: 'Register a URL for events',
    description:
      'Delivers the steps of the stream to a URL: at least once, in order, signed as the Standard Webhooks specification says, and retried for three days (docs/webhooks.md).',
    body: z.strictObject({
      ...subscriptionBody,
      url,
      events: list(z.enum(WEBHOOK_EVENTS), WEBHOOK_EVENTS.length)
        .default(['chain'])
        .refine((events) => events.length > 0, 'must name at least one kind of event')
        .meta({
          description:
            'Kinds of events; with addresses, `address` is always one of them, and with covenants or a template `covenant`',
        }),
      include: z
        .enum(['accepted_ids'])
        .optional()
        .meta({ description: 'Adds the ids of accepted transactions to added chain blocks' }),
    }),
    response: z.object({ id: decimal, secret: secretJson }),
    callback: {
      name: 'delivery',
      url: '{$request.body#/url}',
      summary: 'A step of the chain, or a test',
      body: webhookMessage,
    },
    errors: [404, 409],
  },
  async (context, { body }) => {
    const { services, request } = context;
    const keyId = keyOf(request);
    requireUrl(services, body.url);
    requireWatched(body.events, body);
    const events = eventsOf(body.events, body);
    const secrets = await openSecrets(context);
    const secret = createSecret();
    const id = await webhooksOf(services).store.create({
      keyId,
      url: body.url,
      events: [...events],
      addresses: [...new Set(body.addresses)],
      covenants: [...new Set(body.covenants)],
      template: body.template,
      confirmations: body.confirmations,
      withIds: body.include !== undefined,
      cursor: await cursorOf(context, body.from, body),
      secret: secrets.encrypt(secret),
    });
    return { id: String(id), secret: formatSecret(secret) };
  },
);

export const listWebhooks = route(
  {
    ...common,
    cost: PAGE_COST,
    method: 'GET',
    url: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'The webhooks of the key',
    response: z.object({ webhooks: z.array(webhookJson) }),
  },
  async ({ services, request }) => ({
    webhooks: (await webhooksOf(services).store.list(keyOf(request))).map(toWebhookJson),
  }),
);

async function findWebhook({ services, request }: RequestContext, id: bigint): Promise<Webhook> {
  const [webhook] = await webhooksOf(services).store.list(keyOf(request), id);
  if (webhook === undefined) throw unknown();
  return webhook;
}

export const getWebhook = route(
  {
    ...ofOne,
    method: 'GET',
    url: '/v1/webhooks/:id',
    operationId: 'getWebhook',
    summary: 'A webhook',
    response: webhookJson,
  },
  async (context, { params: { id } }) => toWebhookJson(await findWebhook(context, id)),
);

export const updateWebhook = route(
  {
    ...ofOne,
    method: 'PATCH',
    url: '/v1/webhooks/:id',
    operationId: 'updateWebhook',
    summary: 'Change a webhook',
    description:
      'Changes apply from the next step on: a pending delivery keeps its content. A disabled webhook that is activated continues at its cursor.',
    body: z.strictObject({
      url: url.optional(),
      addresses: addressList.optional(),
      covenants: covenantList.optional(),
      template: hexHashInput.nullable().optional().meta({ description: 'Null for none' }),
      status: z.enum(['active', 'disabled']).optional(),
    }),
    response: webhookJson,
  },
  async (context, { params: { id }, body }) => {
    const { services, request } = context;
    if (body.url !== undefined) requireUrl(services, body.url);
    const changes = {
      ...body,
      addresses: body.addresses && [...new Set(body.addresses)],
      covenants: body.covenants && [...new Set(body.covenants)],
    };
    const checked = async (webhook: Webhook) => {
      await requireWatchable(services, webhook, changes);
      return changes;
    };
    if (!(await webhooksOf(services).store.update(keyOf(request), id, checked))) throw unknown();
    return toWebhookJson(await findWebhook(context, id));
  },
);

/** @throws HttpError 400 if a webhook cannot watch what these changes leave it with */
async function requireWatchable(services: Services, before: Webhook, changes: WebhookChanges): Promise<void> {
  const { addresses, covenants, template } = changes;
  if (addresses === undefined && covenants === undefined && template === undefined) return;
  const after = {
    addresses: addresses ?? before.addresses,
    covenants: covenants ?? before.covenants,
    template: (template === undefined ? before.template : template) ?? undefined,
  };
  requireOneChoice({ ...after, covenants: after.covenants.length }, template == null ? 'covenants' : 'template');
  await toSubscription(services, { events: before.events, ...after });
  requireWatched(before.events, after);
}

export const deleteWebhook = route(
  {
    ...ofOne,
    method: 'DELETE',
    url: '/v1/webhooks/:id',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook and its deliveries',
    response: done,
  },
  async ({ services, request }, { params: { id } }) => {
    if (!(await webhooksOf(services).store.delete(keyOf(request), id))) throw unknown();
    return { id: String(id) };
  },
);

export const rotateWebhookSecret = route(
  {
    ...ofOne,
    method: 'POST',
    url: '/v1/webhooks/:id/secret',
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook',
    description: 'The secret before signs deliveries, too, for 24 hours; earlier ones no longer do.',
    response: z.object({ id: decimal, secret: secretJson }),
  },
  async (context, { params: { id } }) => {
    const { services, request } = context;
    const secret = createSecret();
    const encrypted = (await openSecrets(context)).encrypt(secret);
    if (!(await webhooksOf(services).store.rotate(keyOf(request), id, encrypted))) throw unknown();
    return { id: String(id), secret: formatSecret(secret) };
  },
);

export const testWebhook = route(
  {
    ...ofOne,
    method: 'POST',
    url: '/v1/webhooks/:id/test',
    operationId: 'testWebhook',
    summary: 'Deliver a test',
    description:
      'Delivers `{"type": "kasgres.test", …}` without events, once, also to a disabled webhook. The outcome is in its deliveries. While a test is pending, returns that one instead of adding another.',
    response: z.object({ id: decimal, deliveryId: decimal }),
  },
  async ({ services, request }, { params: { id } }) => {
    const deliveryId = await webhooksOf(services).store.test(keyOf(request), id, testBodyOf);
    if (deliveryId === undefined) throw unknown();
    return { id: String(id), deliveryId: String(deliveryId) };
  },
);

export const replayWebhook = route(
  {
    ...ofOne,
    method: 'POST',
    url: '/v1/webhooks/:id/replay',
    operationId: 'replayWebhook',
    summary: 'Deliver again from a block',
    description: 'Moves the cursor to the block, and gives up the pending delivery.',
    body: z.strictObject({ from: hashInput.meta({ description: 'The block to continue after' }) }),
    response: webhookJson,
    errors: [404, 409],
  },
  async (context, { params: { id }, body: { from } }) => {
    const { services, request } = context;
    const cursorAfter = (webhook: Webhook) => cursorOf(context, from, webhook);
    if (!(await webhooksOf(services).store.replay(keyOf(request), id, cursorAfter))) throw unknown();
    return toWebhookJson(await findWebhook(context, id));
  },
);

export const listWebhookDeliveries = route(
  {
    ...ofOne,
    cost: PAGE_COST,
    method: 'GET',
    url: '/v1/webhooks/:id/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'The latest deliveries of a webhook, newest first',
    description: `The pending delivery, and the log of the latest ${MAX_DELIVERIES}.`,
    query: z.strictObject({
      limit: queryNumber(1, MAX_DELIVERIES, 'Number of deliveries').default(20),
    }),
    response: z.object({ deliveries: z.array(deliveryJson) }),
  },
  async ({ services, request }, { params: { id }, query: { limit } }) => {
    const deliveries = await webhooksOf(services).store.listDeliveries(keyOf(request), id, limit);
    if (deliveries === undefined) throw unknown();
    return { deliveries: deliveries.map(toDeliveryJson) };
  },
);
