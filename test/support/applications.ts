/**
 * Compares covenants, programs, lanes and inscriptions of an index with the naive model, which
 * reads the same chain from the simulated node.
 */
import type { Connection } from '@kasgres/database';
import { acceptedBy, type Dag, type DagBlock, SimulatedNode } from '@kasgres/devnet';
import { toHex } from '@kasgres/kaspa';
import { type ApplicationState, ApplicationsModel, type Section, SECTION_NAMES } from './applications-model.ts';
import { UtxoOracle } from './oracle.ts';
import type { SimulatedDag } from './simulated-dag.ts';

type Db = Pick<Connection['pool'], 'query'>;
type SectionName = (typeof SECTION_NAMES)[number];

const MAX_SHOWN = 5;
/** A transaction that retention has removed has no id. */
const TRANSACTION_ID = (key: string): string => `
  coalesce((select encode(known.transaction_id, 'hex') from transactions known
    where known.id = ${key}),
           (select encode(earlier.transaction_id, 'hex') from pre_bootstrap_transactions earlier
             where earlier.id = ${key}))`;

const list = (...values: string[]): string =>
  values.map((value) => `coalesce((${value})::text, '-')`).join(` || ' ' || `);
const template = (key: string): string =>
  `select encode(p.template, 'hex') from program_templates p where p.id = ${key}`;

/** Each selects `name` and `columns` as the model has them. */
const QUERIES: Record<SectionName, string> = {
  covenants: `
    select encode(covenant_id, 'hex') as name,
      ${list(TRANSACTION_ID('genesis_transaction_id'), 'is_complete', 'event_count', 'utxo_count', 'balance', 'first_seen', 'last_seen', template('template_id'))} as columns
      from covenants`,
  'covenant events': `
    select e.chain_index || ' ' || e.position || ' ' || encode(c.covenant_id, 'hex') as name,
      e.kind || ' ' || ${TRANSACTION_ID('e.transaction_id')} as columns
      from covenant_events e join covenants c on c.id = e.covenant_id`,
  'covenant UTXOs': `
    select ${TRANSACTION_ID('u.transaction_id')} || ':' || u.index as name,
      encode(u.covenant_id, 'hex') || ' ' || u.amount as columns
      from utxos u where u.covenant_id is not null`,
  'covenant hours': `select hour || ' ' || kind as name, events::text as columns from covenant_hours where events <> 0`,
  programs: `
    select encode(hash, 'hex') as name,
      ${list(TRANSACTION_ID('g.transaction_id'), 'index', 'is_bare', 'first_seen', 'spend_count', 'length', 'uses', template('template_id'))} as columns
      from programs g`,
  templates: `
    select encode(template, 'hex') as name,
      ${list('program_count', 'spend_count', 'covenant_count', 'first_seen')} as columns from program_templates`,
  'hours of families': `
    select hour || ' ' || use as name, ${list('spends', 'fees')} as columns from program_use_hours
      where spends <> 0`,
  lanes: `
    select encode(substring(s.subnetwork_id for 4), 'hex') as name,
      ${list('transaction_count', 'gas', 'fees', 'first_seen', 'last_seen')} as columns
      from lanes l join subnetworks s on s.id = l.subnetwork_id where transaction_count <> 0`,
  'lane hours': `
    select encode(substring(s.subnetwork_id for 4), 'hex') || ' ' || hour as name,
      ${list('transactions', 'gas', 'fees')} as columns
      from lane_hours h join subnetworks s on s.id = h.subnetwork_id where transactions <> 0`,
  inscriptions: `
    select ${TRANSACTION_ID('i.transaction_id')} || ' ' || case when coalesce(i.input, -1) < 0
      then 'payload' else 'input ' || i.input end as name,
           json_build_array(k.protocol, coalesce(k.operation, ''), coalesce(k.tick, ''),
             encode(s.script, 'hex'))::jsonb::text as columns
      from inscriptions i join inscription_kinds k on k.id = i.kind_id
        left join scripts s on s.id = i.owner_script_id`,
  'protocol hours': `
    select hour || ' ' || protocol as name, ${list('transactions', 'fees')} as columns
      from protocol_hours where transactions <> 0`,
};

async function storedApplications(db: Db): Promise<ApplicationState> {
  const sections = SECTION_NAMES.map(async (name): Promise<[SectionName, Section]> => {
    const { rows } = await db.query<{ name: string; columns: string }>(QUERIES[name]);
    return [name, new Map(rows.map((row) => [row.name, row.columns]))];
  });
  return Object.fromEntries(await Promise.all(sections)) as ApplicationState;
}

interface IndexedBlock {
  index: number;
  hash: string;
  chainTime: bigint;
  /** Whether the index knows nothing of what happened right before it. */
  isBootstrap: boolean;
}

export interface ModelledIndex {
  /**
   * Whether retention has removed the chain below the first block that the index has. Otherwise the
   * index was bootstrapped there.
   */
  isCut?: boolean;
}

/**
 * Describes how an index at rest differs from the model. Below a gap the chain of the index must be
 * that of the node.
 * @throws Error if the node does not know what a block of the index accepted
 */
export async function applicationDifferences(
  db: Db,
  simulatedDag: SimulatedDag,
  { isCut = false }: ModelledIndex = {},
): Promise<string[]> {
  const dag = wholeDagOf(simulatedDag);
  const { rows: indexed } = await db.query<IndexedBlock>(
    `select c.index::int as index, encode(b.hash, 'hex') as hash, c.chain_time as "chainTime",
            c.index = min(c.index) over ()
              or exists (select from gaps g where g.before_block_hash = b.hash) as "isBootstrap"
       from chain_blocks c join blocks b on b.id = c.block_id order by c.index`,
  );
  const { rows: unknown } = await db.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions
      where accepting_index is not null and accepted_variant is null`,
  );
  const ids = new Set(unknown.map(({ id }) => id));
  const first = indexed[0]?.index ?? 0;
  const stateWith = (hasUnknownVariant: (id: string) => boolean): ApplicationState => {
    const model = new ApplicationsModel({ hasUnknownVariant });
    if (isCut) acceptBelow(model, dag, first);
    for (const { index, hash, chainTime, isBootstrap } of indexed) {
      if (isBootstrap && !isCut) model.start(utxosAt(dag, hash), { chainTime });
      else if (!isCut || index > first) model.accept(acceptedBy(dag.get(hash)), { chainIndex: index, chainTime });
    }
    return model.state(isCut ? first : -1);
  };
  const expected = stateWith((id) => ids.has(id));
  const stored = await storedApplications(db);
  if (!isCut) return differencesOf(expected, stored);
  // It is no longer known of removed transactions whether the index knew the accepted one of
  // several variants.
  const ambiguous = ambiguousIds(dag);
  const least = stateWith((id) => ids.has(id) || ambiguous.has(id));
  return differencesOf(expected, stored, (section, name, columns) => {
    const wanted = expected[section].get(name);
    return wanted !== least[section].get(name) || wanted?.replace(/^\S+/, '-') === columns;
  });
}

function ambiguousIds(dag: Dag): Set<string> {
  const hashes = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const { transactions } of dag.allBlocks()) {
    for (const { transactionId, hash } of transactions) {
      const [id, variant] = [toHex(transactionId), toHex(hash)];
      if ((hashes.get(id) ?? variant) !== variant) ambiguous.add(id);
      hashes.set(id, variant);
    }
  }
  return ambiguous;
}

/** Returns the DAG of a node that has every block and has not pruned. */
function wholeDagOf({ node, bodies }: SimulatedDag): Dag {
  if (node.dag.root === node.dag.genesis) return node.dag;
  const archive = new SimulatedNode({ params: node.consensus.params, now: node.now, commitsToUtxos: true });
  // One by one, so that the acceptance of every block is known that was on the chain at any time.
  for (const body of bodies) archive.receive(body);
  return archive.dag;
}

function acceptBelow(model: ApplicationsModel, dag: Dag, first: number): void {
  let chainTime = 0n;
  for (const [chainIndex, block] of dag.chainBlocks.slice(0, first + 1).entries()) {
    const { timestamp } = block.header;
    if (timestamp > chainTime) chainTime = timestamp;
    model.accept(acceptedBy(block), { chainIndex, chainTime });
  }
}

function utxosAt(dag: Dag, hash: string) {
  const utxos = new UtxoOracle();
  const { chainIndex } = dag.get(hash);
  if (chainIndex === undefined) throw new Error(`block ${hash} is not on the chain`);
  const chain: readonly DagBlock[] = dag.chainBlocks.slice(0, chainIndex + 1);
  for (const block of chain) utxos.accept(acceptedBy(block), block.header.daaScore);
  return utxos.all();
}

/**
 * @param isTolerated whether the columns of a name in the index may differ from those of the model
 */
function differencesOf(
  expected: ApplicationState,
  stored: ApplicationState,
  isTolerated: (section: SectionName, name: string, columns: string | undefined) => boolean = () => false,
): string[] {
  return SECTION_NAMES.flatMap((section) => {
    const [model, index] = [expected[section], stored[section]];
    const names = new Set([...model.keys(), ...index.keys()]);
    const differences = [...names].flatMap((name) => {
      const [wanted, found] = [model.get(name), index.get(name)].map(
        (columns) => columns && normalized(columns, section),
      );
      if (wanted === found || isTolerated(section, name, found)) return [];
      return [`${section} ${name}: ${found ?? 'missing'} instead of ${wanted ?? 'nothing'}`];
    });
    const more = differences.length - MAX_SHOWN;
    return more > 0 ? [...differences.slice(0, MAX_SHOWN), `${section}: ${more} more differences`] : differences;
  });
}

/** JSON of the database has other spaces. */
function normalized(columns: string, section: SectionName): string {
  return section === 'inscriptions' ? JSON.stringify(JSON.parse(columns)) : columns;
}
