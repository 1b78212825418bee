/** Steps along the chain, and the events that streams and webhooks make of them. */
export { type AddressChange } from './address-changes.ts';
export {
  type AddedChainBlockJson,
  streamMessage,
  webhookMessage,
  type WebhookMessageJson,
  webSocketMessage,
} from './event-schemas.ts';
export {
  countWatched,
  encoder,
  type EventName,
  EVENTS,
  eventsOf,
  type Message,
  messagesOf,
  NO_SUBSCRIPTION,
  requestFor,
  requestForAll,
  serves,
  type Sink,
  type Subscription,
  toMessage,
  watchesAddresses,
  watchesChanges,
  watchesCovenants,
} from './messages.ts';
export { readStep, type Step, type StepRequest } from './read-step.ts';
export { requireStart } from './require-start.ts';
