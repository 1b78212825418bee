/** Expected results about blocks, miners and the index itself. */
import { workFromBits } from '@kasgres/kaspa';
import { ANYTHING, type Cell } from '../cells.ts';
import type { Names } from '../names.ts';
import { percentOf, DAY_MS, groupBy, known, mean, percentile, sumOf, toKas, type History } from '../history.ts';
import { intervalsOf, latestDays } from './days.ts';

const MINUTE_MS = 60_000;

export function networkByDay(history: History): Cell[][] {
  return latestDays(history).map(({ day, blocks, transactions, fees, volume, active, fresh }) => [
    day,
    blocks,
    transactions,
    toKas(fees),
    toKas(volume),
    active,
    fresh,
  ]);
}

export function peakThroughput(history: History): Cell[][] {
  const minutes = intervalsOf(history, MINUTE_MS);
  const last = known(minutes.at(-1)).start.getTime();
  const ofDay = minutes.filter(({ start }) => start.getTime() > last - DAY_MS);
  const counts = ofDay.map(({ transactions }) => transactions);
  const all = counts.reduce((sum, count) => sum + count, 0);
  const most = Math.max(...counts);
  const busiest = known(ofDay.find(({ transactions }) => transactions === most));
  return [[all, all / 86_400, percentile(counts, 0.5) / 60, most / 60, busiest.start]];
}

export function whoMines({ chain }: History, names: Names): Cell[][] {
  const rewards = chain
    .slice(-1000)
    .flatMap(({ accepted }) => accepted.filter(({ isCoinbase }) => isCoinbase).flatMap(({ outputs }) => outputs));
  return [...groupBy(rewards, ({ address }) => known(address))]
    .map(([address, utxos]) => ({ address, count: utxos.length, earned: sumOf(utxos) }))
    .sort((a, b) => b.count - a.count || (a.address < b.address ? -1 : 1))
    .slice(0, 20)
    .map(({ address, count, earned }) => [
      address,
      names.of(address) ?? null,
      count,
      percentOf(count, rewards.length),
      toKas(earned),
    ]);
}

/** Work is twice the difficulty, in whole hashes. */
export function miningByDay(history: History): Cell[][] {
  const first = known(history.chain[0]).chainTime;
  return latestDays(history).map(({ start, day, blocks, reds, bits }) => {
    const work = bits.reduce((sum, some) => sum + Number(workFromBits(some)), 0);
    const passedMs = Math.min(start.getTime() + DAY_MS, history.sink.chainTime) - Math.max(start.getTime(), first);
    const hashRate = (work * 1000) / passedMs;
    return [day, blocks, reds, percentOf(reds, blocks), work / blocks / 2, hashRate];
  });
}

export function blockInterval({ chain }: History): Cell[][] {
  const times = chain.slice(-1001).map(({ time }) => time);
  const pauses = times.slice(1).map((time, place) => (time - known(times[place])) / 1000);
  const parts = [0.1, 0.5, 0.9, 0.99].map((part) => percentile(pauses, part));
  return [[pauses.length, mean(pauses), ...parts, Math.max(...pauses)]];
}

export function parallelism({ chain }: History): Cell[][] {
  const sizes = chain.slice(-1000).map(({ block }) => block.mergeSet.length);
  return [...groupBy(sizes, (size) => size)]
    .sort(([a], [b]) => a - b)
    .map(([size, of]) => [size, of.length, percentOf(of.length, sizes.length)]);
}

export function fateOfBlocks({ sink, blocks }: History): Cell[][] {
  const recent = blocks.filter(({ header }) => header.daaScore > sink.block.header.daaScore - 2000n);
  const fates = groupBy(recent, (block) => {
    if (block.chainIndex !== undefined) return 'on the chain';
    if (block.mergingBlock === undefined) return 'not merged';
    return block.mergingBlock.mergeSetReds.includes(block) ? 'merged, red' : 'merged, blue';
  });
  return [...fates]
    .sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1))
    .map(([fate, of]) => [
      fate,
      of.length,
      percentOf(of.length, recent.length),
      mean(of.map(({ transactions }) => transactions.length)),
      mean(of.map(({ parents }) => parents.length)),
    ]);
}

export function freshness({ chain, sink }: History): Cell[][] {
  const { header } = sink.block;
  return [['simnet', header.blueScore, new Date(sink.time), ANYTHING, 'f', new Date(known(chain[1]).time), 1, 0]];
}
