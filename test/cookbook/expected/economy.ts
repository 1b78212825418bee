/** Supply, fees, and how UTXOs are spread on the demo network. */
import type { Cell } from '../cells.ts';
import type { Names } from '../names.ts';
import { percentOf, percentile, recentPayments, toKas, type History } from '../history.ts';
import { addressesOf, richest } from './addresses.ts';
import { latestDays } from './days.ts';

export function supplyAndEmission(history: History): Cell[][] {
  return latestDays(history).map(({ day, supply, minted }) => {
    const before = supply - minted;
    const growth = before === 0n ? null : percentOf(minted, before);
    return [day, toKas(supply), toKas(minted), growth, growth === null ? null : 365 * growth];
  });
}

export function feesAndRevenue(history: History): Cell[][] {
  return latestDays(history).map(({ day, transactions, fees, minted }) => [
    day,
    toKas(fees),
    toKas(fees) / transactions,
    toKas(minted),
    percentOf(fees, fees + minted),
  ]);
}

export function feePercentiles(history: History): Cell[][] {
  const recent = recentPayments(history, 1000);
  const columns = [
    recent.map(({ fee }) => Number(fee)),
    recent.map(({ fee, body }) => Number(fee) / Math.max(Number(body.computeMass), Number(body.storageMass), 1)),
    recent.map(({ body }) => Number(body.computeMass)),
    recent.map(({ body }) => Number(body.storageMass)),
  ];
  return [1, 10, 25, 50, 75, 90, 99, 100].map((percent) => [
    percent,
    ...columns.map((values) => percentile(values, percent / 100)),
  ]);
}

export function velocity(history: History): Cell[][] {
  return latestDays(history).map(({ day, volume, supply }) => [
    day,
    toKas(volume),
    toKas(supply),
    Number(volume) / Number(supply),
  ]);
}

const supplyOf = ({ utxos }: History): bigint => utxos.reduce((sum, { amount }) => sum + amount, 0n);

export function richList(history: History, names: Names): Cell[][] {
  return richest(history)
    .slice(0, 20)
    .map(({ address, balance }, place) => [
      place + 1,
      address,
      names.of(address) ?? null,
      toKas(balance),
      percentOf(balance, supplyOf(history)),
    ]);
}

/** By the definition: the mean difference of all pairs, by twice the mean. */
export function gini(history: History): Cell[][] {
  const balances = [...addressesOf(history).values()]
    .map(({ balance }) => toKas(balance))
    .filter((balance) => balance > 0);
  const total = balances.reduce((sum, balance) => sum + balance, 0);
  let differences = 0;
  for (const one of balances) for (const other of balances) differences += Math.abs(one - other);
  const sorted = balances.toSorted((a, b) => b - a);
  const held = (count: number): number =>
    percentOf(
      sorted.slice(0, count).reduce((sum, balance) => sum + balance, 0),
      total,
    );
  return [[balances.length, differences / (2 * balances.length * total), held(10), held(100), held(1000)]];
}
