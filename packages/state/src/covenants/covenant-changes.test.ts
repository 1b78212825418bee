import { expect, test } from 'vitest';
import type { AcceptedTransaction, ChainBlock } from '../state-changes.ts';
import { Reveals } from '../reveals/reveals.ts';
import { MarkedSpends } from '../utxos/marked-spends.ts';
import { CovenantChanges, eventHours } from './covenant-changes.ts';

const A = Buffer.alloc(32, 0xa);
const B = Buffer.alloc(32, 0xb);
const HOUR = 3_600_000n;

const block = (index: number): ChainBlock => ({
  index,
  chainTime: BigInt(index) * HOUR,
  blocks: 1,
  redBlocks: 0,
  work: 1n,
});

interface Accepted {
  key: number;
  at: number;
  spends?: [transaction: number, index: number][];
  creates?: { covenantId: Buffer; amount: bigint }[];
}

/** Nothing but the covenants of a transaction matters here. */
function accepted({ key, at, spends = [], creates = [] }: Accepted): AcceptedTransaction {
  return {
    key,
    chainBlock: block(at),
    position: key,
    isCoinbase: false,
    deltas: new Map(),
    lane: undefined,
    acceptedVariant: 0,
    content: {
      version: 1,
      inputs: [],
      outputs: [],
      lockTime: 0n,
      subnetworkId: A,
      gas: 0n,
      payload: A,
      storageMass: 0n,
    },
    spent: spends.map(([transaction, index]) => ({ transaction, index, script: 1 })),
    created: creates.map((output, index) => {
      return { ...output, transaction: key, index, script: 1, blockDaaScore: 1n, isCoinbase: false };
    }),
  };
}

async function additionsOf(transactions: readonly AcceptedTransaction[], deleted: MarkedSpends['removed'] = []) {
  const changes = new CovenantChanges();
  const marked = new MarkedSpends();
  for (const transaction of transactions) {
    marked.addSpender(transaction);
    for (const utxo of transaction.created) marked.mark(utxo);
    changes.addOutputs(transaction);
  }
  marked.deletion = Promise.resolve(deleted);
  return changes.additions(await marked.find(), new Reveals());
}

test('a batch may create, move, split and end covenants', async () => {
  const additions = await additionsOf([
    accepted({
      key: 1,
      at: 1,
      creates: [
        { covenantId: A, amount: 10n },
        { covenantId: B, amount: 5n },
      ],
    }),
    accepted({
      key: 2,
      at: 1,
      spends: [[1, 0]],
      creates: [
        { covenantId: A, amount: 6n },
        { covenantId: A, amount: 3n },
      ],
    }),
    accepted({
      key: 3,
      at: 2,
      spends: [
        [1, 1],
        [2, 0],
      ],
    }),
  ]);
  const summary = additions.map(({ covenantId, balance, utxoCount, events }) => ({
    covenantId,
    balance,
    utxoCount,
    events: events.map(({ transaction, kind }) => [transaction, kind]),
  }));
  expect(summary.toSorted((a, b) => Buffer.compare(a.covenantId, b.covenantId))).toEqual([
    {
      covenantId: A,
      balance: 3n,
      utxoCount: 1,
      events: [
        [1, 'genesis'],
        [2, 'transition'],
        [3, 'burn'],
      ],
    },
    {
      covenantId: B,
      balance: 0n,
      utxoCount: 0,
      events: [
        [1, 'genesis'],
        [3, 'burn'],
      ],
    },
  ]);
});

test('UTXOs of earlier batches have the covenants of their rows', async () => {
  const row = { transaction: 7, index: 2, amount: 4n, covenantId: A, bareProgram: undefined };
  const [addition, ...others] = await additionsOf(
    [
      accepted({
        key: 9,
        at: 3,
        spends: [
          [6, 0],
          [7, 2],
        ],
      }),
    ],
    [row],
  );
  expect(others).toEqual([]);
  expect(addition).toMatchObject({ balance: -4n, utxoCount: -1, events: [{ kind: 'burn', transaction: 9 }] });
});

test('a removal restores what the first removed event found', () => {
  const changes = new CovenantChanges();
  const marked = new MarkedSpends();
  const first = {
    covenantId: A,
    chainTime: 2n * HOUR,
    kind: 'transition' as const,
    previousSeen: HOUR,
    previousTemplate: 3n,
  };
  changes.removedEvents = [
    first,
    { ...first, kind: 'burn', chainTime: 3n * HOUR, previousSeen: 2n * HOUR, previousTemplate: 4n },
  ];
  marked.restored.push({ transaction: 1, index: 0, amount: 9n, covenantId: A, bareProgram: undefined });
  expect(changes.removals(marked)).toEqual([
    { covenantId: A, balance: 9n, utxoCount: 1, eventCount: 2, previousSeen: HOUR, previousTemplate: 3n },
  ]);
  expect(eventHours([], changes.removedEvents)).toEqual([
    { hour: 2, kind: 'transition', events: -1 },
    { hour: 3, kind: 'burn', events: -1 },
  ]);
});
