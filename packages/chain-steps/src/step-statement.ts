/**
 * The statement that reads a step. It makes one table of another, all of which have few rows: at
 * the sink, a step has one or two chain blocks.
 */
import {
  hex,
  joinedGaps,
  jsonArray,
  type JsonFields,
  jsonObject,
  type ParameterOf,
  pathToChain,
  statementsBy,
  text,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { type AddressChange, selectAddressChanges } from './address-changes.ts';
import { type ChangeList, changeLists } from './changes.ts';
import { type CovenantChange, selectCovenantChanges } from './covenant-changes.ts';
import type { AddedChainBlockJson } from './event-schemas.ts';
import { newBlocks, type NewBlocksJson, selectNewBlocks } from './new-blocks.ts';

const MAX_CHAIN_BLOCKS = 100;

interface Parameters {
  from: Uint8Array;
  upTo: Uint8Array | undefined;
  addresses: readonly string[] | undefined;
  covenants: readonly string[] | undefined;
  templates: readonly string[] | undefined;
  confirmations: readonly number[];
  maxTransactions: number;
  maxChanges: number;
  lastBlock: bigint | undefined;
}

interface Variant {
  withIds: boolean;
  withAddresses: boolean;
  withCovenants: boolean;
  withBlocks: boolean;
  withUpTo: boolean;
  withGaps: boolean;
}

export interface StepContent {
  /** Whether the chain can be followed from the block. */
  isFollowed: boolean;
  /** Whether it is known what all removed blocks had accepted. */
  isKnown: boolean;
  removed: string[];
  /** The block below those. */
  below: { hash: string; blueScore: string };
  added: AddedChainBlockJson[];
  addresses: ChangeList<AddressChange>[] | null;
  covenants: ChangeList<CovenantChange>[] | null;
  newBlocks: NewBlocksJson | null;
}

const hashesOf = (column: string): RawBuilder<string[]> => sql`array(
  select encode(m.hash, 'hex') from unnest(${sql.ref(column)}) with ordinality merged (id, n)
  join blocks m on m.id = merged.id order by n)`;

/** The fields of the chain block `c` with its block `b`. */
const addedFields = (withIds: boolean): JsonFields<AddedChainBlockJson> => ({
  hash: hex('c.hash'),
  selectedParentHash: sql`encode(coalesce(
    (select p.hash from blocks p where p.id = b.selected_parent_id),
    pre_bootstrap_block_hash(b.selected_parent_id)), 'hex')`,
  blueScore: text('c.blue_score'),
  daaScore: text('c.daa_score'),
  timestamp: sql`c.timestamp`,
  mergeSetBluesHashes: hashesOf('b.merge_set_blues'),
  mergeSetRedsHashes: hashesOf('b.merge_set_reds'),
  ...(withIds && {
    acceptedTransactionIds: sql`array(
      select encode(t.transaction_id, 'hex')
      from unnest(c.accepted_transactions) with ordinality a (id, n)
      join transactions t on t.id = a.id order by n)`,
  }),
});

/**
 * Selects the chain block `fork` that the path leads to. There is none if the chain cannot be
 * followed from there.
 */
function selectFork(parameter: ParameterOf<Parameters>, { withUpTo, withGaps }: Variant): RawBuilder<unknown> {
  const none = sql`null::bigint`;
  const gap = sql`(
    select min(lower.index) from ${joinedGaps} where bootstrap_blocks.chain_index > fork.index)`;
  const upTo = sql`(
    select index from (${pathToChain(parameter('upTo', 'bytea'))}) up_to where index is not null)`;
  return sql`
    select *, least(index + ${sql.lit(MAX_CHAIN_BLOCKS)}, gap, up_to) as highest
    from (
      select fork.index, fork.blue_score, start.blue_score as start_blue_score,
        ${withGaps ? gap : none} as gap, ${withUpTo ? upTo : none} as up_to
      from path fork join path start on start.depth = 0
      where fork.index is not null
      offset 0) fork
    where gap is distinct from index ${withUpTo ? sql`and up_to is not null` : sql``}`;
}

/**
 * Selects the chain blocks that the step may have. `n` counts those that it removes, from the top
 * down, and then those that it adds.
 */
const candidates = sql`
  select row_number() over (order by index nulls first, depth) as n, candidate.*
  from (
    select path.depth, path.index, path.id as block_id, path.hash, path.blue_score,
      null::bigint as daa_score, null::bigint as timestamp,
      removed.accepted_transactions, removed.covenant_events
    from fork cross join path
    left join lateral (
      select * from removed_chain_blocks where block_id = path.id limit 1) removed on true
    where path.index is null
    union all
    select 0, added.index, added.block_id, added.hash, added.blue_score, added.daa_score,
      added.timestamp, added.accepted_transactions, null
    from fork cross join lateral (
      select * from chain_blocks where index > fork.index and index <= fork.highest
      order by index limit ${sql.lit(MAX_CHAIN_BLOCKS)}) added) candidate
  order by n limit ${sql.lit(MAX_CHAIN_BLOCKS)}`;

/**
 * Selects each confirmed chain block with the first candidate that is high enough. After a reorg,
 * those that it added count, however low they are.
 */
const selectConfirmed = (confirmations: RawBuilder<readonly number[]>): RawBuilder<unknown> => sql`
  select candidate.n, wanted.confirmations, c.index, c.hash, c.blue_score, c.accepted_transactions
  from fork cross join unnest(${confirmations}) wanted (confirmations)
  cross join lateral (
    select c.*
    from blocks b
    cross join lateral (select * from chain_blocks where block_id = b.id limit 1) c
    where b.is_chain_block
      and b.blue_score > least(fork.start_blue_score - wanted.confirmations, fork.blue_score)
      and b.blue_score <= (
        select max(blue_score) from candidates where index is not null) - wanted.confirmations
    offset 0) c
  cross join lateral (
    select n from candidates
    where index is not null and blue_score >= c.blue_score + wanted.confirmations
    order by n limit 1) candidate`;

/** Selects the first candidates, as many as have few transactions together, and at least one. */
const selectPage = (maxTransactions: RawBuilder<number>): RawBuilder<unknown> => sql`
  select *
  from (
    select candidates.*, sum(
      coalesce(cardinality(accepted_transactions), 0) + coalesce(confirmed.transactions, 0)
    ) over (order by n) as transactions
    from candidates
    left join (
      select n, sum(cardinality(accepted_transactions)) as transactions
      from confirmed group by n) confirmed using (n)) page
  where n = 1 or transactions <= ${maxTransactions}`;

/** The table from which changes are selected (changes.ts). */
const source = sql`
  select n, case when index is null then 'reverted' else 'accepted' end as status,
    null::bigint as confirmations, n as position,
    index, hash, blue_score, accepted_transactions, covenant_events
  from page
  union all
  select n, 'confirmed', confirmed.confirmations, confirmed.index,
    confirmed.index, confirmed.hash, confirmed.blue_score, confirmed.accepted_transactions, null
  from confirmed join page using (n)`;

/**
 * Selects the first chain blocks of the page, as many as have few changes together, and at least
 * one.
 */
const selectStep = (tables: readonly string[], maxChanges: RawBuilder<number>): RawBuilder<unknown> => {
  if (tables.length === 0) return sql`select * from page`;
  const changed = tables.map((table) => sql`select n from ${sql.table(table)}`);
  return sql`
    select *
    from (
      select page.*, sum(coalesce(changed.changes, 0)) over (order by n) as changes
      from page
      left join (
        select n, count(*) as changes
        from (${sql.join(changed, sql` union all `)}) changed group by n) changed using (n)) page
    where n = 1 or changes <= ${maxChanges}`;
};

function tablesOf(parameter: ParameterOf<Parameters>, variant: Variant) {
  const changes = {
    ...(variant.withAddresses && { address_changes: selectAddressChanges(parameter('addresses', 'text[]')) }),
    ...(variant.withCovenants && {
      covenant_changes: selectCovenantChanges({
        ids: parameter('covenants', 'text[]'),
        templates: parameter('templates', 'text[]'),
      }),
    }),
  };
  return {
    path: pathToChain(parameter('from', 'bytea')),
    fork: selectFork(parameter, variant),
    candidates,
    confirmed: selectConfirmed(parameter('confirmations', 'bigint[]')),
    page: selectPage(parameter('maxTransactions', 'bigint')),
    source,
    ...changes,
    step: selectStep(Object.keys(changes), parameter('maxChanges', 'bigint')),
    ...(variant.withBlocks && { new_blocks: selectNewBlocks(parameter('lastBlock', 'bigint')) }),
  };
}

const none = sql<null>`null::json`;
const isInStep = sql`n <= (select max(n) from step)`;

export const stepStatement = statementsBy('step', (parameter: ParameterOf<Parameters>, variant: Variant) => ({
  tables: tablesOf(parameter, variant),
  body: jsonBuildObject({
    isFollowed: sql`exists (select from fork)`,
    isKnown: sql`not exists (
      select from step where index is null and accepted_transactions is null)`,
    removed: jsonArray(hex('step.hash'), sql`from step where index is null order by n`),
    below: sql`(
      select ${jsonObject<StepContent['below']>({ hash: hex('path.hash'), blueScore: text('path.blue_score') })}
      from path where depth = (select count(*) from step where index is null))`,
    added: jsonArray(
      jsonObject(addedFields(variant.withIds)),
      sql`from step c cross join lateral (select * from blocks where id = c.block_id limit 1) b
        where c.index is not null order by c.n`,
    ),
    addresses: variant.withAddresses ? changeLists<AddressChange>('address_changes', isInStep) : none,
    covenants: variant.withCovenants ? changeLists<CovenantChange>('covenant_changes', isInStep) : none,
    newBlocks: variant.withBlocks ? newBlocks : none,
  }),
}));
