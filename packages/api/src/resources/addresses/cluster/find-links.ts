/**
 * The chain of merges that ties two members of a cluster together. Clustering keeps a forest in which every member but the root was put
 * below another by one merge, and merges become younger on the way up (migrations/0005_clusters.sql). So the youngest merge that two
 * members pass before they meet is the one that joined their parts; its two inputs belong one to each part, and what ties each of them to
 * its member is the same request again. Every merge joins two parts that were apart: the way is the only one.
 */

export interface Merge {
  /** cluster_merges.id: younger merges have higher ones. */
  id: bigint;
  /** transactions.id */
  transactionId: bigint;
  /** The input's script on the side that stayed. */
  scriptId: bigint;
  /** The input's script on the side that was put below it. */
  mergedScriptId: bigint;
}

export interface Member {
  scriptId: bigint;
  /** Null at the root. */
  parentId: bigint | null;
  /** What put it below its parent; null at the root. */
  merge: Merge | null;
}

/** A transaction with inputs of both scripts, in the order of the way. */
export interface Link {
  transactionId: bigint;
  scriptIds: readonly [bigint, bigint];
}

export interface Links {
  links: Link[];
  /** Whether some of the way is left out. */
  isTruncated: boolean;
}

interface Request {
  from: bigint;
  to: bigint;
}

type Piece = Request | Link;

const isLink = (piece: Piece): piece is Link => 'transactionId' in piece;

/**
 * @param load gives members with these keys, and others at will: those that are likely to be asked for next
 * @param maxLinks of a longer way so many links are found, wherever on the way they are
 */
export async function findLinks(
  { from, to }: Request,
  load: (scriptIds: bigint[]) => Promise<Member[]>,
  maxLinks: number,
): Promise<Links> {
  const known = new Map<bigint, Member>();
  let pieces: Piece[] = [{ from, to }];
  for (;;) {
    const missing = new Set<bigint>();
    const found = pieces.filter(isLink).length;
    pieces = respondWhatIsKnown(pieces, { known, missing, left: maxLinks - found });
    if (missing.size === 0) break;
    for (const member of await load([...missing])) known.set(member.scriptId, member);
    for (const scriptId of missing) {
      if (!known.has(scriptId)) throw new Error(`script ${scriptId} is in a cluster and is no member of it`);
    }
  }
  const links = pieces.filter(isLink);
  return { links, isTruncated: links.length < pieces.length };
}

interface Progress {
  known: ReadonlyMap<bigint, Member>;
  /** Takes the members that must be known to go on. */
  missing: Set<bigint>;
  /** How many more links may be found. */
  left: number;
}

/** Puts in the place of each request its answer, as far as it is known. */
function respondWhatIsKnown(pieces: readonly Piece[], { known, missing, left: atFirst }: Progress): Piece[] {
  const answered: Piece[] = [];
  // Ways may be long: no recursion. The next piece of the way is the last of these.
  const waiting = pieces.toReversed();
  let left = atFirst;
  for (let piece = waiting.pop(); piece !== undefined; piece = waiting.pop()) {
    if (isLink(piece)) answered.push(piece);
    else if (piece.from !== piece.to) {
      const merge = left === 0 ? undefined : findJoiningMerge(piece, known, missing);
      if (merge === undefined) answered.push(piece);
      else {
        const [near, far] = merge.ends;
        left -= 1;
        waiting.push(
          { from: far, to: piece.to },
          { transactionId: merge.transactionId, scriptIds: merge.ends },
          { from: piece.from, to: near },
        );
      }
    }
  }
  return answered;
}

interface JoiningMerge {
  transactionId: bigint;
  /** The scripts of its inputs, first the one on the side where the request begins. */
  ends: readonly [bigint, bigint];
}

/**
 * Both climb, always the one whose next merge is the older, until they meet: the last merge passed joined them. Undefined where a member is
 * not known yet, or a cluster does not say how it came to be (one written by hand).
 */
function findJoiningMerge(
  { from, to }: Request,
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
    // Who climbs was put below the other side.
    last = {
      transactionId: merge.transactionId,
      ends: climbsA ? [merge.mergedScriptId, merge.scriptId] : [merge.scriptId, merge.mergedScriptId],
    };
    if (climbsA) [idOfA, a] = [parentId, known.get(parentId)];
    else [idOfB, b] = [parentId, known.get(parentId)];
  }
  return last;
}
