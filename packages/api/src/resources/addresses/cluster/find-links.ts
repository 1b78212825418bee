/**
 * Finds the path of merges that links two members of a cluster. Clustering keeps a forest in which
 * one merge put every member but the root below another, and merges get younger upwards
 * (migrations/0001_schema.sql). So the youngest merge below the lowest common ancestor of two
 * members joined their two parts. One of its two inputs belongs to each part, and the link between
 * that input and its member is the same problem again. Every merge joins two separate parts, so
 * there is only one path.
 */

/** A member with the merge that put it below its parent; the root has none. */
export interface Member {
  scriptId: bigint;
  parentId: bigint | null;
  /** cluster_merges.id: younger merges have higher ones. */
  mergeId: bigint | null;
  transactionId: bigint | null;
  /** Script of the input in the part whose root stayed a root. */
  stayedScriptId: bigint | null;
  /** Script of the input in the part that was put below it. */
  mergedScriptId: bigint | null;
}

/** A transaction with inputs of both scripts, in the order of the path. */
export interface Link {
  transactionId: bigint;
  scriptIds: readonly [bigint, bigint];
}

/** A part of the path whose links are not known yet. */
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
): Promise<{ links: Link[]; isTruncated: boolean }> {
  const known = new Map<bigint, Member>();
  let pieces: Piece[] = [{ from, to }];
  for (;;) {
    const missing = new Set<bigint>();
    pieces = divideStretches(pieces, maxLinks, (stretch) => findJoiningLink(stretch, known, missing));
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

/** Divides each stretch by the link that joined its ends, as far as such links are found. */
function divideStretches(
  pieces: readonly Piece[],
  maxLinks: number,
  findLink: (stretch: Stretch) => Link | undefined,
): Piece[] {
  const divided: Piece[] = [];
  // A stack instead of recursion, since paths may be long.
  const pending = pieces.toReversed();
  let left = maxLinks - pieces.filter(isLink).length;
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    if (isLink(piece)) divided.push(piece);
    else if (piece.from !== piece.to) {
      const link = left === 0 ? undefined : findLink(piece);
      if (link === undefined) divided.push(piece);
      else {
        const [near, far] = link.scriptIds;
        left -= 1;
        pending.push({ from: far, to: piece.to }, link, { from: piece.from, to: near });
      }
    }
  }
  return divided;
}

/**
 * Climbs from both members, always by the older merge, until they meet: the last merge passed
 * joined them. Returns undefined if a member is not loaded yet, which is then added to `missing`,
 * or if a cluster has no merges (one written by hand).
 */
function findJoiningLink(
  { from, to }: Stretch,
  known: ReadonlyMap<bigint, Member>,
  missing: Set<bigint>,
): Link | undefined {
  let link: Link | undefined;
  for (let [idOfA, idOfB] = [from, to]; idOfA !== idOfB; ) {
    const [a, b] = [known.get(idOfA), known.get(idOfB)];
    if (a === undefined) missing.add(idOfA);
    if (b === undefined) missing.add(idOfB);
    if (a === undefined || b === undefined) return undefined;
    const climbsA = b.mergeId === null || (a.mergeId !== null && a.mergeId < b.mergeId);
    const { parentId, transactionId, stayedScriptId, mergedScriptId } = climbsA ? a : b;
    if (parentId === null || transactionId === null || stayedScriptId === null || mergedScriptId === null) {
      return undefined;
    }
    // The climbing side was put below the other one.
    link = { transactionId, scriptIds: climbsA ? [mergedScriptId, stayedScriptId] : [stayedScriptId, mergedScriptId] };
    if (climbsA) idOfA = parentId;
    else idOfB = parentId;
  }
  return link;
}
