/**
 * The kinds of derived state. A batch applies those that need reads in this order, and the others in this order. A new kind is a folder, a migration
 * and a line here.
 *
 * Statements that several kinds share for speed:
 * - `balances` apply writes the columns of script activity, the latest hourly change and, for new rows, the tag flag; its rebuild makes the
 *   script activity and the latest hourly changes, too. Script activity reads all of these before.
 * - readTransactions reads the transactions of removed chain blocks once, for the `revert` of every kind.
 * - replace-state.ts writes the differences of two UTXO sets to every kind after a gap.
 * - packages/database/src/tags/write-tags.ts sets tag flags when tags are imported, and cluster-tags.ts queues those of named clusters.
 */
import { inPipeline } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { balances } from './balances/balances.ts';
import { clusters } from './clusters/clusters.ts';
import { contestedOutputs } from './contested-outputs/contested-outputs.ts';
import { covenants } from './covenants/covenants.ts';
import type { CatchUpFindings, DerivedState, StateInvariant } from './derived-state.ts';
import {
  type BatchItem,
  getOrInsert,
  type RemovedChainBlock,
  type RevertedChainBlock,
  type ScriptDelta,
  type StateChanges,
  type TransactionDeltas,
} from './state-changes.ts';
import { inscriptions } from './inscriptions/inscriptions.ts';
import { lanes } from './lanes/lanes.ts';
import { hourlyBalanceChanges } from './hourly-balance-changes/hourly-balance-changes.ts';
import { minerHours } from './miner-hours/miner-hours.ts';
import { networkIntervals } from './network-intervals/network-intervals.ts';
import type { Queryable, Verification } from './queryable.ts';
import { repeatedTransactions } from './repeated-transactions/repeated-transactions.ts';
import { programs } from './programs/programs.ts';
import { reveals } from './reveals/reveals.ts';
import { scriptActivity } from './script-activity/script-activity.ts';
import { tagFlags } from './tag-flags/tag-flags.ts';
import { utxos } from './utxos/utxos.ts';

const DERIVED_STATE: readonly DerivedState[] = [
  utxos,
  // Before balances, which write its columns, before hourly changes, which need what it reads, and before network intervals, which add its counts.
  scriptActivity,
  balances,
  hourlyBalanceChanges,
  tagFlags,
  clusters,
  networkIntervals,
  minerHours,
  repeatedTransactions,
  contestedOutputs,
  lanes,
  // The three that follow need its reveals; covenants need the keys of templates.
  reveals,
  programs,
  covenants,
  inscriptions,
];

export function collectState(item: BatchItem, changes: StateChanges): void {
  for (const kind of DERIVED_STATE) kind.collect?.(item, changes);
}

export async function revertState(
  client: ClientBase,
  removed: readonly RemovedChainBlock[],
  changes: StateChanges,
): Promise<void> {
  const [blocks] = await inPipeline(client, [
    () => readTransactions(client, removed),
    ...DERIVED_STATE.map((kind) => async () => await kind.readRemoved?.(client, removed, changes)),
  ]);
  for (const kind of DERIVED_STATE) kind.revert?.(blocks, changes);
}

/** @param afterReads statements that must follow all reads and what is applied after them */
export async function applyState(
  client: ClientBase,
  changes: StateChanges,
  afterReads: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const apply = (kinds: readonly DerivedState[]) =>
    kinds.map((kind) => async () => await kind.apply?.(client, changes));
  await inPipeline(client, [
    ...apply(DERIVED_STATE.filter((kind) => kind.appliesBeforeReads === true)),
    async () => {
      for (const kind of DERIVED_STATE) if (kind.read !== undefined) await kind.read(client, changes);
      await inPipeline(client, [
        ...apply(DERIVED_STATE.filter((kind) => kind.appliesAfterReads === true)),
        ...afterReads,
      ]);
    },
    ...apply(DERIVED_STATE.filter((kind) => kind.appliesBeforeReads !== true && kind.appliesAfterReads !== true)),
  ]);
}

export const EMPTIED_TABLES = DERIVED_STATE.flatMap(({ emptied = [] }) => emptied);
export const FILLED_TABLES = [...EMPTIED_TABLES, ...DERIVED_STATE.flatMap(({ filled = [] }) => filled)];
export const STATE_INDEXES = DERIVED_STATE.flatMap(({ deferredIndexes = [] }) => deferredIndexes);

type Rebuild = (client: ClientBase) => Promise<unknown>;

/** The stages of the rebuild: what one contains may run in parallel. */
export function rebuildStages({ totals, candidates }: CatchUpFindings): Rebuild[][] {
  if (totals !== undefined) {
    return [
      DERIVED_STATE.map(
        (kind): Rebuild =>
          async (client) =>
            await (kind.rebuildFromTotals?.(client, totals) ?? kind.rebuild?.(client, candidates)),
      ),
    ];
  }
  const rebuilds = DERIVED_STATE.map(
    (kind): Rebuild =>
      async (client) =>
        await kind.rebuild?.(client, candidates),
  );
  const rebuildsFromDeltas = DERIVED_STATE.map(
    (kind): Rebuild =>
      async (client) =>
        await kind.rebuildFromDeltas?.(client),
  );
  return [
    [(client) => client.query('select fill_accepted_deltas()'), ...rebuilds],
    rebuildsFromDeltas,
    [(client) => client.query('truncate accepted_deltas')],
  ];
}

export async function rebuildLockedState(client: ClientBase): Promise<void> {
  for (const kind of DERIVED_STATE) await kind.rebuildLocked?.(client);
}

export async function verifyState(db: Queryable, invariant: StateInvariant): Promise<string[]> {
  const { rows } = await db.query<{ first_catch_up: boolean }>('select first_catch_up from checkpoint');
  if (invariant === 4 && rows[0] === undefined) return ['there is no checkpoint'];
  if (invariant === 4 && rows[0]?.first_catch_up) return ['the first catch-up is not over, balances are not kept yet'];
  return await verifyKinds(db, ({ verify }) => verify?.[invariant]);
}

export function verifyCurrentState(db: Queryable): Promise<string[]> {
  return verifyKinds(db, ({ verifyCurrent }) => verifyCurrent);
}

async function verifyKinds(
  db: Queryable,
  verificationOf: (kind: DerivedState) => Verification | undefined,
): Promise<string[]> {
  const differences: string[] = [];
  for (const kind of DERIVED_STATE) differences.push(...((await verificationOf(kind)?.(db)) ?? []));
  return differences;
}

interface DeltaRow extends ScriptDelta {
  /** Position of the accepting chain block among the removed ones. */
  position: number;
  transaction: bigint;
  isCoinbase: boolean;
  script: bigint;
  lane: number | null;
  gas: string;
}

type Deltas = Map<number, ScriptDelta>;

async function readTransactions(
  client: ClientBase,
  removed: readonly RemovedChainBlock[],
): Promise<RevertedChainBlock[]> {
  const { rows } = await client.query<DeltaRow>({
    name: 'removed-transactions',
    text: `with removed as (select * from unnest($1::bigint[], $2::integer[]) removed (id, position))
     select position, delta.id as transaction, t.subnetwork_id = 1 as "isCoinbase", script_id as script, sum(sent)::bigint as sent,
            sum(received)::bigint as received, sum(count)::integer as "utxoCount",
            case when t.subnetwork_id > 1 then (
              select n.id from subnetworks n where n.id = t.subnetwork_id and lane_namespace(n.subnetwork_id) is not null) end::integer as lane,
            t.gas::text as gas
       from (select removed.position, removed.id, o.script_id, 0 as sent, o.amount as received, 1 as count
               from removed join transaction_outputs o on o.transaction_id = removed.id
             union all
             select removed.position, removed.id, i.script_id, i.amount, 0, -1
               from removed join transaction_inputs i on i.transaction_id = removed.id) delta
       join transactions t on t.id = delta.id
      group by position, delta.id, t.subnetwork_id, t.gas, script_id
      order by position, delta.id`,
    values: [
      removed.flatMap(({ accepted }) => accepted),
      removed.flatMap(({ accepted }, position) => accepted.map(() => position)),
    ],
  });
  const byPosition = Map.groupBy(rows, ({ position }) => position);
  return removed.map((block, position) => {
    const { chainBlock } = block;
    const transactions = new Map<bigint, Pick<TransactionDeltas, 'key' | 'isCoinbase' | 'lane'> & { deltas: Deltas }>();
    for (const { transaction, isCoinbase, script, lane, gas, ...delta } of byPosition.get(position) ?? []) {
      const { deltas } = getOrInsert(transactions, transaction, () => ({
        key: Number(transaction),
        isCoinbase,
        deltas: new Map(),
        lane: lane === null ? undefined : { subnetwork: lane, gas: BigInt(gas) },
      }));
      deltas.set(Number(script), delta);
    }
    return { ...block, transactions: [...transactions.values()].map((each) => ({ chainBlock, ...each })) };
  });
}
