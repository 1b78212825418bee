/**
 * How good clusters are, where it is known who owns what, by pairs of scripts. Precision: of the pairs that are in one cluster, the share
 * that has one owner. Recall: of the pairs that common inputs can tell of, the share that is in one cluster. They can tell of a pair when
 * accepted transactions, each with inputs of one owner only, lead from one script to the other.
 */
export interface Figures {
  precision: number;
  recall: number;
  /** Pairs that common inputs can tell of. */
  knowable: number;
}

/** @param inputs scripts of the inputs of each accepted transaction, as far as they are to be told of */
export function figuresOf(
  clusters: readonly (readonly string[])[],
  ownerOf: (script: string) => unknown,
  inputs: readonly (readonly string[])[],
): Figures {
  const parents = new Map<string, string>();
  const rootOf = (script: string): string => {
    let root = script;
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up;
    if (root !== script) parents.set(script, root);
    return root;
  };
  for (const [first = '', ...others] of inputs) {
    if (others.some((other) => ownerOf(other) !== ownerOf(first))) continue;
    for (const other of others) if (rootOf(other) !== rootOf(first)) parents.set(rootOf(other), rootOf(first));
  }
  const clusterOf = new Map(clusters.flatMap((cluster, index) => cluster.map((script) => [script, index] as const)));
  const knowable = countBy(new Set(inputs.flat()), rootOf);
  const found = countBy(new Set(inputs.flat()), (script) => `${rootOf(script)} ${clusterOf.get(script) ?? script}`);
  const together = clusters.reduce((sum, { length }) => sum + pairs(length), 0);
  const rightly = clusters.reduce((sum, cluster) => sum + countBy(new Set(cluster), ownerOf), 0);
  return { precision: rightly / together, recall: found / knowable, knowable };
}

/** Pairs that have something in common. */
function countBy(scripts: ReadonlySet<string>, of: (script: string) => unknown): number {
  const counts = new Map<unknown, number>();
  for (const script of scripts) counts.set(of(script), (counts.get(of(script)) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum + pairs(count), 0);
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2;
}
