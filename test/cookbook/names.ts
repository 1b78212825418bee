/**
 * The oracle of clusters and their names on the demo network, from the DAG: common inputs by the rules of docs/clustering.md. Clusters are
 * plain sets without union-find.
 */
import { classifyScript } from '@kasgres/kaspa';
import { type Utxo, known, type Transaction, type History } from './history.ts';

export interface Cluster {
  /** The address of the root. */
  root: string;
  members: Set<string>;
}

export interface Merge {
  transaction: Transaction;
  /** Addresses of the inputs in the remaining and in the merged cluster. */
  address: string;
  mergedAddress: string;
  cluster: string;
  mergedCluster: string;
}

export interface NamedAddress {
  address: string;
  name: string;
}

/** The minimum number of equal outputs of a CoinJoin. */
const LEAST_PARTICIPANTS = 3;

export class Names {
  readonly merges: Merge[] = [];
  readonly #clusters = new Map<string, Cluster>();
  readonly #own: ReadonlyMap<string, string>;

  constructor({ chain }: History, tags: readonly NamedAddress[]) {
    this.#own = new Map(tags.map(({ address, name }) => [address, name]));
    for (const { accepted } of chain) for (const transaction of accepted) this.#tie(transaction);
  }

  get clusters(): Cluster[] {
    return [...new Set(this.#clusters.values())].filter(({ members }) => members.size > 1);
  }

  get tags(): ReadonlyMap<string, string> {
    return this.#own;
  }

  clusterOf(address: string): Cluster | undefined {
    return this.#clusters.get(address);
  }

  /** Returns its own name, or that of its cluster. */
  of(address: string): string | undefined {
    const cluster = this.#clusters.get(address);
    return this.#own.get(address) ?? (cluster && this.nameOf(cluster));
  }

  /** Returns the name that all named members share. */
  nameOf({ members }: Cluster): string | undefined {
    const names = new Set([...members].flatMap((address) => this.#own.get(address) ?? []));
    return names.size === 1 ? [...names][0] : undefined;
  }

  #tie(transaction: Transaction): void {
    const [first, ...others] = addressesOfOneOwner(transaction);
    if (first === undefined) return;
    for (const other of others) this.#join(transaction, first, other);
  }

  #join(transaction: Transaction, address: string, other: string): void {
    const [one, two] = [this.#get(address), this.#get(other)];
    if (one === two) return;
    const [stays, goes] = one.members.size >= two.members.size ? [one, two] : [two, one];
    const [kept, merged] = stays === one ? [address, other] : [other, address];
    this.merges.push({
      transaction,
      address: kept,
      mergedAddress: merged,
      cluster: stays.root,
      mergedCluster: goes.root,
    });
    for (const member of goes.members) {
      stays.members.add(member);
      this.#clusters.set(member, stays);
    }
  }

  #get(address: string): Cluster {
    const cluster = this.#clusters.get(address) ?? { root: address, members: new Set([address]) };
    this.#clusters.set(address, cluster);
    return cluster;
  }
}

/** Returns each address once, in the order of inputs. Signatures of the simulation sign the whole transaction. */
function addressesOfOneOwner({ body, inputs, outputs }: Transaction): string[] {
  const utxos = inputs.map(known);
  if (utxos.some(({ hasCovenant }) => hasCovenant)) return [];
  const payers = new Set(utxos.map(({ script }) => script));
  if (body.outputs.length >= LEAST_PARTICIPANTS && payers.size >= LEAST_PARTICIPANTS) {
    const receivers = [...Map.groupBy(outputs, ({ amount }) => amount).values()].map(
      (equal) => new Set(equal.map(({ script }) => script)).size,
    );
    const equalOutputs = Math.max(...receivers);
    if (equalOutputs >= LEAST_PARTICIPANTS && payers.size >= equalOutputs) return [];
  }
  return [...new Set(utxos.filter(isOfOneKey).flatMap(({ address }) => address ?? []))];
}

function isOfOneKey({ scriptPublicKey }: Utxo): boolean {
  const type = classifyScript(scriptPublicKey);
  return type === 'pubkey' || type === 'pubkeyecdsa';
}
