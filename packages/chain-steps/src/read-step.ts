/**
 * Reads what happened on the chain after a block, in steps of at most a hundred chain blocks and
 * about a megabyte: the blocks that were removed and added since, what they accepted, and whose
 * transactions reached a number of confirmations. A step is one statement, and so one state of the
 * index (invariant 9), for a reader at the sink as for one that catches up.
 */
import { type IndexReader, type IndexState, requireCaughtUp } from '@kasgres/reads';
import type { AddressChange } from './address-changes.ts';
import { type StepChanges, toStepChanges } from './changes.ts';
import type { CovenantChange, CovenantFilter } from './covenant-changes.ts';
import type { AddedChainBlockJson } from './event-schemas.ts';
import { type NewBlocks, toNewBlocks } from './new-blocks.ts';
import { requireStart } from './require-start.ts';
import { type StepContent, stepStatement } from './step-statement.ts';

/** About a megabyte of ids. */
const MAX_TRANSACTIONS = 12_000;
/** About a megabyte of activity of addresses and covenants. */
const MAX_CHANGES = 1_800;

export interface Step {
  /** Hashes of the block that the step begins at, and of the one that it reaches. */
  from: string;
  to: string;
  blueScore: bigint;
  /** Whether the reached block is the sink. */
  isCaughtUp: boolean;
  /** Whether the balances of the changes are those at the reached block. */
  hasBalances: boolean;
  /** From the top down. */
  removed: string[];
  /** From the bottom up. */
  added: AddedChainBlockJson[];
  /** The changes of addresses; undefined if they were not asked for. */
  changes: StepChanges<AddressChange> | undefined;
  /** The same of covenants, whose events are not kept during the first catch-up, either. */
  covenants: StepChanges<CovenantChange> | undefined;
}

export interface StepRequest {
  withIds: boolean;
  /** The addresses whose changes are read, or 'all'; undefined for none. */
  addresses: readonly string[] | 'all' | undefined;
  /** The covenants whose events are read, or 'all'; undefined for none. */
  covenants: CovenantFilter | 'all' | undefined;
  /** Numbers of confirmations that subscriptions ask for. */
  confirmations: Iterable<number>;
  /**
   * The step adds no chain block above this block, or above the chain block that its selected
   * parents lead down to. Default: the sink.
   */
  upTo?: string;
  /**
   * Reads new blocks, too: those after the last one that was read. Without one, no block is new.
   */
  blocksAfter?: { last: bigint | undefined };
  /**
   * The most transactions that are accepted, had been accepted or are confirmed, and the most
   * changes, unless a step has one chain block.
   */
  limits?: { transactions: number; changes: number };
}

export interface StepRead {
  state: IndexState;
  /** Undefined if the reader is at the sink, too. */
  step: Step | undefined;
  /** None without `blocksAfter`. */
  newBlocks: NewBlocks;
}

/** A gap ends at a bootstrap block. Looking for one makes each read at the sink slower. */
const mayHaveGaps = ({ bootstrapBlocks }: IndexState): boolean => bootstrapBlocks > 1;

/** `null` stands for all. */
const listedOf = <T>(wanted: T | 'all' | undefined): T | undefined => (wanted === 'all' ? undefined : wanted);

/**
 * @param caller takes turns with others
 * @throws HttpError 404 if the block is unknown; 409 if it is before the index, at a gap, or what
 * it accepted is no longer known; 503 for single covenants during the first catch-up
 */
export async function readStep(
  index: IndexReader,
  from: string,
  request: StepRequest,
  caller: string,
): Promise<StepRead> {
  const { addresses, covenants, upTo, blocksAfter, limits } = request;
  const withChanges = addresses !== undefined || covenants !== undefined;
  const start = Buffer.from(from, 'hex');
  const confirmations = [...request.confirmations];
  // No client has the changes of all.
  const isForAll = addresses === 'all' || covenants === 'all';
  const variant = {
    withIds: request.withIds,
    withAddresses: addresses !== undefined,
    withCovenants: covenants !== undefined,
    withBlocks: blocksAfter !== undefined,
    withUpTo: upTo !== undefined,
  };
  const parameters = {
    from: start,
    upTo: upTo === undefined ? undefined : Buffer.from(upTo, 'hex'),
    addresses: listedOf(addresses),
    covenants: listedOf(covenants)?.ids,
    templates: listedOf(covenants)?.templates,
    confirmations,
    maxTransactions: limits?.transactions ?? MAX_TRANSACTIONS,
    maxChanges: isForAll ? Number.MAX_SAFE_INTEGER : (limits?.changes ?? MAX_CHANGES),
    lastBlock: blocksAfter?.last,
  };
  const run = (withGaps: boolean) => index.run(stepStatement({ ...variant, withGaps }).with(parameters), caller);
  const withGaps = mayHaveGaps(await index.getSettledState());
  const first = await run(withGaps);
  const { state, body } = mayHaveGaps(first.state) && !withGaps ? await run(true) : first;
  const content = JSON.parse(String(body)) as StepContent;
  const { isFollowed, isKnown, removed, added } = content;
  if (covenants !== undefined && covenants !== 'all') requireCaughtUp(state);
  // Throws the reason, unless the chain has changed meanwhile.
  if (!isFollowed || (withChanges && !isKnown))
    await index.read((reading) => requireStart(reading, start, withChanges), caller);
  const read = { state, newBlocks: toNewBlocks(content.newBlocks ?? undefined) };
  if (removed.length + added.length === 0) return { ...read, step: undefined };
  const { hash: to, blueScore } = added.at(-1) ?? content.below;
  const isCaughtUp = to === state.sinkHash;
  const step = {
    from,
    to,
    blueScore: BigInt(blueScore),
    isCaughtUp,
    // Balances are not kept during the first catch-up.
    hasBalances: isCaughtUp && !state.firstCatchUp,
    removed,
    added,
    changes: toStepChanges(content.addresses, confirmations),
    covenants: state.firstCatchUp ? undefined : toStepChanges(content.covenants, confirmations),
  };
  return { ...read, step };
}
