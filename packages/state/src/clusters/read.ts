/**
 * Each query reads rows by primary keys, so that its cost depends on the step's transactions only.
 */
import { clusterRoots } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { scriptsOfOneOwner, type Spending, type SpentInput } from './common-inputs.ts';
import type { Cluster, Tie } from './forest.ts';

/** The last clustered chain block, and the next keys. */
export interface Position {
  /** chain_blocks.index; −1 before the first. */
  chainIndex: bigint;
  /** Undefined before the first step. */
  blockId: bigint | undefined;
  nextMergeId: bigint;
  nextHeldMergeId: bigint;
}

export interface Sink {
  blueScore: bigint;
}

const BEFORE_ALL: Position = { chainIndex: -1n, blockId: undefined, nextMergeId: 1n, nextHeldMergeId: 1n };

/**
 * Returns undefined during the first catch-up.
 * @param lock `for update` locks the checkpoint, which serialises steps with batches and imports of
 * tags
 */
export async function findSink(client: ClientBase, lock: 'for update' | '' = ''): Promise<Sink | undefined> {
  // A joined row could be of another version than the locked one.
  const { rows } = await client.query<{ block_id: bigint; first_catch_up: boolean }>(
    `select block_id, first_catch_up from checkpoint ${lock}`,
  );
  const [checkpoint] = rows;
  if (checkpoint === undefined || checkpoint.first_catch_up) return undefined;
  const sink = await client.query<Sink>('select blue_score as "blueScore" from blocks where id = $1', [
    checkpoint.block_id,
  ]);
  return sink.rows[0];
}

export async function isChainBlock(client: ClientBase, { chainIndex, blockId }: Fork): Promise<boolean> {
  const { rowCount } = await client.query('select from chain_blocks where index = $1 and block_id = $2', [
    chainIndex,
    blockId,
  ]);
  return rowCount === 1;
}

export async function readPosition(client: ClientBase): Promise<Position> {
  const { rows } = await client.query<Position>(
    `select chain_index as "chainIndex", block_id as "blockId", next_merge_id as "nextMergeId",
      next_held_merge_id as "nextHeldMergeId"
       from clustering`,
  );
  return rows[0] ?? BEFORE_ALL;
}

export type Fork = { [Field in 'chainIndex' | 'blockId']: bigint };

/** Returns the highest chain block at or below a block along its selected parents. */
export async function findForkOf(client: ClientBase, blockId: bigint): Promise<Fork | undefined> {
  const { rows } = await client.query<Fork>(
    `with recursive down as (
       select b.id, b.selected_parent_id, c.index from blocks b
         left join chain_blocks c on c.block_id = b.id where b.id = $1
       union all
       select b.id, b.selected_parent_id, c.index
         from down join blocks b on b.id = down.selected_parent_id
           left join chain_blocks c on c.block_id = b.id
        where down.index is null
     )
     select index as "chainIndex", id as "blockId" from down where index is not null`,
    [blockId],
  );
  return rows[0];
}

/** Chain blocks that a query reads; at the tip most are not deep enough yet. */
const CHAIN_BLOCKS_AT_ONCE = 500;

export interface ClusteringRange {
  to: Fork;
  blueScore: bigint;
  transactions: number;
  /** Whether further chain blocks are deep enough. */
  hasNext: boolean;
}

/**
 * Returns the next chain blocks that are deep enough and have about this many transactions;
 * undefined if there is none.
 */
export async function findNextRange(
  client: ClientBase,
  afterIndex: bigint,
  upToBlueScore: bigint,
  transactions: number,
): Promise<ClusteringRange | undefined> {
  const { rows } = await client.query<Fork & { blueScore: bigint; count: number }>(
    `select c.index as "chainIndex", c.block_id as "blockId", b.blue_score as "blueScore", c.count
       from (select index, block_id, cardinality(accepted_transactions) as count
               from chain_blocks where index > $1 order by index limit $2) c
       join blocks b on b.id = c.block_id
      where b.blue_score <= $3 order by c.index`,
    [afterIndex, CHAIN_BLOCKS_AT_ONCE, upToBlueScore],
  );
  let range: ClusteringRange | undefined;
  for (const [i, { blueScore, count, ...to }] of rows.entries()) {
    if (range !== undefined && range.transactions + count > transactions) break;
    const hasNext = i < rows.length - 1 || rows.length === CHAIN_BLOCKS_AT_ONCE;
    range = { to, blueScore, transactions: (range?.transactions ?? 0) + count, hasNext };
  }
  return range;
}

type InputRow = SpentInput & Pick<Tie, 'chainIndex' | 'transaction'> & Pick<Spending, 'equalOutputs'>;

/**
 * The signature scripts of an input `i` of a transaction `t`: of the accepted variant, or, while
 * that is unknown, of the variants that the accepting block merges. Anybody can mine any number of
 * others.
 */
export const SIGNATURE_SCRIPTS = `
  select coalesce(array_agg(case when carried.variant = 0 then i.signature_script
                                 else (variant_input(i.transaction_id, carried.variant,
                                   i.index)).signature_script end),
                  array[i.signature_script]) as signature_scripts
    from (select t.accepted_variant as variant where t.accepted_variant is not null
          union all
          select distinct bt.variant
            from chain_blocks accepting
            join blocks merging on merging.id = accepting.block_id
           cross join lateral unnest(merging.merge_set_blues || merging.merge_set_reds) merged (id)
            join block_transactions bt on bt.block_id = merged.id and bt.transaction_id = t.id
           where accepting.index = t.accepting_index and t.accepted_variant is null) carried`;

/** Inputs of accepted transactions that spend from several scripts, in the order of acceptance. */
const SELECT_INPUTS = `
  with several as materialized (
    select c.index as chain_index, a.id, a.position
      from chain_blocks c
     cross join lateral unnest(c.accepted_transactions) with ordinality a (id, position)
     cross join lateral (
       select from transaction_inputs i where i.transaction_id = a.id
         having min(i.script_id) <> max(i.script_id)
     ) spends_several
     where c.index between $1 and $2
  )
  select several.chain_index as "chainIndex", several.id as transaction,
         i.script_id as script, s.type,
         coalesce(signed.signature_scripts, '{}') as "signatureScripts", case
           when o.transaction_id is not null then o.covenant_id is not null
              when u.transaction_id is not null then u.covenant_id is not null end as "hasCovenant",
         equal.outputs as "equalOutputs"
    from several
    join transactions t on t.id = several.id
   cross join lateral (
     select coalesce(max(scripts), 0)::integer as outputs
       from (select count(distinct script_id) as scripts from transaction_outputs
         where transaction_id = several.id group by amount) amounts
   ) equal
    join transaction_inputs i on i.transaction_id = several.id
    join scripts s on s.id = i.script_id
   cross join lateral (${SIGNATURE_SCRIPTS}) signed
    left join transaction_outputs o
      on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
        and o.index >> 4 = i.previous_index >> 4
    left join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
      and u.index = i.previous_index
   order by several.chain_index, several.position, i.index`;

export async function readTies(client: ClientBase, fromIndex: bigint, toIndex: bigint): Promise<Tie[]> {
  const { rows } = await client.query<InputRow>({
    name: 'cluster-inputs',
    text: SELECT_INPUTS,
    values: [fromIndex, toIndex],
  });
  const byTransaction = Map.groupBy(rows, ({ chainIndex, transaction }) => `${chainIndex} ${transaction}`);
  return [...byTransaction.values()].flatMap((inputs) => {
    const [{ chainIndex, transaction, equalOutputs }] = inputs as [InputRow];
    const scripts = scriptsOfOneOwner({ inputs, equalOutputs });
    return scripts.length > 1 ? [{ chainIndex, transaction, scripts }] : [];
  });
}

export async function readApproved(client: ClientBase, chainIndex: bigint, limit: number): Promise<Tie[]> {
  const { rows } = await client.query<Required<Tie>>(
    `select $2::bigint as "chainIndex", transaction_id as transaction,
      array[script_id, other_script_id] as scripts, id as "heldMerge"
       from held_merges where state = 'approved' order by id limit $1`,
    [limit, chainIndex],
  );
  return rows;
}

export interface KnownCluster extends Cluster {
  isNamed: boolean;
  /** Whether its members' tags have names, one or several. */
  hasNames: boolean;
}

export interface Neighbourhood {
  roots: Map<bigint, bigint>;
  clusters: KnownCluster[];
  /** Balances of scripts outside of clusters, sompi. */
  balances: Map<bigint, bigint>;
}

export async function readNeighbourhood(client: ClientBase, scripts: readonly bigint[]): Promise<Neighbourhood> {
  const found = await client.query<{ script_id: bigint; root_id: bigint }>({
    name: 'cluster-roots',
    text: clusterRoots('cluster_members m where m.script_id = any($1::bigint[])', ', m.script_id', ', up.script_id'),
    values: [scripts],
  });
  const roots = new Map(found.rows.map(({ script_id, root_id }) => [script_id, root_id]));
  const clusters = await readClusters(client, [...new Set(roots.values())]);
  const alone = await client.query<{ script_id: bigint; balance: bigint }>({
    name: 'cluster-balances',
    text: 'select script_id, balance from balances where script_id = any($1::bigint[])',
    values: [scripts.filter((script) => !roots.has(script))],
  });
  return { roots, clusters, balances: new Map(alone.rows.map(({ script_id, balance }) => [script_id, balance])) };
}

/** Leaves out scripts that are not roots. */
export async function readClusters(client: ClientBase, roots: readonly bigint[]): Promise<KnownCluster[]> {
  const { rows } = await client.query<KnownCluster>({
    name: 'cluster-rows',
    text: `select c.id as root, c.size, c.balance, c.size_limit as "sizeLimit", m.next_id as next,
                  m.previous_id as previous, c.name is not null as "isNamed",
                  exists (select from cluster_names n where n.cluster_id = c.id) as "hasNames"
             from clusters c join cluster_members m on m.script_id = c.id
               where c.id = any($1::bigint[])`,
    values: [roots],
  });
  return rows;
}

export async function findNamed(client: ClientBase, roots: readonly bigint[]): Promise<Set<bigint>> {
  const { rows } = await client.query<{ id: bigint }>({
    name: 'named-clusters',
    text: 'select id from clusters where id = any($1::bigint[]) and name is not null',
    values: [roots],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Returns the block at a depth below another along selected parents. */
export async function findAncestor(client: ClientBase, blockId: bigint, depth: bigint): Promise<bigint> {
  const { rows } = await client.query<{ id: bigint }>(
    `with recursive down as (
       select id, selected_parent_id, 0::bigint as depth from blocks where id = $1
       union all
       select b.id, b.selected_parent_id, down.depth + 1
         from down join blocks b on b.id = down.selected_parent_id where down.depth < $2
     )
     select id from down where depth = $2`,
    [blockId, depth],
  );
  if (rows[0] === undefined) throw new Error(`block ${blockId} has no ${depth} selected parents`);
  return rows[0].id;
}
