import { NO_SUBSCRIPTION } from '@kasgres/chain-steps';
import { expect, test } from 'vitest';
import type { ActiveWebhook } from './queue.ts';
import { toGroups } from './reading-turns.ts';

const webhook = (id: number, keyId: number, cursor = 'a') =>
  ({ id: BigInt(id), keyId: BigInt(keyId), cursor }) as ActiveWebhook;

/**
 * Returns the ids of each group, of webhooks whose numbers of confirmations are their ids modulo
 * 10.
 */
const groupsOf = (webhooks: readonly ActiveWebhook[], addresses = 1) =>
  toGroups(webhooks, ({ id }) => ({
    ...NO_SUBSCRIPTION,
    events: new Set(['address']),
    addresses: new Set(Array.from({ length: addresses }, (_, index) => `kaspa:${index}`)),
    confirmations: Number(id % 10n),
  })).map((group) => group.webhooks.map(({ id }) => Number(id)));

test('webhooks at one cursor share a group, if they have few addresses and numbers of confirmations together', () => {
  expect(groupsOf([webhook(1, 1), webhook(11, 2), webhook(2, 3), webhook(3, 1, 'b')])).toEqual([[1, 11, 2], [3]]);
  expect(groupsOf([webhook(1, 1), webhook(2, 2)], 1500)).toEqual([[1], [2]]);
});

test('webhooks of one key share a group with any number of addresses, and have groups of four numbers of confirmations', () => {
  const ofKey = Array.from({ length: 20 }, (_, id) => webhook(id, 1));
  expect(groupsOf(ofKey, 1500)).toEqual([
    [8, 9, 18, 19],
    [0, 1, 2, 3, 10, 11, 12, 13],
    [4, 5, 6, 7, 14, 15, 16, 17],
  ]);
});
