/** Owners on the demo network: what they hold, and why their addresses are together. */
import type { Cell } from '../cells.ts';
import type { Names } from '../names.ts';
import { percentOf, groupBy, known, toKas, type History } from '../history.ts';
import { addressesOf } from './addresses.ts';

const before = (a: string, b: string): number => (a < b ? -1 : 1);

function balanceOf(history: History, addresses: Iterable<string>): bigint {
  return [...addresses].reduce((sum, address) => sum + (addressesOf(history).get(address)?.balance ?? 0n), 0n);
}

const supplyOf = ({ utxos }: History): bigint => utxos.reduce((sum, { amount }) => sum + amount, 0n);

export function balancesByTag(history: History, names: Names): Cell[][] {
  const addresses = new Set([...names.tags.keys(), ...names.clusters.flatMap(({ members }) => [...members])]);
  const named = [...addresses].filter((address) => names.of(address) !== undefined);
  return [...groupBy(named, (address) => names.of(address) ?? '')]
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
