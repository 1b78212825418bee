/** Expected results about addresses and their owners, recomputed from the history of the demo network. */
import type { Cell } from '../cells.ts';
import type { Names } from '../names.ts';
import {
  DAY_MS,
  HOUR_MS,
  type History,
  type Transaction,
  known,
  percentOf,
  recentPayments,
  sumOf,
  toKas,
} from '../history.ts';

interface Address {
  address: string;
  balance: bigint;
  /** Accepted transactions of the address, in order. */
  transactions: Transaction[];
}

const cache = new WeakMap<History, Map<string, Address>>();

/** Returns every address of accepted transactions. */
function addressesOf(history: History): Map<string, Address> {
  const cached = cache.get(history);
  if (cached !== undefined) return cached;
  const addresses = new Map<string, Address>();
  for (const { accepted } of history.chain) {
    for (const transaction of accepted) {
      const touched = new Set([...sendersOf(transaction), ...receiversOf(transaction)]);
      for (const address of touched) {
        const known = addresses.get(address) ?? { address, balance: 0n, transactions: [] };
        known.transactions.push(transaction);
        known.balance += changeOf(address, transaction);
        addresses.set(address, known);
      }
    }
  }
  cache.set(history, addresses);
  return addresses;
}

function sendersOf({ inputs }: Transaction): Set<string> {
  return new Set(inputs.flatMap((utxo) => utxo?.address ?? []));
}

function receiversOf({ outputs }: Transaction): Set<string> {
  return new Set(outputs.flatMap(({ address }) => address ?? []));
}

function changeOf(address: string, { inputs, outputs }: Transaction): bigint {
  const own = (utxos: Transaction['inputs']) => sumOf(utxos.map(known).filter((utxo) => utxo.address === address));
  return own(outputs) - own(inputs);
}

const before = (a: string, b: string): number => (a < b ? -1 : 1);

function richest(history: History): Address[] {
  const descending = (a: Address, b: Address) => Number(b.balance - a.balance) || before(a.address, b.address);
  return [...addressesOf(history).values()].sort(descending);
}

const AGES: [string, number][] = [
  ['up to 1 hour', HOUR_MS],
  ['up to 6 hours', 6 * HOUR_MS],
  ['up to 1 day', DAY_MS],
  ['up to 2 days', 2 * DAY_MS],
  ['up to 7 days', 7 * DAY_MS],
  ['up to 30 days', 30 * DAY_MS],
  ['up to 365 days', 365 * DAY_MS],
  ['longer', Number.POSITIVE_INFINITY],
];

function byAge<T>(items: T[], ageOf: (item: T) => number, amountOf: (item: T) => bigint): Cell[][] {
  const total = items.reduce((sum, item) => sum + amountOf(item), 0n);
  const groups = Map.groupBy(items, (item) => known(AGES.find(([, limit]) => ageOf(item) <= limit))[0]);
  return AGES.flatMap(([label]) => {
    const group = groups.get(label);
    if (group === undefined) return [];
    const amount = group.reduce((sum, item) => sum + amountOf(item), 0n);
    return [[label, group.length, toKas(amount), percentOf(amount, total)]];
  });
}

const lastSeen = ({ transactions }: Address): number => known(transactions.at(-1)?.acceptedBy).chainTime;

export function dormancy(history: History): Cell[][] {
  const held = [...addressesOf(history).values()].filter(({ balance }) => balance > 0n);
  return byAge(
    held,
    (address) => history.sink.chainTime - lastSeen(address),
    ({ balance }) => balance,
  );
}

export function ageOfUtxos(history: History): Cell[][] {
  const ageOf = ({ acceptedBy }: History['utxos'][number]) => history.sink.chainTime - acceptedBy.chainTime;
  return byAge(history.utxos, ageOf, ({ amount }) => amount);
}

const USES: [string, number][] = [
  ['once', 1],
  ['twice', 2],
  ['3 to 5 times', 5],
  ['6 to 10 times', 10],
  ['11 to 100 times', 100],
  ['more often', Number.POSITIVE_INFINITY],
];

export function addressReuse(history: History): Cell[][] {
  const paid = [...addressesOf(history).values()].flatMap(({ address, transactions }) => {
    const own = transactions.filter((transaction) => receiversOf(transaction).has(address));
    const received = sumOf(own.flatMap(({ outputs }) => outputs.filter((utxo) => utxo.address === address)));
    return own.length === 0 ? [] : [{ count: own.length, received }];
  });
  const groups = Map.groupBy(paid, ({ count }) => known(USES.find(([, most]) => count <= most))[0]);
  return USES.flatMap(([label]) => {
    const group = groups.get(label) ?? [];
    const received = group.reduce((sum, address) => sum + address.received, 0n);
    return group.length === 0 ? [] : [[label, group.length, percentOf(group.length, paid.length), toKas(received)]];
  });
}

export function largestTransfers(history: History, names: Names): Cell[][] {
  const transfers = recentPayments(history, 1000).flatMap((transaction) => {
    const senders = new Set(transaction.inputs.map((utxo) => known(utxo).script));
    const strangers = transaction.outputs.filter(({ script }) => !senders.has(script));
    return [...Map.groupBy(strangers, ({ script }) => script).values()].map((utxos) => ({
      transaction,
      address: utxos[0]?.address,
      amount: sumOf(utxos),
    }));
  });
  return transfers
    .sort((a, b) => Number(b.amount - a.amount))
    .slice(0, 10)
    .map(({ transaction, address, amount }) => [
      acceptedAt(transaction),
      transaction.id,
      address ?? null,
      (address && names.of(address)) ?? null,
      toKas(amount),
    ]);
}

const acceptedAt = ({ acceptedBy }: Transaction): Date => new Date(known(acceptedBy).time);

export function balanceHistory(history: History): Cell[][] {
  const { address, transactions } = known(richest(history)[0]);
  let balance = 0n;
  const days = [...Map.groupBy(transactions, (transaction) => acceptedAt(transaction).toISOString().slice(0, 10))]
    .sort(([a], [b]) => before(a, b))
    .map(([day, ofDay]) => {
      const change = ofDay.reduce((sum, transaction) => sum + changeOf(address, transaction), 0n);
      balance += change;
      return [day, toKas(change), toKas(balance)];
    });
  return days.reverse().slice(0, 30);
}

export function movers(history: History, names: Names): Cell[][] {
  const at = Math.max(...history.chain.map(({ time }) => time)) - DAY_MS;
  return richest(history)
    .slice(0, 10)
    .map(({ address, balance, transactions }) => {
      const until = transactions.filter((transaction) => acceptedAt(transaction).getTime() <= at);
      const earlier = until.reduce((sum, transaction) => sum + changeOf(address, transaction), 0n);
      const change = balance - earlier;
      const percent = earlier === 0n ? null : percentOf(change, earlier);
      return [address, names.of(address) ?? null, toKas(balance), toKas(change), percent];
    });
}

export function flowBetweenTwo(history: History): Cell[][] {
  const [one = '', other = ''] = richest(history).map(({ address }) => address);
  const directions = [
    { sender: one, receiver: other },
    { sender: other, receiver: one },
  ];
  return directions
    .sort((a, b) => before(a.sender, b.sender))
    .flatMap(({ sender, receiver }) => {
      const paid = known(addressesOf(history).get(receiver)).transactions.filter(
        (transaction) => sendersOf(transaction).has(sender) && receiversOf(transaction).has(receiver),
      );
      if (paid.length === 0) return [];
      const amount = sumOf(paid.flatMap(({ outputs }) => outputs.filter(({ address }) => address === receiver)));
      const times = paid.map((transaction) => acceptedAt(transaction).getTime());
      return [
        [sender, receiver, paid.length, toKas(amount), new Date(Math.min(...times)), new Date(Math.max(...times))],
      ];
    });
}

export function spentTogether(history: History, names: Names): Cell[][] {
  const balanceOf = (members: Set<string>) =>
    [...members].map((member) => known(addressesOf(history).get(member)).balance);
  const clusters = names.clusters.map(({ root, members }) => ({
    root,
    balance: balanceOf(members).reduce((sum, balance) => sum + balance, 0n),
  }));
  const [richestCluster] = clusters.sort((a, b) => Number(b.balance - a.balance) || before(a.root, b.root));
  const address = known(richestCluster).root;
  const own = known(addressesOf(history).get(address)).transactions.filter((transaction) =>
    sendersOf(transaction).has(address),
  );
  const spent = own.flatMap((transaction) => transaction.inputs.map((utxo) => ({ transaction, utxo: known(utxo) })));
  const others = Map.groupBy(
    spent.filter(({ utxo }) => utxo.address !== undefined && utxo.address !== address),
    ({ utxo }) => utxo.address ?? '',
  );
  return [...others]
    .map(([other, utxos]) => ({ other, utxos, count: new Set(utxos.map(({ transaction }) => transaction)).size }))
    .sort((a, b) => b.count - a.count || before(a.other, b.other))
    .slice(0, 10)
    .map(({ other, utxos, count }) => [
      other,
      count,
      toKas(sumOf(utxos.map(({ utxo }) => utxo))),
      new Date(Math.max(...utxos.map(({ transaction }) => acceptedAt(transaction).getTime()))),
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

/** By definition: the mean difference of all pairs divided by twice the mean. */
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

function balanceOf(history: History, addresses: Iterable<string>): bigint {
  return [...addresses].reduce((sum, address) => sum + (addressesOf(history).get(address)?.balance ?? 0n), 0n);
}

export function balancesByTag(history: History, names: Names): Cell[][] {
  const addresses = new Set([...names.tags.keys(), ...names.clusters.flatMap(({ members }) => [...members])]);
  const named = [...addresses].filter((address) => names.of(address) !== undefined);
  return [...Map.groupBy(named, (address) => names.of(address) ?? '')]
    .map(([name, of]) => ({ name, count: of.length, balance: balanceOf(history, of) }))
    .sort((a, b) => Number(b.balance - a.balance) || before(a.name, b.name))
    .slice(0, 20)
    .map(({ name, count, balance }) => [name, count, toKas(balance), percentOf(balance, supplyOf(history))]);
}

export function topClusters(history: History, names: Names): Cell[][] {
  return names.clusters
    .map((cluster) => ({ cluster, balance: balanceOf(history, cluster.members) }))
    .sort((a, b) => Number(b.balance - a.balance) || before(a.cluster.root, b.cluster.root))
    .slice(0, 10)
    .map(({ cluster, balance }) => [
      cluster.root,
      names.nameOf(cluster) ?? null,
      cluster.members.size,
      toKas(balance),
      percentOf(balance, supplyOf(history)),
    ]);
}

export function whyTogether(_: History, { clusters, merges }: Names): Cell[][] {
  const [largest] = clusters.sort((a, b) => b.members.size - a.members.size || before(a.root, b.root));
  return merges
    .filter(({ cluster }) => cluster === known(largest).root)
    .reverse()
    .slice(0, 10)
    .map(({ transaction, address, mergedAddress, mergedCluster }) => [
      transaction.id,
      address,
      mergedAddress,
      mergedCluster,
    ]);
}
