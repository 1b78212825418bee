import { blake2b256 } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import { expect, test } from 'vitest';
import { StateChanges } from '../state-changes.ts';
import { Reveals, reveals } from './reveals.ts';

test('a variant that becomes known may reveal more programs than a function may have arguments', async () => {
  const row = {
    transaction: 1,
    input: 0,
    chainIndex: 1,
    chainTime: 1n,
    position: 0,
    fee: 0n,
    signatureScript: Buffer.from('0151', 'hex'),
    script: Buffer.concat([Buffer.from('aa20', 'hex'), blake2b256(Buffer.from('51', 'hex')), Buffer.from('87', 'hex')]),
    covenantId: null,
  };
  const rows = Array.from({ length: 200_000 }, () => row);
  const client = { query: () => Promise.resolve({ rows }) } as unknown as ClientBase;
  const changes = new StateChanges({ checkpoint: 1, fork: 1, forkTime: 0n, to: 2, firstTransaction: 1 });
  changes.of(Reveals).settled = [{ transaction: 1, variant: 1 }];
  await reveals.read?.(client, changes);
  expect(changes.of(Reveals).found).toHaveLength(rows.length);
});
