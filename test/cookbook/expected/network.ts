/** Expected results about blocks, supply, fees, transactions and the index itself, recomputed from the history of the demo network. */
import { workFromBits } from '@kasgres/kaspa';
import { ANYTHING, type Cell } from '../cells.ts';
import type { Names } from '../names.ts';
import {
  type ChainBlock,
  DAY_MS,
  type History,
  type Transaction,
  known,
  mean,
  outpoint,
  percentOf,
  percentile,
  recentPayments,
  sumOf,
  toKas,
} from '../history.ts';

const MINUTE_MS = 60_000;
/** The number of latest chain blocks that most queries read. */
const RECENT = 1000;

interface Interval {
  start: Date;
  /** `2025-06-16` */
  day: string;
  chainBlocks: ChainBlock[];
  blocks: number;
  reds: number;
  /** Bits of the merged blocks. */
  bits: number[];
  transactions: number;
  /** Sompi, as are all amounts. */
  fees: bigint;
  volume: bigint;
  minted: bigint;
  supply: bigint;
  active: number;
  fresh: number;
}

/** Returns the intervals that have a chain block, in order. */
function intervalsOf({ chain }: History, lengthMs = DAY_MS): Interval[] {
  const seen = new Set<string>();
  let supply = 0n;
  return [...Map.groupBy(chain, ({ chainTime }) => Math.floor(chainTime / lengthMs))].map(([place, chainBlocks]) => {
    const merged = chainBlocks.flatMap(({ block }) => block.mergeSet);
    const accepted = chainBlocks.flatMap((chainBlock) => chainBlock.accepted);
    const payments = accepted.filter(({ isCoinbase }) => !isCoinbase);
    const touched = new Set(
      accepted.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map((utxo) => utxo?.script ?? '')),
    );
    const fresh = [...touched].filter((script) => !seen.has(script));
    for (const script of fresh) seen.add(script);
    const fees = payments.reduce((sum, { fee }) => sum + fee, 0n);
    const minted = accepted.reduce(
      (sum, { isCoinbase, outputs, fee }) => sum + (isCoinbase ? sumOf(outputs) : -fee),
      0n,
    );
    supply += minted;
    const start = new Date(place * lengthMs);
    return {
      start,
      day: start.toISOString().slice(0, 10),
      chainBlocks,
      blocks: merged.length,
      reds: chainBlocks.reduce((sum, { block }) => sum + block.mergeSetReds.length, 0),
      bits: merged.map(({ header }) => header.bits),
      transactions: payments.length,
      fees,
      volume: payments.reduce((sum, { outputs }) => sum + sumOf(outputs), 0n),
      minted,
      supply,
      active: touched.size,
      fresh: fresh.length,
    };
  });
}

/** Returns the days with a merged block, latest first. The day of genesis has none. */
function latestDays(history: History): Interval[] {
  const days = intervalsOf(history).filter(({ blocks }) => blocks > 0);
  return days.reverse().slice(0, 30);
}

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
    .slice(-RECENT)
    .flatMap(({ accepted }) => accepted.filter(({ isCoinbase }) => isCoinbase).flatMap(({ outputs }) => outputs));
  return [...Map.groupBy(rewards, ({ address }) => known(address))]
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
  const sizes = chain.slice(-RECENT).map(({ block }) => block.mergeSet.length);
  return [...Map.groupBy(sizes, (size) => size)]
    .sort(([a], [b]) => a - b)
    .map(([size, of]) => [size, of.length, percentOf(of.length, sizes.length)]);
}

export function fateOfBlocks({ sink, blocks }: History): Cell[][] {
  const recent = blocks.filter(({ header }) => header.daaScore > sink.block.header.daaScore - 2000n);
  const fates = Map.groupBy(recent, (block) => {
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
  const recent = recentPayments(history, RECENT);
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

export function activeAndNewAddresses(history: History): Cell[][] {
  return latestDays(history).map(({ day, active, fresh }) => [
    day,
    active,
    fresh,
    active - fresh,
    percentOf(fresh, active),
  ]);
}

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
  return [...Map.groupBy(recent, ({ inputs, outputs }) => `${inputs.length} ${outputs.length}`)]
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
  return [...Map.groupBy(recent, ({ blocks }) => blocks.length)]
    .sort(([a], [b]) => a - b)
    .map(([blocks, of]) => [blocks, of.length, percentOf(of.length, recent.length), (blocks - 1) * of.length]);
}

export function neverAccepted(history: History): Cell[][] {
  const carried = new Set<Transaction>();
  const merged = new Set(history.chain.slice(-RECENT).flatMap(({ block }) => block.mergeSet));
  for (const transaction of history.transactions.values()) {
    if (!transaction.isCoinbase && transaction.blocks.some((block) => merged.has(block))) carried.add(transaction);
  }
  const outcomes = Map.groupBy(carried, ({ acceptedBy, inputs }) => {
    if (acceptedBy !== undefined) return 'accepted';
    const isDoubleSpend = inputs.some((utxo) => utxo !== undefined && history.spentBy.has(outpoint(utxo)));
    return isDoubleSpend ? 'a UTXO was spent by another' : 'not valid otherwise';
  });
  return [...outcomes]
    .sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1))
    .map(([outcome, of]) => [outcome, of.length, percentOf(of.length, carried.size)]);
}
