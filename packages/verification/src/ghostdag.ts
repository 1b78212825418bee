/**
 * Invariant 7 of all blocks: selected parents, mergesets, their order and colours equal those of
 * GHOSTDAG (rusty-kaspa, consensus/src/processes/ghostdag), recomputed from parents, blue work and
 * hashes, which the block's hash commits to. Blocks are read in the order of blue work, so parents
 * come first, and a window of the latest is kept; mergesets hardly ever reach below it. Checks that
 * depend on blocks below the window, or on pre-bootstrap ones, are left out.
 */
import { toHex, workFromBits } from '@kasgres/kaspa';
import type { Queryable } from '@kasgres/state';
import { ColouringBounds, compareBlocks } from './ghostdag-colours.ts';
import { type DagBlock, DagWindow, WINDOW_BLOCKS } from './ghostdag-window.ts';
import { findCrescendo } from './queries.ts';
import type { Since } from './since.ts';

const PAGE = 2_000;
const MOST_FAULTS = 20;

const SELECT = `
  select b.id, b.hash, b.blue_work as "blueWork", b.blue_score as "blueScore",
    b.daa_score as "daaScore", b.bits, b.selected_parent_id as "selectedParent",
    b.merge_set_blues as blues, b.merge_set_reds as reds,
    array(select p.parent_id from block_parents p where p.block_id = b.id
      order by p.index) as parents
  from blocks b where (b.blue_work, b.hash) > ($1, $2) order by b.blue_work, b.hash limit ${PAGE}`;

interface BlockRow extends Omit<DagBlock, 'blueWork' | 'work' | 'selectedParent' | 'anticoneSizes'> {
  blueWork: string;
  bits: bigint;
  selectedParent: bigint | null;
}

/** The blocks below, so that the mergesets of the first checked blocks are known. */
const SELECT_BEFORE = `
  select blue_work as "blueWork", hash from blocks where (blue_work, hash) < ($1, $2)
    order by blue_work desc, hash desc
  offset ${WINDOW_BLOCKS - 1} limit 1`;

type Position = Pick<BlockRow, 'blueWork' | 'hash'>;

/**
 * Returns the faults, one sentence each (the first 20).
 * @param since checks blocks with at least this blue work
 * @param activationDaaScore of Crescendo, which changed k; by default that of the network
 */
export async function checkGhostdag(
  db: Queryable,
  since?: Pick<Since, 'blueWork' | 'hash'>,
  activationDaaScore?: bigint,
): Promise<string[]> {
  const activation = activationDaaScore ?? (await findCrescendo(db))?.activationDaaScore ?? 0n;
  const checker = new GhostdagChecker(since === undefined ? -1n : BigInt(since.blueWork), activation);
  let after: Position = { blueWork: '-1', hash: Buffer.alloc(0) };
  if (since !== undefined) {
    const { rows } = await db.query<Position>(SELECT_BEFORE, [since.blueWork, Buffer.from(since.hash, 'hex')]);
    after = rows[0] ?? after;
  }
  while (checker.faults.length < MOST_FAULTS) {
    const { rows }: { rows: BlockRow[] } = await db.query<BlockRow>(SELECT, [after.blueWork, after.hash]);
    for (const row of rows) checker.add(row);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last;
  }
  return checker.faults.slice(0, MOST_FAULTS);
}

class GhostdagChecker {
  readonly faults: string[] = [];
  readonly #window = new DagWindow();
  readonly #colours: ColouringBounds;

  /**
   * By key of a block that was referred to before it came: the hash of a referring block, hex. Most
   * are pre-bootstrap and never come.
   */
  readonly #awaited = new Map<bigint, string>();
  /** The least blue work of checked blocks. Others only fill the window. */
  readonly #checkedFrom: bigint;

  constructor(checkedFrom: bigint, activationDaaScore: bigint) {
    this.#checkedFrom = checkedFrom;
    this.#colours = new ColouringBounds(this.#window, activationDaaScore);
  }

  add(row: BlockRow): void {
    const block = toDagBlock(row);
    const isChecked = block.blueWork >= this.#checkedFrom;
    const faults = isChecked
      ? [...this.#wrongParents(block), ...this.#wrongMergeSet(block), ...this.#wrongOrder(block)]
      : [];
    this.#window.add(block);
    // The colours of a wrong mergeset mean nothing.
    if (faults.length === 0) {
      const wrongColours = this.#colours.add(block);
      if (isChecked) faults.push(...wrongColours);
    }
    this.faults.push(...faults.map((fault) => `block ${toHex(block.hash)}: ${fault}`));
  }

  /** Every block in the past of a block has less blue work. */
  *#wrongOrder({ id, hash, parents, blues, reds }: DagBlock): Generator<string> {
    const child = this.#awaited.get(id);
    if (child !== undefined) yield `block ${child} refers to it, and has less blue work`;
    for (const other of [...parents, ...blues, ...reds]) {
      if (this.#window.get(other) === undefined) this.#awaited.set(other, toHex(hash));
    }
  }

  *#wrongParents({ selectedParent, parents }: DagBlock): Generator<string> {
    if (selectedParent === undefined) return;
    if (!parents.includes(selectedParent)) yield 'its selected parent is not among its parents';
    const selected = this.#window.get(selectedParent);
    if (selected === undefined) return;
    const better = this.#known(parents).find((parent) => compareBlocks(parent, selected) > 0);
    if (better !== undefined) yield `block ${better.id} is a parent of more blue work than its selected parent`;
  }

  *#wrongMergeSet(block: DagBlock): Generator<string> {
    const { selectedParent, blues, reds, parents } = block;
    if (selectedParent === undefined) {
      if (blues.length + reds.length > 0) yield 'it has a mergeset without a selected parent';
      return;
    }
    if (blues[0] !== selectedParent) yield 'its mergeset does not begin with its selected parent';
    const merged = new Set([...blues, ...reds]);
    if (merged.size !== blues.length + reds.length) yield 'its mergeset has a block twice';
    const selected = this.#window.get(selectedParent);
    if (selected === undefined) return;
    if (block.blueScore !== selected.blueScore + BigInt(blues.length))
      yield 'its blue score does not follow from the number of its blues';
    const known = this.#known(blues);
    if (known.length === blues.length) {
      const work = known.reduce((sum, blue) => sum + blue.work, selected.blueWork);
      if (work !== block.blueWork) yield 'its blue work does not follow from its blues';
    }
    for (const colour of [blues.slice(1), reds]) if (!this.#isAscending(colour)) yield 'its mergeset is not in order';
    yield* this.#wrongMembers(block, merged);
    for (const id of parents) {
      if (!merged.has(id) && this.#window.isInPast(id, selectedParent) === false) {
        yield `it does not merge its parent ${id}, which is not in the past of its selected parent`;
      }
    }
  }

  /**
   * The mergeset beside the selected parent is the past of the other parents without the past of
   * the selected parent.
   */
  *#wrongMembers({ selectedParent, parents }: DagBlock, merged: ReadonlySet<bigint>): Generator<string> {
    const others = [...merged].filter((id) => id !== selectedParent);
    const reached = new Set(parents);
    for (const member of this.#known(others)) for (const parent of member.parents) reached.add(parent);
    for (const { id, parents: parentsOfMember } of this.#known(others)) {
      if (!reached.has(id)) yield `it merges block ${id}, which is not in its past`;
      if (this.#window.isInPast(id, selectedParent as bigint) === true) {
        yield `it merges block ${id}, which is in the past of its selected parent`;
      }
      const missing = parentsOfMember.find((parent) => {
        return !merged.has(parent) && this.#window.isInPast(parent, selectedParent as bigint) === false;
      });
      if (missing !== undefined) yield `it merges block ${id} but not its parent ${missing}`;
    }
  }

  #isAscending(ids: readonly bigint[]): boolean {
    const blocks = this.#known(ids);
    return blocks.every((block, i) => i === 0 || compareBlocks(blocks[i - 1] as DagBlock, block) < 0);
  }

  #known(ids: readonly bigint[]): DagBlock[] {
    return ids.flatMap((id) => this.#window.get(id) ?? []);
  }
}

function toDagBlock({ blueWork, bits, selectedParent, ...row }: BlockRow): DagBlock {
  const work = workFromBits(Number(bits));
  return { ...row, blueWork: BigInt(blueWork), work, selectedParent: selectedParent ?? undefined };
}
