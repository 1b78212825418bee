import { expect, test } from 'vitest';
import { fromHex, toHex } from './format.ts';
import { classifySubnetwork, laneNamespace } from './subnetwork.ts';
import { COINBASE_SUBNETWORK, NATIVE_SUBNETWORK } from './transaction-id.ts';

const ZEROS = '00'.repeat(16);

/** The cases of the node's test `check_transaction_subnetwork_shape`. */
test.each([
  ['11223344', 'lane'],
  ['00000001', 'lane'],
  ['deadbeef', 'lane'],
  ['07010000', 'lane'],
  ['02000000', 'reserved'],
  ['ff000000', 'reserved'],
])('the id of namespace %s is of kind %s', (namespace, kind) => {
  const id = fromHex(namespace + ZEROS);
  expect(classifySubnetwork(id)).toBe(kind);
  const found = laneNamespace(id);
  expect(found && toHex(found)).toBe(kind === 'lane' ? namespace : undefined);
});

test('the ids of the protocol are no lanes', () => {
  expect(classifySubnetwork(NATIVE_SUBNETWORK)).toBe('native');
  expect(classifySubnetwork(COINBASE_SUBNETWORK)).toBe('coinbase');
  expect(laneNamespace(NATIVE_SUBNETWORK)).toBeUndefined();
});

test.each([
  ['a byte after the namespace', `11223344${'00'.repeat(7)}01${'00'.repeat(8)}`],
  ['a last byte', `11223344${'00'.repeat(15)}01`],
  ['nothing', ''],
  ['19 bytes', `11223344${'00'.repeat(15)}`],
  ['21 bytes', `11223344${'00'.repeat(17)}`],
])('an id with %s is invalid', (_, id) => {
  expect(classifySubnetwork(fromHex(id))).toBe('invalid');
  expect(laneNamespace(fromHex(id))).toBeUndefined();
});
