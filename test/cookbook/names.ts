/** The oracle of clusters and their names on the demo network: common inputs by the rules of docs/clustering.md, without union-find. */
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

/** The minimum number of equal outputs of a CoinJoin. */
const LEAST_PARTICIPANTS = 3;

/** Returns the clusters of several addresses, the merges in order, and functions that name addresses and clusters. */
export function clustersAndNames({ chain }: History, tags: readonly Tag[]) {
  const clusterOf = new Map<string, Cluster>();
  const merges: Merge[] = [];
  const find = (address: string) => clusterOf.get(address) ?? { root: address, members: new Set([address]) };
  for (const transaction of chain.flatMap(({ accepted }) => accepted)) {
    const [first = '', ...others] = addressesOfOneOwner(transaction);
    for (const other of others) {
      const one = { address: first, cluster: find(first) };
      const two = { address: other, cluster: find(other) };
      if (one.cluster === two.cluster) continue;
      const [kept, merged] = one.cluster.members.size >= two.cluster.members.size ? [one, two] : [two, one];
      merges.push({
        transaction,
        address: kept.address,
        mergedAddress: merged.address,
        cluster: kept.cluster.root,
        mergedCluster: merged.cluster.root,
      });
      kept.cluster.members = kept.cluster.members.union(merged.cluster.members);
      for (const member of kept.cluster.members) clusterOf.set(member, kept.cluster);
    }
  }
  const tagOf = new Map(tags.map(({ address, name }) => [address, name]));
  /** Returns the name that all named members share. */
  const clusterName = (cluster: Cluster | undefined): string | null => {
    const names = new Set([...(cluster?.members ?? [])].flatMap((address) => tagOf.get(address) ?? []));
    return names.size === 1 ? ([...names][0] ?? null) : null;
  };
  /** Returns the name of an address, or else that of its cluster. */
  const nameOf = (address: string): string | null => tagOf.get(address) ?? clusterName(clusterOf.get(address));
  return { clusters: [...new Set(clusterOf.values())], merges, tagOf, clusterName, nameOf };
}

/** Returns each address once, in the order of inputs. Signatures of the simulation sign the whole transaction. */
function addressesOfOneOwner({ inputs, outputs }: Transaction): string[] {
  const utxos = inputs.map(known);
  const payers = new Set(utxos.map(({ script }) => script)).size;
  const receivers = Map.groupBy(outputs, ({ amount }) => amount);
  const equalOutputs = Math.max(
    0,
    ...[...receivers.values()].map((utxo) => new Set(utxo.map(({ script }) => script)).size),
  );
  const isCoinJoin = Math.min(payers, equalOutputs) >= LEAST_PARTICIPANTS && 2 * payers >= equalOutputs;
  if (isCoinJoin || utxos.some(({ hasCovenant }) => hasCovenant)) return [];
  // Addresses of single keys begin with q, those of script hashes with p.
  return [...new Set(utxos.flatMap(({ address }) => (address?.includes(':q') === true ? [address] : [])))];
}
