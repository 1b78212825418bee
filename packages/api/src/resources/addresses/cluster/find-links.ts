/**
 * Finds the path of merges that links two members of a cluster. Clustering keeps a forest in which one merge put every member but the root below
 * another, and merges get younger upwards (migrations/0005_clusters.sql). So the youngest merge below the lowest common ancestor of two members
 * joined their two parts. One of its two inputs belongs to each part, and the link between that input and its member is the same problem again.
 * Every merge joins two separate parts, so there is only one path.
 */

export interface Merge {
  /** cluster_merges.id: younger merges have higher ones. */
  id: bigint;
  /** transactions.id */
  transactionId: bigint;
  /** Script of the input in the part whose root stayed a root. */
  scriptId: bigint;
  /** Script of the input in the part that was put below it. */
  mergedScriptId: bigint;
}

export interface Member {
  scriptId: bigint;
  /** Null at the root. */
  parentId: bigint | null;
  /** The merge that put it below its parent; null at the root. */
  merge: Merge | null;
}

/** A transaction with inputs of both scripts, in the order of the path. */
export interface Link {
  transactionId: bigint;
  scriptIds: readonly [bigint, bigint];
}

export interface Links {
  links: Link[];
  /** Whether links are missing. */
  isTruncated: boolean;
}

/** A stretch of the path whose links are not known yet. */
interface Stretch {
  from: bigint;
  to: bigint;
}

type Piece = Stretch | Link;

const isLink = (piece: Piece): piece is Link => 'transactionId' in piece;

/**
 * @param load returns the members with these keys, and any others that are likely to be needed next
 * @param maxLinks limits the links found, which may be anywhere on the path
 */
export async function findLinks(
  { from, to }: Stretch,
  load: (scriptIds: bigint[]) => Promise<Member[]>,
  maxLinks: number,
): Promise<Links> {
  const known = new Map<bigint, Member>();
  let pieces: Piece[] = [{ from, to }];
  for (;;) {
    const missing = new Set<bigint>();
    const found = pieces.filter(isLink).length;
    pieces = divideStretches(pieces, { known, missing, left: maxLinks - found });
    if (missing.size === 0) break;
    for (const member of await load([...missing])) known.set(member.scriptId, member);
    for (const scriptId of missing) {
      if (!known.has(scriptId))
        throw new Error(`script ${scriptId} is in a cluster, but has no row in cluster_members`);
    }
  }
  const links = pieces.filter(isLink);
  return { links, isTruncated: links.length < pieces.length };
}

interface Progress {
  known: ReadonlyMap<bigint, Member>;
  /** Collects the members that must be loaded to continue. */
  missing: Set<bigint>;
  /** How many more links may be found. */
  left: number;
}

/** Divides each stretch by the merge that joined its ends, as far as members are known. */
function divideStretches(pieces: readonly Piece[], { known, missing, left: initial }: Progress): Piece[] {
  const divided: Piece[] = [];
  // A stack instead of recursion, since paths may be long.
  const pending = pieces.toReversed();
  let left = initial;
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    if (isLink(piece)) divided.push(piece);
    else if (piece.from !== piece.to) {
      const merge = left === 0 ? undefined : findJoiningMerge(piece, known, missing);
      if (merge === undefined) divided.push(piece);
      else {
        const [near, far] = merge.ends;
        left -= 1;
        pending.push(
          { from: far, to: piece.to },
          { transactionId: merge.transactionId, scriptIds: merge.ends },
          { from: piece.from, to: near },
        );
      }
    }
  }
  return divided;
}

interface JoiningMerge {
  transactionId: bigint;
  /** The scripts of its inputs, the one on the side of `from` first. */
  ends: readonly [bigint, bigint];
}

/**
 * Climbs from both members, always by the older merge, until they meet: the last merge passed joined them. Returns undefined if a member is not
 * loaded yet, or a cluster has no merges (one written by hand).
 */
function findJoiningMerge(
  { from, to }: Stretch,
  known: ReadonlyMap<bigint, Member>,
  missing: Set<bigint>,
): JoiningMerge | undefined {
  let [a, b] = [known.get(from), known.get(to)];
  let last: JoiningMerge | undefined;
  for (let [idOfA, idOfB] = [from, to]; idOfA !== idOfB; ) {
    if (a === undefined) missing.add(idOfA);
    if (b === undefined) missing.add(idOfB);
    if (a === undefined || b === undefined) return undefined;
    const climbsA = b.merge === null || (a.merge !== null && a.merge.id < b.merge.id);
    const climber = climbsA ? a : b;
    const { parentId, merge } = climber;
    if (parentId === null || merge === null) return undefined;
    // The climbing side was put below the other one.
    last = {
      transactionId: merge.transactionId,
      ends: climbsA ? [merge.mergedScriptId, merge.scriptId] : [merge.scriptId, merge.mergedScriptId],
    };
    if (climbsA) [idOfA, a] = [parentId, known.get(parentId)];
    else [idOfB, b] = [parentId, known.get(parentId)];
  }
  return last;
}
