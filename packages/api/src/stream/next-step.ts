/** Reads what happened since the latest read in one statement, for a reader at the sink. */
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { jsonArray, jsonObject } from '../index-state/json.ts';
import type { IndexState } from '../index-state/index-state.ts';
import type { IndexReader } from '../index-state/state.ts';
import { type ParameterOf, statementsBy } from '../index-state/statement.ts';
import { type DagBlockJson, dagBlockFields } from '../resources/blocks/select-dag-blocks.ts';
import { joinMerging } from '../resources/blocks/select-blocks.ts';
import { type AddressChange, addressChanges } from './address-changes.ts';
import type { Change, ChangeReader, Item, StepChanges } from './changes.ts';
import { type CovenantChange, covenantChanges } from './covenant-changes.ts';
import {
  type ChainRow,
  chainRowFields,
  completeStep,
  confirmedBlocks,
  pageOf,
  type Step,
  toAddedBlock,
} from './read-step.ts';

/** At the sink, a read adds one or two. */
const MAX_CHAIN_BLOCKS = 20;
/** Blocks of one read. About half a megabyte. */
const MAX_BLOCKS = 500;
const NOT_ON_CHAIN = -1n;
const CALLER = 'stream';

/** The position of a reader. */
interface Reached {
  hash: string;
  /** Its position on the chain; undefined if it is not there, or if `readStep` will read the step. */
  chainIndex: bigint | undefined;
  /** Key of the last block that was read. Undefined for none: then no block is new. */
  lastBlock: bigint | undefined;
}

interface NextRequest {
  withIds: boolean;
  /** Whether the changes of addresses are wanted. */
  withChanges: boolean;
  withCovenants: boolean;
  withBlocks: boolean;
  /** Numbers of confirmations that subscriptions ask for. */
  confirmations: readonly number[];
}

interface Next {
  state: IndexState;
  /** Whether `readStep` must read the step: it removes blocks, meets a gap or is long. */
  mustReadStep: boolean;
  /** Undefined if the reader is at the sink, too. */
  step: Step | undefined;
  /** Oldest first. */
  blocks: DagBlockJson[];
  hasMoreBlocks: boolean;
  lastBlock: bigint | undefined;
}

interface Parameters {
  index: bigint;
  hash: Uint8Array;
  lastBlock?: bigint | undefined;
  confirmations: readonly number[];
}

interface ReadChanges<Kind extends Change> {
  accepted: Kind[];
  confirmed: { confirmations: number; changes: Kind[] }[];
}

interface Content {
  isConnected: boolean;
  added: ChainRow[];
  changes: ReadChanges<AddressChange> | null;
  covenants: ReadChanges<CovenantChange> | null;
  blocks: DagBlockJson[];
  lastBlock: string | null;
}

const ofAddresses = addressChanges('all');
const ofCovenants = covenantChanges('all');

const listOf = <Kind>(changes: RawBuilder<Item<Kind>>): RawBuilder<Kind[]> =>
  sql`(select coalesce(json_agg(change.item), '[]') from (${changes}) change)`;

function readChanges<Kind extends Change>(
  { selectAccepted }: ChangeReader<Kind>,
  confirmations: () => RawBuilder<unknown>,
): RawBuilder<ReadChanges<Kind>> {
  const accepted = sql`select index as place, hash, blue_score, accepted_transactions from added`;
  const confirmed = confirmedBlocks({
    added: sql`select * from added`,
    above: sql`(select blue_score from start) - wanted.confirmations`,
    upTo: sql`(select max(blue_score) from added) - wanted.confirmations`,
    highest: sql`(select max(index) from added)`,
  });
  return jsonBuildObject({
    accepted: listOf(selectAccepted(accepted)),
    confirmed: jsonArray(
      jsonObject<ReadChanges<Kind>['confirmed'][number]>({
        confirmations: sql`wanted.confirmations`,
        changes: listOf(selectAccepted(confirmed)),
      }),
      sql`from unnest(${confirmations()}) wanted (confirmations)`,
    ),
  }) as RawBuilder<ReadChanges<Kind>>;
}

const statement = statementsBy(
  'next step',
  (
    parameter: ParameterOf<Parameters>,
    { withIds, withChanges, withCovenants, withBlocks }: Omit<NextRequest, 'confirmations'>,
  ) => {
    const confirmations = () => parameter('confirmations', 'bigint[]');
    const none = sql<null>`null::json`;
    return {
      tables: {
        // There is no bootstrap block above: each gap ends at one, and a step must not cross it.
        start: sql`
          select index, blue_score from chain_blocks where index = ${parameter('index', 'bigint')} and hash = ${parameter('hash', 'bytea')}
            and not exists (select from bootstrap_blocks where chain_index > ${parameter('index', 'bigint')})`,
        added: sql`
          select above.* from start cross join lateral (
            select * from chain_blocks where index > start.index order by index limit ${sql.lit(MAX_CHAIN_BLOCKS)}) above`,
        ...(withBlocks && {
          new_blocks: sql`select * from blocks where id > ${parameter('lastBlock', 'bigint')} order by id limit ${sql.lit(MAX_BLOCKS)}`,
        }),
      },
      body: jsonBuildObject({
        isConnected: sql<boolean>`exists (select from start)`,
        added: jsonArray(
          jsonObject<ChainRow>(chainRowFields(withIds)),
          sql`from added c cross join lateral (select * from blocks where id = c.block_id limit 1) b order by c.index`,
        ),
        changes: withChanges ? readChanges(ofAddresses, confirmations) : none,
        covenants: withCovenants ? readChanges(ofCovenants, confirmations) : none,
        blocks: withBlocks
          ? jsonArray(
              jsonObject<DagBlockJson>(dagBlockFields),
              sql`from new_blocks block ${joinMerging} order by block.id`,
            )
          : sql<never[]>`'[]'::json`,
        lastBlock: withBlocks
          ? sql<string | null>`coalesce((select max(id) from new_blocks), (select max(id) from blocks))::text`
          : sql<null>`null::text`,
      }),
    };
  },
);

export async function readNext(
  index: IndexReader,
  { hash, chainIndex = NOT_ON_CHAIN, lastBlock }: Reached,
  { confirmations, ...variant }: NextRequest,
): Promise<Next> {
  const parameters = { index: chainIndex, hash: Buffer.from(hash, 'hex'), lastBlock, confirmations };
  const { state, body } = await index.run(statement(variant).with(parameters), CALLER);
  const { blocks, lastBlock: last, ...content } = JSON.parse(String(body)) as Content;
  const { isConnected, added } = content;
  const hasMore = added.length === MAX_CHAIN_BLOCKS && added.at(-1)?.hash !== state.sinkHash;
  const mustReadStep = !isConnected || hasMore || pageOf(added).length < added.length;
  return {
    state,
    mustReadStep,
    step: mustReadStep ? undefined : toStep(hash, content, state),
    blocks,
    hasMoreBlocks: blocks.length === MAX_BLOCKS,
    lastBlock: last === null ? undefined : BigInt(last),
  };
}

function toStep(
  from: string,
  { added, changes, covenants }: Pick<Content, 'added' | 'changes' | 'covenants'>,
  state: IndexState,
): Step | undefined {
  const last = added.at(-1);
  return (
    last &&
    completeStep(state, {
      from,
      to: last.hash,
      blueScore: BigInt(last.blueScore),
      chainIndex: BigInt(last.index),
      removed: [],
      added: added.map(toAddedBlock),
      changes: toStepChanges(changes),
      covenants: state.firstCatchUp ? undefined : toStepChanges(covenants),
    })
  );
}

function toStepChanges<Kind extends Change>(read: ReadChanges<Kind> | null): StepChanges<Kind> | undefined {
  if (read === null) return undefined;
  const confirmed = read.confirmed.map(({ confirmations, changes }) => [confirmations, changes] as const);
  return { reverted: [], accepted: read.accepted, confirmed: new Map(confirmed) };
}
