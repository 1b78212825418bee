/**
 * Transactions that the node takes into its mempool, the words in which it refuses others, and
 * those that leave it again.
 */
import { toHex, type Transaction, transactionId } from '@kasgres/kaspa';
import { beforeEach, describe, expect, test } from 'vitest';
import type { DagTransaction } from '../../dag/dag.ts';
import type { UtxoEntry } from '../../economy/utxo.ts';
import { createdEntries } from '../../economy/utxo.ts';
import { withOtherSignatures } from '../../economy/signatures.ts';
import { blockOn, FEE, nodeWithUtxos, payment, scriptOf } from '../testing/hand-made.ts';
import { SMALL_PARAMS } from '../testing/small-simulated-dag.ts';
import type { SimulatedNode } from './simulated-node.ts';

const POOL = { includeOrphanPool: false, filterTransactionPool: false };
const ORPHANS = { includeOrphanPool: true, filterTransactionPool: true };
const alice = scriptOf(10);
const bob = scriptOf(11);

let node: SimulatedNode;
let utxos: UtxoEntry[];

beforeEach(() => {
  ({ node, utxos } = nodeWithUtxos());
});

describe('a payment', () => {
  test('is in the pool, under sender and recipient, until a block contains it', () => {
    const paid = payment(utxos[0], alice);
    expect(toHex(node.submitTransaction(paid, false))).toBe(id(paid));
    expect(node.findMempoolEntry(id(paid), POOL)).toMatchObject({ fee: BigInt(FEE), isOrphan: false });
    expect(node.findMempoolEntry(id(paid), ORPHANS)).toBeUndefined();
    expect(idsOf(node.mempoolEntriesByScript(alice, POOL).receiving)).toEqual([id(paid)]);
    expect(idsOf(node.mempoolEntriesByScript(scriptOf(1), POOL).sending)).toEqual([id(paid)]);
    node.receive(blockOn(node, { payments: [paid] }));
    expect(node.mempoolEntries(POOL)).toEqual([]);
  });

  test('leaves the pool with its dependants when a block contains a conflicting transaction', () => {
    const paid = payment(utxos[0], alice);
    const onTop = payment(createdEntries(paid, 0, false)[0], bob);
    node.submitTransaction(paid, false);
    node.submitTransaction(onTop, false);
    expect(node.mempoolEntries(POOL)).toHaveLength(2);
    node.receive(blockOn(node, { payments: [payment(utxos[0], bob)] }));
    expect(node.mempoolEntries(POOL)).toEqual([]);
  });

  test('gets the storage mass that it has to commit to', () => {
    const paid = payment(utxos[0], alice, 4_980_000_000);
    node.submitTransaction({ ...paid, storageMass: 1n }, false);
    expect(node.findMempoolEntry(id(paid), POOL)?.transaction.storageMass).toBe(paid.storageMass);
    expect(paid.storageMass).toBeGreaterThan(0n);
  });
});

test('an orphan waits for the transaction it spends', () => {
  const paid = payment(utxos[0], alice);
  const onTop = payment(createdEntries(paid, 0, false)[0], bob);
  node.submitTransaction(onTop, true);
  expect(node.findMempoolEntry(id(onTop), ORPHANS)).toMatchObject({ fee: 0n, isOrphan: true });
  expect(node.mempoolEntries(POOL)).toEqual([]);
  node.submitTransaction(paid, false);
  expect(idsOf(node.mempoolEntries(POOL))).toEqual([id(paid), id(onTop)]);
  expect(node.mempoolEntries(ORPHANS)).toEqual([]);
});

test('a template contains the payments that spend UTXOs, not their dependants', () => {
  const paid = payment(utxos[0], alice);
  node.submitTransaction(paid, false);
  node.submitTransaction(payment(createdEntries(paid, 0, false)[0], bob), false);
  const { header, transactions } = node.blockTemplate(bob, Buffer.from('me'));
  expect(transactions).toHaveLength(2);
  expect(Buffer.from(transactions[0]?.payload ?? []).toString('latin1')).toContain('2.1.0/me');
  expect(node.submitBlock(header, transactions)).toBe('accepted');
  expect(node.balance(alice)).toBe((utxos[0]?.amount ?? 0n) - BigInt(FEE));
  expect(node.mempoolEntries(POOL)).toHaveLength(1);
});

describe('a refused transaction', () => {
  test.each<[string, () => Transaction, string]>([
    [
      'what is there already',
      () => {
        node.submitTransaction(payment(utxos[0], alice), false);
        return payment(utxos[0], alice);
      },
      'transaction ID is already in the mempool',
    ],
    [
      'a transaction of a block',
      () => {
        node.receive(blockOn(node, { payments: [payment(utxos[0], alice)] }));
        return payment(utxos[0], alice);
      },
      'transaction ID was already accepted by the consensus',
    ],
    [
      'a double spend',
      () => {
        node.submitTransaction(payment(utxos[0], bob), false);
        return payment(utxos[0], alice);
      },
      'output OUTPOINT already spent by transaction OTHER in the mempool',
    ],
    [
      'an orphan where none is wanted',
      () => payment(createdEntries(payment(utxos[0], alice), 0, false)[0], bob),
      'transaction ID is an orphan where orphan is disallowed',
    ],
    [
      'a broken signature',
      () => withOtherSignatures(payment(utxos[0], alice), { broken: true }),
      'failed to verify the signature script: false stack entry at end of script execution',
    ],
    [
      'a fee that is too low',
      () => payment(utxos[0], alice, 1),
      'transaction ID is not standard: transaction has 1 fees which is under the required amount of 162400 for compute mass 1624',
    ],
    [
      'a script that is no address',
      () => payment(utxos[0], { version: 0, script: Uint8Array.of(0x51) }),
      'transaction ID is not standard: transaction output #0: non-standard script form',
    ],
    [
      'what spends more than it has',
      () => payment(utxos[0], alice, -1),
      'transaction tries to spend 5000000001 while its total inputs amount is 5000000000',
    ],
    [
      'a young reward',
      () => payment(youngUtxo(), alice),
      'one of the transaction inputs spends an immature UTXO: transaction input #0 tried to spend coinbase outpoint OUTPOINT ' +
        "with daa score of 11\n    while the merging block daa score is 30 and the coinbase maturity period of 20 hasn't passed yet",
    ],
  ])('%s', (_, make, words) => {
    const transaction = make();
    const [input] = transaction.inputs;
    const outpoint = `(${toHex(input?.previousOutpoint.transactionId ?? new Uint8Array())}, ${input?.previousOutpoint.index})`;
    const own = toHex(transactionId(transaction));
    const other = idsOf(node.mempoolEntries(POOL))[0] ?? '';
    const reason = words.replace('ID', own).replace('OUTPOINT', outpoint).replace('OTHER', other);
    expect(() => node.submitTransaction(transaction, false)).toThrow(`Rejected transaction ${own}: ${reason}`);
  });
});

function youngUtxo(): UtxoEntry | undefined {
  const { utxos, virtual } = node.consensus;
  return utxos.values().find((utxo) => {
    return Number(utxo.blockDaaScore) + SMALL_PARAMS.coinbaseMaturity === virtual.daaScore + 1;
  });
}

function idsOf(entries: readonly { transaction: DagTransaction }[]): string[] {
  return entries.map(({ transaction }) => id(transaction));
}

function id({ transactionId }: DagTransaction): string {
  return toHex(transactionId);
}
