import { expect, it } from 'vitest';
import { rpcErrorKind } from './errors.ts';

const HASH = 'ab'.repeat(32);

it.each([
  [`cannot find header ${HASH}`, 'unknown-block'],
  [`cannot find full block ${HASH}`, 'pruned'],
  [`some data is missing for block ${HASH}`, 'pruned'],
  ['the queried hash does not have retention root on its chain', 'pruned'],
  ['the queried hash does not have retention root in its past', 'pruned'],
  ['consensus is currently in a transitional ibd state', 'ibd'],
  ['Block was not submitted: node is not synced', 'busy'],
  ['Block was not submitted: route is full', 'busy'],
  ['Block was not submitted: block is invalid', 'other'],
  [`Transaction ${HASH} not found`, 'not-found'],
  [`Block ${HASH} doesn't have any merger block.`, 'not-found'],
  ['Method unavailable. Run the node with the --utxoindex argument.', 'no-utxoindex'],
  ['Hex parsing error: Invalid character', 'other'],
  [`Rejected transaction ${HASH}: transaction is an orphan`, 'other'],
  ['', 'other'],
] as const)('%j is of kind %s', (message, kind) => {
  expect(rpcErrorKind(message)).toBe(kind);
});
