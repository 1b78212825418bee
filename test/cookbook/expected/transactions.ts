/** How transactions of the demo network got onto the chain, or did not. */
import type { Cell } from '../cells.ts';
import {
  percentOf,
  groupBy,
  known,
  mean,
  outpoint,
  percentile,
  recentPayments,
  type Transaction,
  type History,
} from '../history.ts';

const RECENT = 1000;

export function inclusionDelay(history: History): Cell[][] {
  const delays = recentPayments(history, RECENT).map(({ acceptedBy, blocks }) => {
    const first = Math.min(...blocks.map(({ header }) => Number(header.timestamp)));
    return (known(acceptedBy).time - first) / 1000;
  });
  const parts = [0.5, 0.9, 0.99].map((part) => percentile(delays, part));
  return [[delays.length, mean(delays), ...parts, Math.max(...delays)]];
}

export function transactionShapes(history: History): Cell[][] {
  const recent = recentPayments(history, RECENT);
  return [...groupBy(recent, ({ inputs, outputs }) => `${inputs.length} ${outputs.length}`)]
    .map(([shape, of]) => {
      const [inputs = 0, outputs = 0] = shape.split(' ').map(Number);
      return { inputs, outputs, count: of.length };
    })
    .sort((a, b) => b.count - a.count || a.inputs - b.inputs || a.outputs - b.outputs)
    .slice(0, 10)
    .map(({ inputs, outputs, count }) => [inputs, outputs, count, percentOf(count, recent.length)]);
}

export function doubleInclusion(history: History): Cell[][] {
  const recent = recentPayments(history, RECENT);
  return [...groupBy(recent, ({ blocks }) => blocks.length)]
    .sort(([a], [b]) => a - b)
    .map(([blocks, of]) => [blocks, of.length, percentOf(of.length, recent.length), (blocks - 1) * of.length]);
}

export function neverAccepted(history: History): Cell[][] {
  const carried = new Set<Transaction>();
  const merged = new Set(history.chain.slice(-RECENT).flatMap(({ block }) => block.mergeSet));
  for (const transaction of history.transactions.values()) {
    if (!transaction.isCoinbase && transaction.blocks.some((block) => merged.has(block))) carried.add(transaction);
  }
  const outcomes = groupBy(carried, ({ acceptedBy, inputs }) => {
    if (acceptedBy !== undefined) return 'accepted';
    const isDoubleSpend = inputs.some((utxo) => utxo !== undefined && history.spentBy.has(outpoint(utxo)));
    return isDoubleSpend ? 'a UTXO was spent by another' : 'not valid otherwise';
  });
  return [...outcomes]
    .sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1))
    .map(([outcome, of]) => [outcome, of.length, percentOf(of.length, carried.size)]);
}
