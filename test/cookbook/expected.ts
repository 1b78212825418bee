/** The expected result of each query of the cookbook, recomputed from the history of the demo network. Amounts are numbers of sompi. */
import { SOMPI_PER_KAS, workFromBits } from '@kasgres/kaspa';
import { type ChainBlock, type History, known, outpoint, sumOf, type Transaction, type Utxo } from './history.ts';
import { type Cluster, clustersAndNames } from './names.ts';

/** Undefined matches any value. */
export type Cell = string | number | bigint | Date | null | undefined;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The number of latest chain blocks that most queries read. */
const RECENT = 1000;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const percentOf = (part: number, whole: number): number => (100 * part) / whole;
const sompiOf = (utxos: readonly Pick<Utxo, 'amount'>[]): number => Number(sumOf(utxos));
const toKas = (sompi: number): number => sompi / Number(SOMPI_PER_KAS);
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

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

/** Returns the items in descending order of a value; items of one value are ordered by name. */
function ranked<T>(items: Iterable<T>, valueOf: (item: T) => number, nameOf: (item: T) => string = () => ''): T[] {
  return [...items].sort((a, b) => valueOf(b) - valueOf(a) || compare(nameOf(a), nameOf(b)));
}

/** Returns a row for each group: its key, its size, its share of all items in percent, and further cells. */
function shares<T, Key extends string | number>(
  items: readonly T[],
  keyOf: (item: T) => Key,
  furtherCells: (group: T[], key: Key) => Cell[] = () => [],
): [Key, number, number, ...Cell[]][] {
  return [...Map.groupBy(items, keyOf)].map(([key, group]) => [
    key,
    group.length,
    percentOf(group.length, items.length),
    ...furtherCells(group, key),
  ]);
}

const bySize = <Row extends [string, number, ...Cell[]]>(rows: Row[]): Row[] =>
  ranked(
    rows,
    ([, size]) => size,
    ([key]) => key,
  );
const byKey = <Row extends [number, ...Cell[]]>(rows: Row[]): Row[] => rows.toSorted(([a], [b]) => a - b);

type Bands = Readonly<Record<string, number>>;

/** Returns the rows of `shares` for bands, which are named with their upper limits. */
function banded<T>(
  items: readonly T[],
  bands: Bands,
  valueOf: (item: T) => number,
  furtherCells: (group: T[]) => Cell[],
) {
  const bandOf = (item: T) => known(Object.entries(bands).find(([, limit]) => valueOf(item) <= limit))[0];
  return shares(
    items.toSorted((a, b) => valueOf(a) - valueOf(b)),
    bandOf,
    furtherCells,
  );
}

const AGES: Bands = {
  'up to 1 hour': HOUR_MS,
  'up to 6 hours': 6 * HOUR_MS,
  'up to 1 day': DAY_MS,
  'up to 2 days': 2 * DAY_MS,
  'up to 7 days': 7 * DAY_MS,
  'up to 30 days': 30 * DAY_MS,
  'up to 365 days': 365 * DAY_MS,
  longer: Number.POSITIVE_INFINITY,
};

/** The share of each band is that of its amount. */
function amountsByAge<T>(items: readonly T[], ageOf: (item: T) => number, sompiOfItem: (item: T) => number): Cell[][] {
  const total = sum(items.map(sompiOfItem));
  const rows = banded(items, AGES, ageOf, (group) => {
    const sompi = sum(group.map(sompiOfItem));
    return [toKas(sompi), percentOf(sompi, total)];
  });
  return rows.map(([band, count, , ...cells]) => [band, count, ...cells]);
}

const USES: Bands = {
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
    const scripts = new Set(
      accepted.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map((utxo) => known(utxo).script)),
    );
    const fresh = scripts.difference(seen).size;
    for (const script of scripts) seen.add(script);
    const fees = sum(payments.map(({ fee }) => Number(fee)));
    const volume = sompiOf(payments.flatMap(({ outputs }) => outputs));
    const minted = sompiOf(accepted.flatMap(({ outputs }) => outputs)) - volume - fees;
    supply += minted;
    return {
      startMs: number * lengthMs,
      day: dayOf(number * lengthMs),
      blocks: chainBlocks.flatMap(({ block }) => block.mergeSet),
      reds: chainBlocks.flatMap(({ block }) => block.mergeSetReds).length,
      transactions: payments.length,
      fees,
      volume,
      minted,
      supply,
      active: scripts.size,
      fresh,
    };
  });
}

interface Activity {
  transaction: Transaction;
  acceptedBy: ChainBlock;
  sent: number;
  received: number;
}

interface Address {
  address: string;
  balance: number;
  /** By accepted transaction, in order. */
  activity: Activity[];
}

function addressesOf({ chain }: History): Map<string, Address> {
  const addresses = new Map<string, Address>();
  for (const acceptedBy of chain) {
    for (const transaction of acceptedBy.accepted) {
      const [inputs, outputs] = [transaction.inputs.map(known), transaction.outputs];
      for (const address of new Set([...inputs, ...outputs].flatMap((utxo) => utxo.address ?? []))) {
        const sent = sompiOf(inputs.filter((utxo) => utxo.address === address));
        const received = sompiOf(outputs.filter((utxo) => utxo.address === address));
        const known = addresses.get(address) ?? { address, balance: 0, activity: [] };
        known.activity.push({ transaction, acceptedBy, sent, received });
        known.balance += received - sent;
        addresses.set(address, known);
      }
    }
  }
  return addresses;
}

const changeOf = (activity: readonly Activity[]): number => sum(activity.map(({ sent, received }) => received - sent));

/** Returns everything that the expected results are computed from. */
export function demoModel(history: History, tags: readonly { address: string; name: string }[]) {
  const recentChain = history.chain.slice(-RECENT);
  const addresses = addressesOf(history);
  const { clusters, ...names } = clustersAndNames(history, tags);
  const balanceOf = (held: Iterable<string>) => sum([...held].map((address) => addresses.get(address)?.balance ?? 0));
  return {
    ...history,
    ...names,
    recentChain,
    recentPayments: recentChain.flatMap(({ accepted }) => accepted.filter(({ isCoinbase }) => !isCoinbase)),
    minutes: intervalsOf(history, MINUTE_MS),
    // The day of genesis has no merged block.
    latestDays: intervalsOf(history, DAY_MS)
      .filter(({ blocks }) => blocks.length > 0)
      .reverse()
      .slice(0, 30),
    tagged: tags.map(({ address }) => address),
    balanceOf,
    richest: ranked(
      addresses.values(),
      ({ balance }) => balance,
      ({ address }) => address,
    ),
    addresses,
    richestClusters: ranked(
      clusters,
      ({ members }) => balanceOf(members),
      ({ root }) => root,
    ),
    supply: sompiOf(history.utxos),
  };
}

type Model = ReturnType<typeof demoModel>;

/** By the name of the query. */
export const EXPECTED: Readonly<Record<string, (model: Model) => Cell[][]>> = {
  '01-network-by-day': ({ latestDays }) =>
    latestDays.map(({ day, blocks, transactions, fees, volume, active, fresh }) => [
      day,
      blocks.length,
      transactions,
      toKas(fees),
      toKas(volume),
      active,
      fresh,
    ]),

  '02-peak-throughput': ({ minutes }) => {
    const last = known(minutes.at(-1)).startMs;
    const ofDay = minutes.filter(({ startMs }) => startMs > last - DAY_MS);
    const counts = ofDay.map(({ transactions }) => transactions);
    const busiest = known(ranked(ofDay, ({ transactions }) => transactions)[0]);
    return [
      [
        sum(counts),
        sum(counts) / 86_400,
        percentile(counts, 50) / 60,
        busiest.transactions / 60,
        new Date(busiest.startMs),
      ],
    ];
  },

  '03-who-mines': ({ recentChain, nameOf }) => {
    const coinbases = recentChain.flatMap(({ accepted }) => accepted.filter(({ isCoinbase }) => isCoinbase));
    const rewards = coinbases.flatMap(({ outputs }) => outputs);
    const miners = shares(
      rewards,
      ({ address }) => known(address),
      (group) => [toKas(sompiOf(group))],
    );
    return bySize(miners)
      .slice(0, 20)
      .map(([address, ...cells]) => [address, nameOf(address), ...cells]);
  },

  // Work is twice the difficulty, in whole hashes.
  '04-mining-by-day': ({ chain, sink, latestDays }) =>
    latestDays.map(({ startMs, day, blocks, reds }) => {
      const work = sum(blocks.map(({ header }) => Number(workFromBits(header.bits))));
      const passedMs = Math.min(startMs + DAY_MS, sink.chainTime) - Math.max(startMs, known(chain[0]).chainTime);
      return [
        day,
        blocks.length,
        reds,
        percentOf(reds, blocks.length),
        work / blocks.length / 2,
        (work * 1000) / passedMs,
      ];
    }),

  '05-block-interval': ({ chain }) => {
    const times = chain.slice(-RECENT - 1).map(({ time }) => time);
    const intervals = times.slice(1).map((time, index) => (time - known(times[index])) / 1000);
    return [distributionOf(intervals, [10, 50, 90, 99])];
  },

  '06-supply-and-emission': ({ latestDays }) =>
    latestDays.map(({ day, supply, minted }) => {
      const before = supply - minted;
      const growth = before === 0 ? null : percentOf(minted, before);
      return [day, toKas(supply), toKas(minted), growth, growth && 365 * growth];
    }),

  '07-fees-and-revenue': ({ latestDays }) =>
    latestDays.map(({ day, transactions, fees, minted }) => [
      day,
      toKas(fees),
      toKas(fees) / transactions,
      toKas(minted),
      percentOf(fees, fees + minted),
    ]),

  '08-fee-percentiles': ({ recentPayments }) => {
    const payments = recentPayments.map(({ fee, body }) => ({
      fee: Number(fee),
      computeMass: Number(body.computeMass),
      storageMass: Number(body.storageMass),
    }));
    const columns = [
      payments.map(({ fee }) => fee),
      payments.map(({ fee, computeMass, storageMass }) => fee / Math.max(computeMass, storageMass, 1)),
      payments.map(({ computeMass }) => computeMass),
      payments.map(({ storageMass }) => storageMass),
    ];
    const percents = [1, 10, 25, 50, 75, 90, 99, 100];
    return percents.map((percent) => [percent, ...columns.map((values) => percentile(values, percent))]);
  },

  '09-velocity': ({ latestDays }) =>
    latestDays.map(({ day, volume, supply }) => [day, toKas(volume), toKas(supply), volume / supply]),

  '10-rich-list': ({ richest, supply, nameOf }) =>
    richest
      .slice(0, 20)
      .map(({ address, balance }, index) => [
        index + 1,
        address,
        nameOf(address),
        toKas(balance),
        percentOf(balance, supply),
      ]),

  // By definition: the mean difference of all pairs divided by twice the mean.
  '11-gini': ({ richest }) => {
    const balances = richest.map(({ balance }) => toKas(balance)).filter((balance) => balance > 0);
    const total = sum(balances);
    let differences = 0;
    for (const one of balances) for (const other of balances) differences += Math.abs(one - other);
    const held = [10, 100, 1000].map((count) => percentOf(sum(balances.slice(0, count)), total));
    return [[balances.length, differences / (2 * balances.length * total), ...held]];
  },

  '12-active-and-new-addresses': ({ latestDays }) =>
    latestDays.map(({ day, active, fresh }) => [day, active, fresh, active - fresh, percentOf(fresh, active)]),

  '13-dormancy': ({ richest, sink }) =>
    amountsByAge(
      richest.filter(({ balance }) => balance > 0),
      ({ activity }) => sink.chainTime - known(activity.at(-1)).acceptedBy.chainTime,
      ({ balance }) => balance,
    ),

  '14-age-of-utxos': ({ utxos, sink }) =>
    amountsByAge(
      utxos,
      ({ acceptedBy }) => sink.chainTime - acceptedBy.chainTime,
      ({ amount }) => Number(amount),
    ),

  '15-address-reuse': ({ richest }) => {
    const paid = richest
      .map(({ activity }) => activity.filter(({ received }) => received > 0).map(({ received }) => received))
      .filter((received) => received.length > 0);
    return banded(
      paid,
      USES,
      (received) => received.length,
      (group) => [toKas(sum(group.flat()))],
    );
  },

  '16-largest-transfers': ({ recentPayments, nameOf }) => {
    const transfers = recentPayments.flatMap(({ id, inputs, outputs, acceptedBy }) => {
      const senders = new Set(inputs.map((utxo) => known(utxo).script));
      const received = Map.groupBy(
        outputs.filter(({ script }) => !senders.has(script)),
        ({ script }) => script,
      );
      return [...received.values()].map((utxos) => {
        const address = utxos[0]?.address;
        return {
          sompi: sompiOf(utxos),
          cells: [new Date(known(acceptedBy).time), id, address ?? null, address ? nameOf(address) : null],
        };
      });
    });
    return ranked(transfers, ({ sompi }) => sompi)
      .slice(0, 10)
      .map(({ sompi, cells }) => [...cells, toKas(sompi)]);
  },

  '17-balance-history': ({ richest }) => {
    const { activity } = known(richest[0]);
    const days = Map.groupBy(activity, ({ acceptedBy }) => dayOf(acceptedBy.time));
    let balance = 0;
    const rows = [...days]
      .sort(([a], [b]) => compare(a, b))
      .map(([day, ofDay]) => {
        const change = changeOf(ofDay);
        balance += change;
        return [day, toKas(change), toKas(balance)];
      });
    return rows.reverse().slice(0, 30);
  },

  '18-movers': ({ chain, richest, nameOf }) => {
    const dayAgo = Math.max(...chain.map(({ time }) => time)) - DAY_MS;
    return richest.slice(0, 10).map(({ address, balance, activity }) => {
      const before = changeOf(activity.filter(({ acceptedBy }) => acceptedBy.time <= dayAgo));
      const change = balance - before;
      const percent = before === 0 ? null : percentOf(change, before);
      return [address, nameOf(address), toKas(balance), toKas(change), percent];
    });
  },

  '19-flow-between-two': ({ richest }) => {
    const [one, other] = [known(richest[0]), known(richest[1])].sort((a, b) => compare(a.address, b.address)) as [
      Address,
      Address,
    ];
    return [[one, other] as const, [other, one] as const].flatMap(([sender, receiver]) => {
      const paid = receiver.activity.filter(
        ({ transaction, received }) =>
          received > 0 && transaction.inputs.some((utxo) => utxo?.address === sender.address),
      );
      const times = paid.map(({ acceptedBy }) => acceptedBy.time);
      const sompi = sum(paid.map(({ received }) => received));
      const [first, last] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
      return paid.length === 0 ? [] : [[sender.address, receiver.address, paid.length, toKas(sompi), first, last]];
    });
  },

  '20-spent-together': ({ richestClusters, addresses }) => {
    const address = known(richestClusters[0]).root;
    const spending = known(addresses.get(address)).activity.filter(({ sent }) => sent > 0);
    const spent = spending.flatMap(({ transaction, acceptedBy }) =>
      transaction.inputs.map((utxo) => ({ ...known(utxo), transaction, acceptedBy })),
    );
    const others = spent.filter((utxo) => utxo.address !== undefined && utxo.address !== address);
    const rows = [...Map.groupBy(others, (utxo) => known(utxo.address))].map(
      ([other, utxos]): [string, number, ...Cell[]] => [
        other,
        new Set(utxos.map(({ transaction }) => transaction)).size,
        toKas(sompiOf(utxos)),
        new Date(Math.max(...utxos.map(({ acceptedBy }) => acceptedBy.time))),
      ],
    );
    return bySize(rows).slice(0, 10);
  },

  '21-inclusion-delay': ({ recentPayments }) => {
    const delays = recentPayments.map(({ acceptedBy, blocks }) => {
      const first = Math.min(...blocks.map(({ header }) => Number(header.timestamp)));
      return (known(acceptedBy).time - first) / 1000;
    });
    return [distributionOf(delays, [50, 90, 99])];
  },

  '22-transaction-shapes': ({ recentPayments }) => {
    const payments = recentPayments.toSorted(
      (a, b) => a.inputs.length - b.inputs.length || a.outputs.length - b.outputs.length,
    );
    const shapes = shares(payments, ({ inputs, outputs }) => `${inputs.length} ${outputs.length}`);
    return ranked(shapes, ([, count]) => count)
      .slice(0, 10)
      .map(([shape, ...cells]) => [...shape.split(' ').map(Number), ...cells]);
  },

  '23-double-inclusion': ({ recentPayments }) =>
    byKey(
      shares(
        recentPayments,
        ({ blocks }) => blocks.length,
        (group, blocks) => [(blocks - 1) * group.length],
      ),
    ),

  '24-never-accepted': ({ recentChain, transactions, spentBy }) => {
    const merged = new Set(recentChain.flatMap(({ block }) => block.mergeSet));
    const carried = [...transactions.values()].filter(
      ({ isCoinbase, blocks }) => !isCoinbase && blocks.some((block) => merged.has(block)),
    );
    const outcomes = shares(carried, ({ acceptedBy, inputs }) => {
      if (acceptedBy !== undefined) return 'accepted';
      const isDoubleSpend = inputs.some((utxo) => utxo !== undefined && spentBy.has(outpoint(utxo)));
      return isDoubleSpend ? 'a UTXO was spent by another' : 'not valid otherwise';
    });
    return bySize(outcomes);
  },

  '25-parallelism': ({ recentChain }) => byKey(shares(recentChain, ({ block }) => block.mergeSet.length)),

  '26-fate-of-blocks': ({ sink, blocks }) => {
    const recent = blocks.filter(({ header }) => header.daaScore > sink.block.header.daaScore - 2000n);
    const fates = shares(
      recent,
      (block) => {
        if (block.chainIndex !== undefined) return 'on the chain';
        if (block.mergingBlock === undefined) return 'not merged';
        return block.mergingBlock.mergeSetReds.includes(block) ? 'merged, red' : 'merged, blue';
      },
      (group) => [
        mean(group.map(({ transactions }) => transactions.length)),
        mean(group.map(({ parents }) => parents.length)),
      ],
    );
    return bySize(fates);
  },

  '27-balances-by-tag': ({ tagged, richestClusters, nameOf, balanceOf, supply }) => {
    const addresses = new Set([...tagged, ...richestClusters.flatMap(({ members }) => [...members])]);
    const owners = Map.groupBy(addresses, nameOf);
    owners.delete(null);
    const balances = [...owners].map(([name, held]) => ({ name, count: held.length, balance: balanceOf(held) }));
    return ranked(
      balances,
      ({ balance }) => balance,
      ({ name }) => name ?? '',
    )
      .slice(0, 20)
      .map(({ name, count, balance }) => [name, count, toKas(balance), percentOf(balance, supply)]);
  },

  '28-top-clusters': ({ richestClusters, clusterName, balanceOf, supply }) =>
    richestClusters.slice(0, 10).map((cluster) => {
      const balance = balanceOf(cluster.members);
      return [cluster.root, clusterName(cluster), cluster.members.size, toKas(balance), percentOf(balance, supply)];
    }),

  '29-why-together': ({ richestClusters, merges }) => {
    const sizeOf = ({ members }: Cluster): number => members.size;
    const largest = known(ranked(richestClusters, sizeOf, ({ root }) => root)[0]);
    return merges
      .filter(({ cluster }) => cluster === largest.root)
      .reverse()
      .slice(0, 10)
      .map(({ transaction, address, mergedAddress, mergedCluster }) => [
        transaction.id,
        address,
        mergedAddress,
        mergedCluster,
      ]);
  },

  '30-freshness': ({ chain, sink }) => [
    ['simnet', sink.block.header.blueScore, new Date(sink.time), undefined, 'f', new Date(known(chain[1]).time), 1, 0],
  ],
};
