/**
 * The oracle of clusters and their names on the demo network: common inputs by the rules of
 * docs/clustering.md, without union-find.
 */
import { type History, known, type Transaction } from './history.ts';

export interface Cluster {
  /** The address of the root. */
  root: string;
  members: Set<string>;
}

export interface Tag {
  address: string;
  name: string;
}

interface Merge {
  transaction: Transaction;
  /** Addresses of the inputs in the remaining and in the merged cluster. */
  address: string;
  mergedAddress: string;
  /** Addresses of the roots. */
  cluster: string;
  mergedCluster: string;
}

/** A merge that the size limit holds; there is one for two clusters. */
interface HeldMerge {
  /** The first transaction that ties the two. */
  transaction: Transaction;
  /** Addresses of inputs, in the larger and in the other cluster. */
  address: string;
  otherAddress: string;
  /** Addresses of the roots, sorted. */
  clusters: string[];
  transactions: number;
}

/** The minimum number of equal outputs of a CoinJoin. */
const LEAST_PARTICIPANTS = 3;

/**
 * Returns the clusters of several addresses, the merges in order, those that are held, and
 * functions that name addresses and clusters.
 */
export function clustersAndNames({ chain }: History, tags: readonly Tag[], sizeLimit = Number.POSITIVE_INFINITY) {
  const clusterOf = new Map<string, Cluster>();
  const merges: Merge[] = [];
  const held = new Map<string, HeldMerge>();
  const find = (address: string) => clusterOf.get(address) ?? { root: address, members: new Set([address]) };
  const sizeOf = (address: string): number => find(address).members.size;
  /** Returns false if the cluster would be too large. */
  const merge = (transaction: Transaction, first: string, other: string): boolean => {
    const one = { address: first, cluster: find(first) };
    const two = { address: other, cluster: find(other) };
    if (one.cluster.root === two.cluster.root) return true;
    const [kept, merged] = one.cluster.members.size >= two.cluster.members.size ? [one, two] : [two, one];
    const members = kept.cluster.members.union(merged.cluster.members);
    if (members.size > sizeLimit) return false;
    merges.push({
      transaction,
      address: kept.address,
      mergedAddress: merged.address,
      cluster: kept.cluster.root,
      mergedCluster: merged.cluster.root,
    });
    kept.cluster.members = members;
    for (const member of members) clusterOf.set(member, kept.cluster);
    return true;
  };
  /** Each cluster that remains apart is held with the largest of them. */
  const hold = (transaction: Transaction, apart: readonly string[]): void => {
    const largest = apart.reduce((found, address) => (sizeOf(address) > sizeOf(found) ? address : found));
    for (const otherAddress of apart.filter((address) => address !== largest)) {
      const clusters = [find(largest).root, find(otherAddress).root].sort();
      const earlier = held.get(clusters.join());
      if (earlier === undefined)
        held.set(clusters.join(), { transaction, address: largest, otherAddress, clusters, transactions: 1 });
      else earlier.transactions += 1;
    }
  };
  for (const transaction of chain.flatMap(({ accepted }) => accepted)) {
    const apart: string[] = [];
    for (const address of addressesOfOneOwner(transaction)) {
      if (!apart.some((earlier) => merge(transaction, earlier, address))) apart.push(address);
    }
    if (apart.length > 1) hold(transaction, apart);
  }
  const tagOf = new Map(tags.map(({ address, name }) => [address, name]));
  /** Returns the name that all named members share. */
  const clusterName = (cluster: Cluster | undefined): string | null => {
    const names = new Set([...(cluster?.members ?? [])].flatMap((address) => tagOf.get(address) ?? []));
    return names.size === 1 ? ([...names][0] ?? null) : null;
  };
  /** Returns the name of an address, or else that of its cluster. */
  const nameOf = (address: string): string | null => tagOf.get(address) ?? clusterName(clusterOf.get(address));
  return { clusters: [...new Set(clusterOf.values())], merges, held: [...held.values()], tagOf, clusterName, nameOf };
}

/**
 * Returns each address once, in the order of inputs. Signatures of the simulation sign the whole
 * transaction.
 */
function addressesOfOneOwner({ inputs, outputs }: Transaction): string[] {
  const utxos = inputs.map(known);
  const payers = new Set(utxos.map(({ script }) => script)).size;
  const receivers = Map.groupBy(outputs, ({ amount }) => amount);
  const equalOutputs = Math.max(
    0,
    ...[...receivers.values()].map((utxo) => new Set(utxo.map(({ script }) => script)).size),
  );
  const isCoinJoin = Math.min(payers, equalOutputs) >= LEAST_PARTICIPANTS && 2 * payers >= equalOutputs;
  if (isCoinJoin || utxos.some(({ covenantId }) => covenantId !== undefined)) return [];
  // Addresses of single keys begin with q, those of script hashes with p.
  return [...new Set(utxos.flatMap(({ address }) => (address?.includes(':q') === true ? [address] : [])))];
}
