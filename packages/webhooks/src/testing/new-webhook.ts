import type { NewWebhook } from '../store.ts';

/** Returns a webhook for events of the chain. @param cursor hash of the block to begin after */
export const newWebhook = (keyId: bigint, cursor: string): NewWebhook => ({
  keyId,
  url: 'https://example.org/',
  events: ['chain'],
  addresses: [],
  covenants: [],
  template: undefined,
  confirmations: undefined,
  withIds: false,
  cursor,
  secret: Buffer.alloc(60),
});
