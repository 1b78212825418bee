/**
 * Reads what happened on the chain after a block, in steps (API-explorer: at most PAGE_BLOCKS chain blocks and about a megabyte): the blocks that
 * were removed and added since, what they accepted, and whose transactions reached a number of confirmations. A step is one state of the index (invariant 9).
 */
import { type RawBuilder, sql } from 'kysely';
import { conflict } from '../http/errors.ts';
import type { IndexState } from '../index-state/index-state.ts';
import { type JsonFields, jsonObject } from '../index-state/json.ts';
import { type Db, hex, text } from '../index-state/sql.ts';
import { type Reading, requireCaughtUp } from '../index-state/state.ts';
import { cannotCross, gapAbove, getPathToChain, listGaps } from '../resources/chain/segments.ts';
import { type AddressChange, addressChanges } from './address-changes.ts';
import type { Change, ChangeReader, Item, StepChanges } from './changes.ts';
import { type CovenantChange, covenantChanges, type CovenantFilter } from './covenant-changes.ts';
import type { AddedChainBlockJson } from './event-schemas.ts';

const PAGE_BLOCKS = 100;
/** About a megabyte of ids. */
const PAGE_TRANSACTIONS = 12_000;
/** About a megabyte of activity of addresses and covenants. */
const PAGE_CHANGES = 1_800;

export interface Step {
  /** Hashes of the block that the step begins at, and of the one that it reaches. */
  from: string;
  to: string;
  blueScore: bigint;
  /** Position of the reached block on the chain; undefined if it is not there. */
  chainIndex: bigint | undefined;
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
  /** The step adds no chain block above this block, or above the chain block that its selected parents lead down to. Default: the sink. */
  upTo?: string;
}

export interface ChainRow extends AddedChainBlockJson {
  index: string;
  /** Number of accepted transactions. */
  accepted: number;
}

/**
 * Checks that the chain can be followed from a block up to the sink.
 * @throws HttpError 404 if the block is unknown; 409 if it is before the index, below a gap, or what it accepted is no longer known
 */
export async function requireStart(reading: Reading, from: Uint8Array, withChanges: boolean): Promise<void> {
  const { offChain, chainBlock } = await getPathToChain(reading, from);
  const gap = (await listGaps(reading)).findLast(({ after }) => after.index >= chainBlock.index);
  if (gap !== undefined) throw cannotCross(gap);
  if (withChanges) await requireKnown(reading, offChain, chainBlock);
}

/**
 * Returns undefined if the block is the sink.
 * @throws HttpError 404 if the block is unknown; 409 if it is before the index, below a gap, or what it accepted is no longer known
 */
export async function readStep(reading: Reading, from: string, request: StepRequest): Promise<Step | undefined> {
  const { db, state } = reading;
  const ofAddresses = request.addresses === undefined ? undefined : addressChanges(request.addresses);
  const ofCovenants = covenantReader(state, request.covenants);
  const withChanges = ofAddresses !== undefined || ofCovenants !== undefined;
  const { offChain, chainBlock } = await getPathToChain(reading, Buffer.from(from, 'hex'));
  const start = offChain[0] ?? chainBlock;

  const off = offChain.slice(0, PAGE_BLOCKS);
  if (withChanges) await requireKnown(reading, off, chainBlock);
  const reverted = {
    ofAddresses: await listReverted(db, off, ofAddresses),
    ofCovenants: await listReverted(db, off, ofCovenants),
  };
  const allReverted = [...reverted.ofAddresses, ...reverted.ofCovenants];
  const removed = off.slice(0, blocksOfPage(off, allReverted, request));
  const rest = offChain[removed.length];

  const above =
    rest === undefined ? await listAdded(reading, chainBlock.index, PAGE_BLOCKS - removed.length, request) : [];
  const accepted = {
    ofAddresses: await listAccepted(db, above, ofAddresses),
    ofCovenants: await listAccepted(db, above, ofCovenants),
  };
  const allAccepted = [...accepted.ofAddresses, ...accepted.ofCovenants];
  const rows = above.slice(0, blocksOfPage(above, allAccepted, request, allReverted.length));
  if (removed.length === 0 && rows.length === 0) return undefined;

  const highest = BigInt(rows.at(-1)?.index ?? chainBlock.index);
  const reached = rest ?? rows.at(-1) ?? chainBlock;
  const blueScore = BigInt(reached.blueScore);
  const confirmed = {
    added: rows.map(({ index }) => index),
    before: start.blueScore,
    after: blueScore,
    confirmations: request.confirmations,
    reachesChain: rest === undefined,
    highest,
  };
  const changesOf = async <Kind extends Change>(
    reader: ChangeReader<Kind> | undefined,
    read: Record<'reverted' | 'accepted', Kind[]>,
  ): Promise<StepChanges<Kind> | undefined> =>
    reader && {
      reverted: ofBlocks(read.reverted, removed),
      accepted: ofBlocks(read.accepted, rows),
      confirmed: await readConfirmed(db, reader, confirmed),
    };
  return completeStep(state, {
    from,
    to: reached.hash,
    blueScore,
    chainIndex: rest === undefined ? highest : undefined,
    removed: removed.map(({ hash }) => hash),
    added: rows.map(toAddedBlock),
    changes: await changesOf(ofAddresses, { reverted: reverted.ofAddresses, accepted: accepted.ofAddresses }),
    covenants: await changesOf(ofCovenants, { reverted: reverted.ofCovenants, accepted: accepted.ofCovenants }),
  });
}

/** @throws HttpError 503 during the first catch-up, except to who reads all that there is */
function covenantReader(state: IndexState, wanted: StepRequest['covenants']): ChangeReader<CovenantChange> | undefined {
  if (wanted === undefined || (wanted === 'all' && state.firstCatchUp)) return undefined;
  requireCaughtUp(state);
  return covenantChanges(wanted);
}

/** Adds what follows from the state that the step was read in. */
export function completeStep(
  { sinkHash, firstCatchUp }: IndexState,
  step: Omit<Step, 'isCaughtUp' | 'hasBalances'>,
): Step {
  const isCaughtUp = step.to === sinkHash;
  // Balances are not kept during the first catch-up.
  return { ...step, isCaughtUp, hasBalances: isCaughtUp && !firstCatchUp };
}

type Identified = Pick<ChainRow, 'hash'>;

/**
 * Returns how many of these blocks belong to the step: as many as have a page of changes together, at least one. The follower reads single blocks,
 * of which no client has all changes.
 * @param before changes that the step has already
 */
export function blocksOfPage(
  blocks: readonly Identified[],
  changes: readonly Pick<Change, 'acceptingBlockHash'>[],
  { addresses, covenants, confirmations }: Pick<StepRequest, 'addresses' | 'covenants' | 'confirmations'>,
  before = 0,
): number {
  if (addresses === 'all' || covenants === 'all') return blocks.length;
  // About as many are confirmed as are accepted.
  const limit = [...confirmations].length > 0 ? PAGE_CHANGES / 2 : PAGE_CHANGES;
  const counts = Map.groupBy(changes, ({ acceptingBlockHash }) => acceptingBlockHash);
  let count = before;
  const end = blocks.findIndex(({ hash }, i) => {
    count += counts.get(hash)?.length ?? 0;
    return count > limit && (i > 0 || before > 0);
  });
  return end === -1 ? blocks.length : end;
}

function ofBlocks<Kind extends Change>(changes: readonly Kind[], blocks: readonly Identified[]): Kind[] {
  const hashes = new Set(blocks.map(({ hash }) => hash));
  return changes.filter(({ acceptingBlockHash }) => hashes.has(acceptingBlockHash));
}

export const toAddedBlock = ({ index: _index, accepted: _accepted, ...block }: ChainRow): AddedChainBlockJson => block;

const hashesOf = (column: string): RawBuilder<string[]> => sql`array(
    select encode(m.hash, 'hex') from unnest(${sql.ref(column)}) with ordinality merged (id, n) join blocks m on m.id = merged.id order by n)`;

/** The fields of the chain block `c` with its block `b`. */
export const chainRowFields = (withIds: boolean): JsonFields<ChainRow> => ({
  index: text('c.index'),
  hash: hex('c.hash'),
  selectedParentHash: sql`
    encode(coalesce((select p.hash from blocks p where p.id = b.selected_parent_id), pre_bootstrap_block_hash(b.selected_parent_id)), 'hex')`,
  blueScore: text('c.blue_score'),
  daaScore: text('c.daa_score'),
  timestamp: sql`c.timestamp`,
  mergeSetBluesHashes: hashesOf('b.merge_set_blues'),
  mergeSetRedsHashes: hashesOf('b.merge_set_reds'),
  ...(withIds && {
    acceptedTransactionIds: sql`array(
        select encode(t.transaction_id, 'hex') from unnest(c.accepted_transactions) with ordinality a (id, n)
        join transactions t on t.id = a.id order by n)`,
  }),
  accepted: sql`cardinality(c.accepted_transactions)`,
});

/** Lists chain blocks above an index, up to a gap, at least one if there is any. */
async function listAdded(
  reading: Reading,
  above: bigint,
  limit: number,
  { withIds, upTo }: StepRequest,
): Promise<readonly ChainRow[]> {
  const gap = gapAbove(await listGaps(reading), above);
  if (gap?.after.index === above) throw cannotCross(gap);
  if (limit === 0) return [];
  const last = upTo === undefined ? undefined : await getPathToChain(reading, Buffer.from(upTo, 'hex'));
  const { rows } = await sql<{ row: ChainRow }>`
    select ${jsonObject(chainRowFields(withIds))} as row
    from chain_blocks c join blocks b on b.id = c.block_id
    where c.index > ${above} and c.index <= ${above + BigInt(limit)} ${gap ? sql`and c.index <= ${gap.after.index}` : sql``}
      ${last === undefined ? sql`` : sql`and c.index <= ${last.chainBlock.index}`}
    order by c.index`.execute(reading.db);
  return pageOf(rows.map(({ row }) => row));
}

/** Returns as many rows as have a page of transactions together, at least one. */
export function pageOf(rows: readonly ChainRow[]): readonly ChainRow[] {
  let transactions = 0;
  const end = rows.findIndex(({ accepted }, i) => (transactions += accepted) > PAGE_TRANSACTIONS && i > 0);
  return end === -1 ? rows : rows.slice(0, end);
}

interface ConfirmedRequest {
  added: readonly string[];
  /** Blue scores of the blocks at both ends of the step. */
  before: bigint;
  after: bigint;
  confirmations: Iterable<number>;
  /** Whether the step ends on the chain. Only then it confirms. */
  reachesChain: boolean;
  /** Index of the reached chain block. */
  highest: bigint;
}

async function readConfirmed<Kind extends Change>(
  db: Db,
  reader: ChangeReader<Kind>,
  request: ConfirmedRequest,
): Promise<Map<number, Kind[]>> {
  const { added, before, after } = request;
  const confirmed = new Map<number, Kind[]>();
  for (const confirmations of request.confirmations) {
    const source = confirmedBlocks({
      added: sql`select * from chain_blocks where index = any(${added}::bigint[])`,
      above: sql`${before - BigInt(confirmations)}::bigint`,
      upTo: sql`${after - BigInt(confirmations)}::bigint`,
      highest: sql`${request.highest}::bigint`,
    });
    confirmed.set(confirmations, request.reachesChain ? await listChanges(db, reader.selectAccepted(source)) : []);
  }
  return confirmed;
}

/**
 * Selects the chain blocks that a step confirms: those with a blue score above `above` and up to `upTo`. Also selects all added blocks up to `upTo`, since
 * after a reorg they may be below `above`.
 */
export const confirmedBlocks = ({
  added,
  above,
  upTo,
  highest,
}: Record<'added' | 'above' | 'upTo' | 'highest', RawBuilder<unknown>>): RawBuilder<unknown> => sql`
    select distinct on (place) place, hash, blue_score, accepted_transactions from (
      select index as place, hash, blue_score, accepted_transactions from (${added}) added where blue_score <= ${upTo}
      union all
      select c.index, c.hash, c.blue_score, c.accepted_transactions
      from blocks b cross join lateral (select * from chain_blocks where block_id = b.id limit 1) c
      where b.is_chain_block and b.blue_score > ${above} and b.blue_score <= ${upTo} and c.index <= ${highest}) confirmed
    order by place`;

async function listAccepted<Kind extends Change>(
  db: Db,
  rows: readonly ChainRow[],
  reader: ChangeReader<Kind> | undefined,
): Promise<Kind[]> {
  if (rows.length === 0 || reader === undefined) return [];
  const source = sql`select c.index as place, c.hash, c.blue_score, c.accepted_transactions from chain_blocks c
    where c.index = any(${rows.map(({ index }) => index)}::bigint[])`;
  return listChanges(db, reader.selectAccepted(source));
}

/** @param blocks from the top down; those that never were chain blocks accepted nothing */
async function listReverted<Kind extends Change>(
  db: Db,
  blocks: readonly { id: bigint }[],
  reader: ChangeReader<Kind> | undefined,
): Promise<Kind[]> {
  if (blocks.length === 0 || reader === undefined) return [];
  const source = sql`
    select listed.n as place, b.hash, b.blue_score, r.accepted_transactions, r.covenant_events
    from unnest(${blocks.map(({ id }) => id)}::bigint[]) with ordinality listed (id, n)
    join removed_chain_blocks r on r.block_id = listed.id join blocks b on b.id = listed.id`;
  return listChanges(db, reader.selectReverted(source));
}

/**
 * The indexer keeps rows of removed chain blocks for twice the finality depth, and no reorg is deeper than that depth. So above it, a block without a
 * row never was a chain block.
 * @param offChain blocks above the chain block, off the chain
 * @throws HttpError 409 if these blocks may have been chain blocks whose rows are deleted
 */
async function requireKnown(
  { db, state }: Reading,
  offChain: readonly { id: bigint }[],
  chainBlock: { index: bigint },
): Promise<void> {
  const isKept = chainBlock.index >= state.sinkChainIndex - state.network.finalityDepth;
  if (offChain.length === 0 || isKept) return;
  const { rows } = await sql<{ known: bigint }>`
    select count(*) as known from removed_chain_blocks where block_id = any(${offChain.map(({ id }) => id)}::bigint[])`.execute(
    db,
  );
  if (Number(rows[0]?.known) === offChain.length) return;
  throw conflict(
    'What the removed blocks had accepted is no longer known: read the present state and continue from its sink',
  );
}

async function listChanges<Kind extends Change>(db: Db, changes: RawBuilder<Item<Kind>>): Promise<Kind[]> {
  const { rows } = await changes.execute(db);
  return rows.map(({ item }) => item);
}
