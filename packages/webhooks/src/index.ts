/** Webhooks as the API stores them; the program is main.ts. */
export { testBodyOf } from './deliverer.ts';
export { sharedVariables, webhooksEnvSchema } from './env.ts';
export { createSecret, formatSecret, type SecretBox, secretBoxOpener, SecretKeyError } from './secrets.ts';
export { type Delivery, type Webhook, WEBHOOK_EVENTS, type WebhookChanges, WebhookStore } from './store.ts';
export { type AllowedRange, checkUrl, TargetError } from './targets.ts';
