/**
 * The kinds of derived state, in the order in which a batch applies those with the same value of
 * `applies`. A new kind is a folder, a migration and a line here.
 *
 * Statements that several kinds share for speed:
 * - removed-chain.ts reads the transactions of removed chain blocks once, for the `revert` of every
 *   kind.
 * - replace-state.ts writes the differences of two UTXO sets to every kind after a gap.
 * - packages/database/src/tags/write-tags.ts sets tag flags when tags are imported, and
 *   cluster-tags.ts queues those of named clusters.
 */
import { inPipeline } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { balances } from './balances/balances.ts';
import { clusters } from './clusters/clusters.ts';
import { contestedOutputs } from './contested-outputs/contested-outputs.ts';
import { covenants } from './covenants/covenants.ts';
import type { DerivedState, StateInvariant } from './derived-state.ts';
import type { CandidateTransactions } from './first-catch-up/candidate-transactions.ts';
import { RemovedChain } from './removed-chain.ts';
import type { BatchItem, RemovedChainBlock, StateChanges } from './state-changes.ts';
import { inscriptions } from './inscriptions/inscriptions.ts';
import { lanes } from './lanes/lanes.ts';
import { minerHours } from './miner-hours/miner-hours.ts';
import { networkIntervals } from './network-intervals/network-intervals.ts';
import type { Queryable } from './queryable.ts';
import { repeatedTransactions } from './repeated-transactions/repeated-transactions.ts';
import { programs } from './programs/programs.ts';
import { reveals } from './reveals/reveals.ts';
import { utxos } from './utxos/utxos.ts';

const DERIVED_STATE: readonly DerivedState[] = [
  utxos,
  // Before network intervals, which add its counts of active scripts.
  balances,
  clusters,
  networkIntervals,
  minerHours,
  repeatedTransactions,
  contestedOutputs,
  lanes,
  // The three that follow need the reveals; covenants need the keys of templates that programs
  // write.
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
  const chain = new RemovedChain(client, removed);
  await inPipeline(
    client,
    DERIVED_STATE.map((kind) => async () => await kind.revert?.(client, chain, changes)),
  );
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
    ...apply(DERIVED_STATE.filter((kind) => kind.applies === 'before reads')),
    async () => {
      for (const kind of DERIVED_STATE) if (kind.read !== undefined) await kind.read(client, changes);
      await inPipeline(client, [
        ...apply(DERIVED_STATE.filter((kind) => kind.applies === 'after reads')),
        ...afterReads,
      ]);
    },
    ...apply(DERIVED_STATE.filter((kind) => kind.applies === undefined)),
  ]);
}

export const EMPTIED_TABLES = DERIVED_STATE.flatMap(({ tables }) => tables?.emptied ?? []);
export const FILLED_TABLES = [...EMPTIED_TABLES, ...DERIVED_STATE.flatMap(({ tables }) => tables?.filled ?? [])];
export const STATE_INDEXES = DERIVED_STATE.flatMap(({ tables }) => tables?.deferredIndexes ?? []);

/**
 * Returns the steps of the rebuild. They may run in parallel if each begins after those before it
 * have begun.
 * @param candidates undefined if this attempt did not see the whole catch-up
 */
export function rebuildSteps(candidates?: CandidateTransactions): ((client: ClientBase) => Promise<unknown>)[] {
  const rebuilds = DERIVED_STATE.flatMap(({ rebuild = [] }) => rebuild);
  let deltas: Promise<unknown> | undefined;
  return [
    (client) => (deltas = client.query('select fill_accepted_deltas()')),
    // The last kinds take longest.
    ...rebuilds
      .toReversed()
      .flatMap(({ fromRows = [] }) => fromRows)
      .map((run) => (client: ClientBase) => run(client, candidates)),
    ...rebuilds
      .flatMap(({ fromDeltas = [] }) => fromDeltas)
      .map((run) => async (client: ClientBase) => {
        await deltas;
        await run(client);
      }),
  ];
}

export async function rebuildLockedState(client: ClientBase): Promise<void> {
  for (const kind of DERIVED_STATE) await kind.rebuild?.locked?.(client);
}

export async function verifyState(db: Queryable, invariant: StateInvariant): Promise<string[]> {
  const { rows } = await db.query<{ first_catch_up: boolean }>('select first_catch_up from checkpoint');
  if (invariant === 4 && rows[0] === undefined) return ['there is no checkpoint'];
  if (invariant === 4 && rows[0]?.first_catch_up) return ['the first catch-up is not over, balances are not kept yet'];
  return await verifyKinds(db, invariant);
}

export function verifyCurrentState(db: Queryable): Promise<string[]> {
  return verifyKinds(db, 'current');
}

async function verifyKinds(db: Queryable, invariant: StateInvariant | 'current'): Promise<string[]> {
  const differences: string[] = [];
  for (const { verify } of DERIVED_STATE) differences.push(...((await verify?.[invariant]?.(db)) ?? []));
  return differences;
}
