/**
 * The result of every query of the cookbook, run as an analyst of an index of the demo network,
 * equals one recomputed from the DAG of the simulated node. docs/cookbook.md shows the results,
 * which are in cookbook/generated/results.json; `npm run generate:cookbook` writes both.
 */
import { readFileSync } from 'node:fs';
import { laneNamespace, SOMPI_PER_KAS, toHex, workFromBits } from '@kasgres/kaspa';
import {
  decodeInscriptions,
  isP2sh,
  readTemplateNames,
  revealedProgram,
  TEMPLATE_NAMES_FILE,
  type Use,
  USES as USES_OF_OPCODES,
} from '@kasgres/programs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Analyst, openAnalyst, type Response, type Text } from './analyst.ts';
import { type DemoIndex, openDemoIndex } from './demo-network.ts';
import { type History, known, outpoint, readHistory, sumOf, type Utxo } from './history.ts';
import { clustersAndNames, type Tag } from './names.ts';
import { scriptKey } from '../support/oracle.ts';
import { covenantEventsOf, covenantsOf, programsOf } from './programs.ts';
import { readRequests } from './requests.ts';

/** A cell of an expected result, with amounts in KAS. Undefined matches any value. */
type Cell = string | number | bigint | Date | null | undefined;

const TEMPLATE_NAMES = readTemplateNames(readFileSync(TEMPLATE_NAMES_FILE, 'utf8')).templates;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The number of latest chain blocks that most queries read. */
const RECENT = 1000;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const percentOf = (part: number, whole: number): number => (100 * part) / whole;
const toKas = (sompi: bigint): number => Number(sompi) / Number(SOMPI_PER_KAS);
const kasOf = (utxos: readonly Utxo[]): number => toKas(sumOf(utxos));
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Returns a percentile as percentile_disc of Postgres does. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return known(sorted[Math.max(Math.ceil((percent / 100) * sorted.length) - 1, 0)]);
}

const distributionOf = (values: readonly number[], percents: readonly number[]): Cell[] => [
  values.length,
  mean(values),
  ...percents.map((percent) => percentile(values, percent)),
  Math.max(...values),
];

/**
 * Returns rows or objects in descending order of one column, and equal ones in ascending order of
 * another.
 */
function ranked<T>(rows: Iterable<T>, descending: keyof T, ascending: keyof T): T[] {
  const compare = (a: T[keyof T], b: T[keyof T]) => (a < b ? -1 : a > b ? 1 : 0);
  return [...rows].sort((a, b) => compare(b[descending], a[descending]) || compare(a[ascending], b[ascending]));
}

type Share<Key> = [key: Key, count: number, percent: number, ...Cell[]];

/**
 * Returns a row for each group: its key, its size, its share of all items in percent, and further
 * cells.
 */
function shares<T, Key extends string | number>(
  items: readonly T[],
  keyOf: (item: T) => Key,
  furtherCells: (group: T[], key: Key) => Cell[] = () => [],
): Share<Key>[] {
  return [...Map.groupBy(items, keyOf)].map(([key, group]) => {
    return [key, group.length, percentOf(group.length, items.length), ...furtherCells(group, key)];
  });
}

/** Returns the number and amount of items below each limit, each with its share in percent. */
function inBands(items: readonly { value: number; kas: number }[], limits: Readonly<Record<string, number>>) {
  const bands = Object.entries(limits);
  const groups = Map.groupBy(items, ({ value }) => known(bands.find(([, limit]) => value <= limit))[0]);
  const kasIn = (group: typeof items): number => sum(group.map(({ kas }) => kas));
  return bands.flatMap(([label]) => {
    const group = groups.get(label);
    if (group === undefined) return [];
    const kas = kasIn(group);
    const percent = percentOf(group.length, items.length);
    return [{ label, count: group.length, percent, kas, percentOfKas: percentOf(kas, kasIn(items)) }];
  });
}

const AGES = {
  'up to 1 hour': HOUR_MS,
  'up to 6 hours': 6 * HOUR_MS,
  'up to 1 day': DAY_MS,
  'up to 2 days': 2 * DAY_MS,
  'up to 7 days': 7 * DAY_MS,
  'up to 30 days': 30 * DAY_MS,
  'up to 365 days': 365 * DAY_MS,
  longer: Number.POSITIVE_INFINITY,
};

const USES = {
  once: 1,
  twice: 2,
  '3 to 5 times': 5,
  '6 to 10 times': 10,
  '11 to 100 times': 100,
  'more often': Number.POSITIVE_INFINITY,
};

/** Returns totals of the intervals that have a chain block, in order. */
function intervalsOf({ chain }: History, lengthMs: number) {
  const seen = new Set<string>();
  let supply = 0;
  return [...Map.groupBy(chain, ({ chainTime }) => Math.floor(chainTime / lengthMs))].map(([number, chainBlocks]) => {
    const accepted = chainBlocks.flatMap((chainBlock) => chainBlock.accepted);
    const payments = accepted.filter(({ isCoinbase }) => !isCoinbase);
    const touched = accepted.flatMap(({ inputs, outputs }) => [...inputs.map(known), ...outputs]);
    const scripts = new Set(touched.map(({ script }) => script));
    const fresh = scripts.difference(seen).size;
    for (const script of scripts) seen.add(script);
    const fees = sum(payments.map(({ fee }) => toKas(fee)));
    const volume = kasOf(payments.flatMap(({ outputs }) => outputs));
    const minted = kasOf(accepted.flatMap(({ outputs }) => outputs)) - volume - fees;
    supply += minted;
    const blocks = chainBlocks.flatMap(({ block }) => block.mergeSet);
    const reds = chainBlocks.flatMap(({ block }) => block.mergeSetReds).length;
    const startMs = number * lengthMs;
    const totals = { transactions: payments.length, fees, volume, minted, supply, active: scripts.size, fresh };
    return { startMs, day: dayOf(startMs), blocks, reds, ...totals };
  });
}

/** Returns the UTXOs that accepted transactions spend and create of each address, in order. */
function activityOf({ chain }: History) {
  const activity = chain.flatMap((acceptedBy) =>
    acceptedBy.accepted.flatMap((transaction) => {
      const [inputs, outputs] = [transaction.inputs.map(known), transaction.outputs];
      const addresses = new Set([...inputs, ...outputs].flatMap((utxo) => utxo.address ?? []));
      return [...addresses].map((address) => {
        const isOwn = (utxo: Utxo): boolean => utxo.address === address;
        return { address, transaction, acceptedBy, spent: inputs.filter(isOwn), received: outputs.filter(isOwn) };
      });
    }),
  );
  return Map.groupBy(activity, ({ address }) => address);
}

const changeOf = (activity: readonly { spent: Utxo[]; received: Utxo[] }[]): number =>
  toKas(sumOf(activity.flatMap(({ received }) => received)) - sumOf(activity.flatMap(({ spent }) => spent)));

/** Returns everything that the expected results are computed from. */
function demoModel(history: History, tags: readonly Tag[]) {
  const recentChain = history.chain.slice(-RECENT);
  const covenantEvents = covenantEventsOf(history);
  const addresses = [...activityOf(history)].map(([address, activity]) => {
    return { address, activity, balance: changeOf(activity) };
  });
  const balances = new Map(addresses.map(({ address, balance }) => [address, balance]));
  const balanceOf = (held: Iterable<string>): number => sum([...held].map((address) => balances.get(address) ?? 0));
  const { clusters, ...names } = clustersAndNames(history, tags);
  const clustersWithBalances = clusters.map((cluster) => {
    return { ...cluster, size: cluster.members.size, balance: balanceOf(cluster.members) };
  });
  return {
    ...history,
    ...names,
    payments: history.chain.flatMap(({ accepted }) => accepted.filter(({ isCoinbase }) => !isCoinbase)),
    inscribed: inscriptionsOf(history),
    covenantEvents,
    covenants: covenantsOf(covenantEvents, history),
    programs: programsOf(history),
    recentChain,
    recentPayments: recentChain.flatMap(({ accepted }) => accepted.filter(({ isCoinbase }) => !isCoinbase)),
    minutes: intervalsOf(history, MINUTE_MS),
    /** Latest first. The day of genesis has no merged block. */
    days: intervalsOf(history, DAY_MS)
      .filter(({ blocks }) => blocks.length > 0)
      .reverse()
      .slice(0, 30),
    addresses: ranked(addresses, 'balance', 'address'),
    balanceOf,
    clusters: ranked(clustersWithBalances, 'balance', 'root'),
    supply: kasOf(history.utxos),
  };
}

/** Returns the names of a template in the file that is part of Kasgres, or null. */
function namesOfTemplate(template: string | undefined): string | null {
  const named = TEMPLATE_NAMES.filter((entry) => toHex(entry.template) === template).map(({ name }) => name);
  if (template === undefined) return null;
  return [...new Set(named)].sort().join(', ');
}

/** Decodes what the chain accepts. Variants of a transaction reveal the same programs. */
function inscriptionsOf({ chain }: History) {
  return chain.flatMap(({ accepted }) =>
    accepted.flatMap((transaction) => {
      const { body, inputs } = transaction;
      const programs = inputs.map((utxo, index) => {
        return utxo && revealedProgram(utxo.scriptPublicKey, known(body.inputs[index]).signatureScript);
      });
      const found = decodeInscriptions({ payload: body.payload, programs, sender: inputs[0]?.scriptPublicKey });
      return found.map((inscription) => ({ ...inscription, transaction }));
    }),
  );
}

const furtherInclusions = (group: readonly unknown[], blocks: number): Cell[] => [(blocks - 1) * group.length];

/** By the name of the query. */
const EXPECTED: Readonly<Record<string, (model: ReturnType<typeof demoModel>) => Cell[][]>> = {
  '01-network-by-day': ({ days }) =>
    days.map((of) => [of.day, of.blocks.length, of.transactions, of.fees, of.volume, of.active, of.fresh]),

  '02-peak-throughput': ({ minutes }) => {
    const lastDay = minutes.filter(({ startMs }) => startMs > known(minutes.at(-1)).startMs - DAY_MS);
    const counts = lastDay.map(({ transactions }) => transactions);
    const busiest = known(ranked(lastDay, 'transactions', 'startMs')[0]);
    const total = sum(counts);
    const seconds = (known(lastDay.at(-1)).startMs - known(lastDay[0]).startMs + MINUTE_MS) / 1000;
    const perSecond = [total / seconds, percentile(counts, 50) / 60, busiest.transactions / 60];
    return [[total, ...perSecond, new Date(busiest.startMs)]];
  },

  '03-who-mines': ({ recentChain, nameOf }) => {
    const coinbases = recentChain.flatMap(({ accepted }) => accepted.filter(({ isCoinbase }) => isCoinbase));
    const rewards = coinbases.flatMap(({ outputs }) => outputs);
    const miners = shares(
      rewards,
      ({ address = '' }) => address,
      (group) => [kasOf(group)],
    );
    const top = ranked(miners, 1, 0).slice(0, 20);
    return top.map(([address, ...figures]) => [address, nameOf(address), ...figures]);
  },

  // Work is twice the difficulty, in whole hashes.
  '04-mining-by-day': ({ chain, sink, days }) =>
    days.map(({ startMs, day, blocks: { length }, blocks, reds }) => {
      const work = sum(blocks.map(({ header }) => Number(workFromBits(header.bits))));
      const passedMs = Math.min(startMs + DAY_MS, sink.chainTime) - Math.max(startMs, known(chain[0]).chainTime);
      return [day, length, reds, percentOf(reds, length), work / length / 2, (work * 1000) / passedMs];
    }),

  '05-block-interval': ({ chain }) => {
    const times = chain.slice(-RECENT - 1).map(({ time }) => time);
    const intervals = times.slice(1).map((time, index) => (time - known(times[index])) / 1000);
    return [distributionOf(intervals, [10, 50, 90, 99])];
  },

  '06-supply-and-emission': ({ days }) =>
    days.map(({ day, supply, minted }) => {
      const growth = supply === minted ? null : percentOf(minted, supply - minted);
      return [day, supply, minted, growth, growth && 365 * growth];
    }),

  '07-fees-and-revenue': ({ days }) =>
    days.map(({ day, transactions, fees, minted }) => {
      return [day, fees, fees / transactions, minted, percentOf(fees, fees + minted)];
    }),

  '08-fee-percentiles': ({ recentPayments }) => {
    const masses = recentPayments.map(({ body }) => [Number(body.computeMass), Number(body.storageMass)] as const);
    const fees = recentPayments.map(({ fee }) => Number(fee));
    const feeRates = fees.map((fee, index) => fee / Math.max(...known(masses[index]), 1));
    const columns = [fees, feeRates, masses.map(([compute]) => compute), masses.map(([, storage]) => storage)];
    const percents = [1, 10, 25, 50, 75, 90, 99, 100];
    return percents.map((percent) => [percent, ...columns.map((values) => percentile(values, percent))]);
  },

  '09-velocity': ({ days }) => days.map(({ day, volume, supply }) => [day, volume, supply, volume / supply]),

  '10-rich-list': ({ addresses, supply, nameOf }) =>
    addresses.slice(0, 20).map(({ address, balance }, index) => {
      return [index + 1, address, nameOf(address), balance, percentOf(balance, supply)];
    }),

  // By definition: the mean difference of all pairs divided by twice the mean.
  '11-gini': ({ addresses }) => {
    const balances = addresses.map(({ balance }) => balance).filter((balance) => balance > 0);
    const total = sum(balances);
    let differences = 0;
    for (const one of balances) for (const other of balances) differences += Math.abs(one - other);
    const held = [10, 100, 1000].map((count) => percentOf(sum(balances.slice(0, count)), total));
    return [[balances.length, differences / (2 * balances.length * total), ...held]];
  },

  '12-active-and-new-addresses': ({ days }) =>
    days.map(({ day, active, fresh }) => [day, active, fresh, active - fresh, percentOf(fresh, active)]),

  '13-dormancy': ({ addresses, sink }) => {
    const ages = addresses.map(({ activity, balance }) => {
      return { value: sink.chainTime - known(activity.at(-1)).acceptedBy.chainTime, kas: balance };
    });
    const held = ages.filter(({ kas }) => kas > 0);
    return inBands(held, AGES).map(({ label, count, kas, percentOfKas }) => [label, count, kas, percentOfKas]);
  },

  '14-age-of-utxos': ({ utxos, sink }) => {
    const ages = utxos.map(({ acceptedBy, amount }) => {
      return { value: sink.chainTime - acceptedBy.chainTime, kas: toKas(amount) };
    });
    return inBands(ages, AGES).map(({ label, count, kas, percentOfKas }) => [label, count, kas, percentOfKas]);
  },

  '15-address-reuse': ({ addresses }) => {
    const uses = addresses.map(({ activity }) => {
      const paid = activity.map(({ received }) => received).filter((received) => received.length > 0);
      return { value: paid.length, kas: kasOf(paid.flat()) };
    });
    const paid = uses.filter(({ value }) => value > 0);
    return inBands(paid, USES).map(({ label, count, percent, kas }) => [label, count, percent, kas]);
  },

  '16-largest-transfers': ({ recentPayments, nameOf }) => {
    const transfers = recentPayments.flatMap(({ id, inputs, outputs, acceptedBy }) => {
      const senders = new Set(inputs.map((utxo) => known(utxo).script));
      const others = outputs.filter(({ script }) => !senders.has(script));
      return [...Map.groupBy(others, ({ script }) => script).values()].map((utxos) => {
        const [{ address = null } = {}] = utxos;
        const name = address === null ? null : nameOf(address);
        return [new Date(known(acceptedBy).time), id, address, name, kasOf(utxos)] as const;
      });
    });
    const byAmount = transfers.toSorted((a, b) => b[4] - a[4]);
    return byAmount.slice(0, 10).map((cells) => [...cells]);
  },

  '17-balance-history': ({ addresses }) => {
    const { activity } = known(addresses[0]);
    const byTime = activity.toSorted((a, b) => a.acceptedBy.time - b.acceptedBy.time);
    let balance = 0;
    const days = [...Map.groupBy(byTime, ({ acceptedBy }) => dayOf(acceptedBy.time))].map(([day, ofDay]) => {
      const change = changeOf(ofDay);
      balance += change;
      return [day, change, balance];
    });
    return days.reverse().slice(0, 30);
  },

  '18-movers': ({ chain, addresses, nameOf }) => {
    const dayAgo = Math.max(...chain.map(({ time }) => time)) - DAY_MS;
    return addresses.slice(0, 10).map(({ address, balance, activity }) => {
      const before = changeOf(activity.filter(({ acceptedBy }) => acceptedBy.time <= dayAgo));
      const change = balance - before;
      return [address, nameOf(address), balance, change, before === 0 ? null : percentOf(change, before)];
    });
  },

  '19-flow-between-two': ({ addresses }) => {
    const two = addresses.slice(0, 2).sort((a, b) => (a.address < b.address ? -1 : 1));
    return two.flatMap((sender) => {
      const receiver = known(two.find((other) => other !== sender));
      const payments = receiver.activity.filter(({ transaction, received }) => {
        return received.length > 0 && transaction.inputs.some((utxo) => utxo?.address === sender.address);
      });
      if (payments.length === 0) return [];
      const times = payments.map(({ acceptedBy }) => acceptedBy.time);
      const [first, last] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
      const kas = kasOf(payments.flatMap(({ received }) => received));
      return [[sender.address, receiver.address, payments.length, kas, first, last]];
    });
  },

  '20-spent-together': ({ clusters, addresses }) => {
    const { root } = known(clusters[0]);
    const { activity } = known(addresses.find(({ address }) => address === root));
    const spent = activity
      .filter((of) => of.spent.length > 0)
      .flatMap(({ transaction, acceptedBy }) =>
        transaction.inputs.map((utxo) => ({ ...known(utxo), transaction, time: acceptedBy.time })),
      );
    const others = spent.filter(({ address }) => address !== undefined && address !== root);
    const rows = [...Map.groupBy(others, ({ address = '' }) => address)].map(([address, utxos]) => {
      const transactions = new Set(utxos.map(({ transaction }) => transaction)).size;
      const last = new Date(Math.max(...utxos.map(({ time }) => time)));
      return [address, transactions, kasOf(utxos), last] satisfies Cell[];
    });
    return ranked(rows, 1, 0).slice(0, 10);
  },

  '21-inclusion-delay': ({ recentPayments }) => {
    const delays = recentPayments.map(({ acceptedBy, blocks }) => {
      const first = Math.min(...blocks.map(({ header }) => Number(header.timestamp)));
      return (known(acceptedBy).time - first) / 1000;
    });
    return [distributionOf(delays, [50, 90, 99])];
  },

  '22-transaction-shapes': ({ recentPayments }) => {
    const shapes = shares(recentPayments, ({ inputs, outputs }) => inputs.length * 1000 + outputs.length);
    return ranked(shapes, 1, 0)
      .slice(0, 10)
      .map(([shape, ...figures]) => [Math.floor(shape / 1000), shape % 1000, ...figures]);
  },

  '23-double-inclusion': ({ recentPayments }) => {
    return shares(recentPayments, ({ blocks }) => blocks.length, furtherInclusions).sort(([a], [b]) => a - b);
  },

  '24-never-accepted': ({ recentChain, transactions, spentBy }) => {
    const merged = new Set(recentChain.flatMap(({ block }) => block.mergeSet));
    const carried = [...transactions.values()].filter(({ isCoinbase, blocks }) => {
      return !isCoinbase && blocks.some((block) => merged.has(block));
    });
    const outcomes = shares(carried, ({ acceptedBy, inputs }) => {
      if (acceptedBy !== undefined) return 'accepted';
      const isDoubleSpend = inputs.some((utxo) => utxo !== undefined && spentBy.has(outpoint(utxo)));
      return isDoubleSpend ? 'a UTXO was spent by another' : 'not valid otherwise';
    });
    return ranked(outcomes, 1, 0);
  },

  '25-parallelism': ({ recentChain }) =>
    shares(recentChain, ({ block }) => block.mergeSet.length).sort(([a], [b]) => a - b),

  '26-fate-of-blocks': ({ sink, blocks }) => {
    const recent = blocks.filter(({ header }) => header.daaScore > sink.block.header.daaScore - 2000n);
    const fateOf = (block: (typeof blocks)[number]): string => {
      if (block.chainIndex !== undefined) return 'on the chain';
      if (block.mergingBlock === undefined) return 'not merged';
      return block.mergingBlock.mergeSetReds.includes(block) ? 'merged, red' : 'merged, blue';
    };
    const fates = shares(recent, fateOf, (group) => [
      mean(group.map(({ transactions }) => transactions.length)),
      mean(group.map(({ parents }) => parents.length)),
    ]);
    return ranked(fates, 1, 0);
  },

  '27-balances-by-tag': ({ tagOf, clusters, nameOf, balanceOf, supply }) => {
    const known = new Set([...tagOf.keys(), ...clusters.flatMap(({ members }) => [...members])]);
    const owners = [...Map.groupBy(known, nameOf)].filter(([name]) => name !== null);
    const rows = owners.map(([name, held]) => {
      const balance = balanceOf(held);
      return [name ?? '', held.length, balance, percentOf(balance, supply)] satisfies Cell[];
    });
    return ranked(rows, 2, 0).slice(0, 20);
  },

  '28-top-clusters': ({ clusters, clusterName, supply }) =>
    clusters.slice(0, 10).map((cluster) => {
      const { root, size, balance } = cluster;
      return [root, clusterName(cluster), size, balance, percentOf(balance, supply)];
    }),

  '29-why-together': ({ clusters, merges }) => {
    const { root } = known(ranked(clusters, 'size', 'root')[0]);
    const latest = merges.filter(({ cluster }) => cluster === root).slice(-10);
    return latest
      .reverse()
      .map((merge) => [merge.transaction.id, merge.address, merge.mergedAddress, merge.mergedCluster]);
  },

  '30-freshness': ({ chain, sink }) => [
    ['simnet', sink.block.header.blueScore, new Date(sink.time), undefined, 'f', new Date(known(chain[1]).time), 1, 0],
  ],

  '31-covenants-by-day': ({ covenantEvents, covenants }) => {
    const days = [...Map.groupBy(covenantEvents, ({ acceptedBy }) => dayOf(acceptedBy.chainTime))].reverse();
    return days.map(([day, events]) => {
      const count = (of: string): number => events.filter(({ kind }) => kind === of).length;
      const ended = covenants.filter(({ isLive, lastSeen }) => !isLive && dayOf(lastSeen) === day).length;
      return [day, count('genesis'), count('transition'), count('burn'), ended];
    });
  },

  '32-survival-of-covenants': ({ covenants, sink }) => {
    const lives = covenants.map(({ firstSeen, lastSeen, ...covenant }) => {
      const lived = (covenant.isLive ? sink.chainTime : lastSeen) - firstSeen;
      return { ...covenant, age: sink.chainTime - firstSeen, lived };
    });
    const rows = [...Map.groupBy(lives, ({ template }) => template)].map(([template, group]) => {
      const survived = [HOUR_MS, DAY_MS, 7 * DAY_MS].map((ms) => {
        const old = group.filter(({ age }) => age >= ms);
        return old.length === 0 ? null : percentOf(old.filter(({ lived }) => lived >= ms).length, old.length);
      });
      const live = group.filter(({ isLive }) => isLive).length;
      return { template: template ?? '~', cells: [group.length, live, ...survived], count: group.length };
    });
    return ranked(rows, 'count', 'template').map(({ template, cells }) => {
      const known = template === '~' ? undefined : template;
      return [known ?? null, namesOfTemplate(known), ...cells];
    });
  },

  '33-value-in-covenants': ({ covenantEvents, days }) => {
    const put = covenantEvents.map(({ created, spent, acceptedBy }) => {
      return { time: acceptedBy.chainTime, put: kasOf(created), taken: kasOf(spent) };
    });
    return days.map(({ startMs, day }) => {
      const before = put.filter(({ time }) => time < startMs + DAY_MS);
      const ofDay = before.filter(({ time }) => time >= startMs);
      const [total, fresh] = [before, ofDay].map((events) => ({
        put: sum(events.map((each) => each.put)),
        taken: sum(events.map((each) => each.taken)),
      }));
      return [day, known(fresh).put, known(fresh).taken, known(total).put - known(total).taken];
    });
  },

  '34-busiest-templates': ({ programs: { templates }, covenants }) =>
    ranked(templates, 'spends', 'template')
      .slice(0, 20)
      .map(({ template, spends, programs, firstSeen }) => {
        const held = covenants.filter((covenant) => covenant.template === template).length;
        return [template, namesOfTemplate(template), spends, programs.size, held, new Date(firstSeen)];
      }),

  '35-opcode-families-by-day': ({ programs: { spends } }) => {
    const families = Object.keys(USES_OF_OPCODES) as Use[];
    const notable = spends.filter(({ uses }) => uses.length > 0);
    const days = [...Map.groupBy(notable, ({ acceptedBy }) => dayOf(acceptedBy.chainTime))].reverse();
    return days.map(([day, ofDay]) => {
      return [day, ...families.map((family) => ofDay.filter(({ uses }) => uses.includes(family)).length)];
    });
  },

  '36-krc20-operations': ({ inscribed }) => {
    const ofTokens = inscribed.filter(({ protocol, tick }) => protocol === 'krc-20' && tick !== undefined);
    const rows = [...Map.groupBy(ofTokens, ({ tick = '' }) => tick)].map(([tick, operations]) => {
      const count = (name: string): number => operations.filter(({ operation }) => operation === name).length;
      const senders = new Set(operations.map(({ owner }) => owner && scriptKey(owner))).size;
      return [tick, operations.length, count('mint'), count('transfer'), senders] satisfies Cell[];
    });
    return ranked(rows, 1, 0).slice(0, 20);
  },

  '37-states-of-a-covenant': ({ covenantEvents, programs: { templateOf }, spentBy }) => {
    const recent = Map.groupBy(covenantEvents.slice(-1000), ({ covenantId }) => covenantId);
    const asked = known(
      ranked(
        [...recent].map(([id, { length }]) => ({ id, length })),
        'length',
        'id',
      )[0],
    ).id;
    const events = covenantEvents.filter(({ covenantId }) => covenantId === asked).reverse();
    const rows = events.flatMap(({ kind, transaction, acceptedBy, created }) => {
      const event = [new Date(acceptedBy.time), kind, transaction.id];
      if (created.length === 0) return [[...event, null, null, null, null, null]];
      return created.map((utxo) => {
        const { script } = utxo.scriptPublicKey;
        const program = isP2sh(utxo.scriptPublicKey) ? toHex(script.subarray(2, 34)) : null;
        const template = (program === null ? undefined : templateOf.get(program)) ?? null;
        return [...event, utxo.index, toKas(utxo.amount), program, template, spentBy.get(outpoint(utxo))?.id ?? null];
      });
    });
    return rows.slice(0, 100);
  },

  '38-lanes-by-gas': ({ payments }) => {
    const inLanes = payments.flatMap(({ body, fee, acceptedBy }) => {
      const namespace = laneNamespace(body.subnetworkId);
      return namespace
        ? [{ namespace: toHex(namespace), gas: Number(body.gas), fee, time: known(acceptedBy).chainTime }]
        : [];
    });
    const rows = [...Map.groupBy(inLanes, ({ namespace }) => namespace)].map(([namespace, used]) => {
      const times = used.map(({ time }) => time);
      const fees = toKas(used.reduce((total, { fee }) => total + fee, 0n));
      const gas = sum(used.map((each) => each.gas));
      return [
        namespace,
        used.length,
        gas,
        fees,
        new Date(Math.min(...times)),
        new Date(Math.max(...times)),
      ] satisfies Cell[];
    });
    return ranked(rows, 2, 0).slice(0, 20);
  },

  '39-fees-by-protocol': ({ inscribed }) => {
    const rows = [...Map.groupBy(inscribed, ({ protocol }) => protocol)].map(([protocol, operations]) => {
      const transactions = [...new Set(operations.map(({ transaction }) => transaction))];
      const fees = toKas(transactions.reduce((total, { fee }) => total + fee, 0n));
      return [protocol, transactions.length, fees, fees / transactions.length] satisfies Cell[];
    });
    return ranked(rows, 2, 0);
  },

  '40-share-of-protocols': ({ inscribed, days }) =>
    days.flatMap(({ startMs, day, transactions }) => {
      const ofDay = inscribed.filter(({ transaction: { acceptedBy } }) => {
        const time = known(acceptedBy).chainTime;
        return time >= startMs && time < startMs + DAY_MS;
      });
      const rows = [...Map.groupBy(ofDay, ({ protocol }) => protocol)].map(([protocol, operations]) => {
        const count = new Set(operations.map(({ transaction }) => transaction)).size;
        return [day, protocol, count, percentOf(count, transactions)] satisfies Cell[];
      });
      return ranked(rows, 2, 1);
    }),
};

const requests = readRequests();
const FILE = '../../cookbook/generated/results.json';

let index: DemoIndex;
let analyst: Analyst;
let model: ReturnType<typeof demoModel>;
const responses: Record<string, Response> = {};

beforeAll(async () => {
  index = await openDemoIndex();
  analyst = await openAnalyst(index.database);
  model = demoModel(readHistory(index.node), index.tags);
});
afterAll(async () => {
  await analyst?.close();
  await index?.close();
});

test('it has expected results for each of the requests', () => {
  expect(requests.length).toBeGreaterThan(30);
  expect(requests.map(({ name }) => name)).toEqual(Object.keys(EXPECTED));
});

describe.each(requests)('$name', ({ name, title, explanation, sql }) => {
  test('it has a title and an explanation', () => {
    expect(title).toMatch(/^[A-Z].*\?$/);
    expect(explanation.length).toBeGreaterThan(100);
  });

  test('it is one statement', () => {
    expect(sql.match(/;/g)).toEqual([';']);
    expect(sql).toMatch(/;$/);
  });

  test('it returns the expected results', async () => {
    const { columns, rows } = await analyst.ask(sql);
    const expected = EXPECTED[name]?.(model) ?? [];
    expect(expected).not.toEqual([]);
    expect(rows.map((row, line) => row.map((text, column) => matched(text, expected[line]?.[column])))).toEqual(
      expected,
    );
    // Cells that differ in every run are omitted.
    const stableRows = rows.map((row, line) =>
      row.map((text, column) => (expected[line]?.[column] === undefined ? '…' : text)),
    );
    responses[name] = { columns, rows: stableRows };
  });
});

/**
 * Returns the expected cell if the text equals it up to its last decimal, otherwise the text, so
 * that a failure shows the difference.
 */
function matched(text: Text, cell: Cell): Cell {
  if (cell === undefined) return cell;
  if (text === null || cell === null) return text;
  if (cell instanceof Date) return Date.parse(text) === cell.getTime() ? cell : text;
  if (typeof cell === 'bigint') return text === String(cell) ? cell : text;
  if (typeof cell === 'number') return Math.abs(Number(text) - cell) <= tolerance(text, cell) ? cell : text;
  return text;
}

/** Returns half of the last decimal plus the error of a double. */
function tolerance(text: string, cell: number): number {
  const decimals = text.split('.')[1]?.length ?? 0;
  return 0.500001 * 10 ** -decimals + 1e-12 * Math.abs(cell);
}

test.each(['13-dormancy', '14-age-of-utxos'])('%s tells ages apart only back to the latest start', async (name) => {
  const { sql = '' } = requests.find((request) => request.name === name) ?? {};
  const { pool } = index.database;
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows: starts } = await client.query<{ known: string }>(`
      with start as (
        update bootstrap_blocks set chain_index = (select index from chain_blocks where chain_time >
          (select max(chain_time) from chain_blocks) - 30 * 3_600_000 order by index limit 1)
        returning chain_index)
      select date_trunc('second',
        max(c.chain_time) - min(c.chain_time) - interval '1 millisecond')::text as known
        from start, kaspa.chain_blocks c where c.index >= start.chain_index`);
    const { rows } = await client.query<Record<string, string>>(sql);
    const labels = rows.map((row) => Object.values(row)[0]);
    expect(labels).toEqual(['up to 1 hour', 'up to 6 hours', 'up to 1 day', `up to ${starts[0]?.known}`, 'longer']);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('it returns the committed results', async () => {
  await expect(`${JSON.stringify(responses, undefined, 1)}\n`).toMatchFileSnapshot(FILE);
});
