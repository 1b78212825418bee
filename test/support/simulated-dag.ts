/**
 * A simulated node on which a test mines, and indexers in this process that follow it. All of it is
 * seeded, so that failures can be repeated (`SEED=… npx vitest run test/simulation`).
 */
import {
  type BlockBody,
  type DagTransaction,
  DEFAULT_OPTIONS,
  type FaultPlan,
  NodeResponseError,
  NodeServer,
  type NodeState,
  type PruningPointSet,
  SIMNET_PARAMS,
  SimulatedNode,
  type SimulatedNodeOptions,
  Simulation,
  type SimulationOptions,
  type UtxoSetFaultPlan,
  UtxoSetServer,
} from '@kasgres/devnet';
import { TcpProxy } from '@kasgres/database/testing';
import {
  createMetrics,
  envSchema,
  indexerOptions,
  type Metrics,
  NodeChoice,
  openDatabase,
  Progress,
  runIndexer,
  type RunIndexerOptions,
} from '@kasgres/indexer';
import { createLogger, createRegistry, type Logger } from '@kasgres/runtime';
import type { ScriptPublicKey } from '@kasgres/kaspa';

const START_MS = 1_750_000_000_000;
/**
 * An hour ends every other round, also within the blocks that a reorg removes: balance_changes
 * counts by the hour.
 */
const BLOCK_MS = 1_800_000;
/**
 * In every fourth round a miner's clock is slow, and its block follows another one at once: the own
 * times of chain blocks run backwards, often into the hour before. The node still reports that it
 * is synced.
 */
const SLOW_CLOCK_EVERY = 4;
const SLOW_CLOCK_MS = 600_000;
/** UTXOs mature soon, so that a short chain has many transactions. */
export const PARAMS = { ...SIMNET_PARAMS, coinbaseMaturity: 20 };
/**
 * The share of payments that a transaction of an application follows, where a test is about
 * covenants, programs, lanes or protocols.
 */
export const APPLICATION_RATE = 0.25;
/** So few UTXOs that even a small set is served in several chunks. */
export const CHUNK_UTXOS = 50;

/** Tests do not wait as long as the program. */
const BOOTSTRAP_TIMING = { rereadPausesMs: [20, 50, 100], pollMs: 20, settleMs: 20, standstillMs: 600_000 };
const PROBE_AFTER_SILENCE_MS = 1_000;
const MAX_PAUSE_MS = 500;

export class SimulatedDag {
  /** Every block but genesis, in the order of arrival. */
  readonly bodies: readonly BlockBody[];
  readonly node: SimulatedNode;
  readonly server: NodeServer;
  /** The node's p2p, which serves the UTXO set at the pruning point. */
  readonly p2p: UtxoSetServer;
  readonly p2pFaults: {
    plan?: UtxoSetFaultPlan | undefined;
    /** Served instead of the node's own set. */
    set?: (() => PruningPointSet) | undefined;
  };
  /**
   * Whether a hostile miner adds blocks, which make it harder to tell which variant of a
   * transaction was accepted.
   */
  readonly isHostile: boolean;
  readonly #simulation: Simulation;
  readonly #clock: { now: number };
  #rounds = 0;

  static async start(
    seed: string,
    faults?: FaultPlan,
    nodeOptions?: Partial<SimulatedNodeOptions>,
    simulation?: Partial<SimulationOptions>,
  ): Promise<SimulatedDag> {
    const clock = { now: START_MS };
    const bodies: BlockBody[] = [];
    const keep = (body: BlockBody): BlockBody => {
      bodies.push(body);
      return body;
    };
    const node = new SimulatedNode({ params: PARAMS, now: () => clock.now, keep, ...nodeOptions });
    const options = {
      ...DEFAULT_OPTIONS,
      seed,
      reorgRate: 0.02,
      redRate: 0.004,
      nonStandardRate: 0.01,
      variantRate: 0.1,
      applicationRate: 0,
      ...simulation,
    };
    const server = await NodeServer.start({ state: node, ...(faults && { faults }) });
    const p2pFaults: SimulatedDag['p2pFaults'] = {};
    const p2p = await UtxoSetServer.start({
      network: node.network.id,
      set: () => p2pFaults.set?.() ?? node.pruningPointSet(),
      chunkSize: CHUNK_UTXOS,
      faults: (chunk) => p2pFaults.plan?.(chunk),
    });
    const isHostile = options.hostileRate > 0;
    return new SimulatedDag(node, new Simulation(node, options), { server, p2p, p2pFaults, isHostile }, clock, bodies);
  }

  private constructor(
    node: SimulatedNode,
    simulation: Simulation,
    { server, p2p, p2pFaults, isHostile }: Pick<SimulatedDag, 'server' | 'p2p' | 'p2pFaults' | 'isHostile'>,
    clock: { now: number },
    bodies: readonly BlockBody[],
  ) {
    this.bodies = bodies;
    this.node = node;
    this.#simulation = simulation;
    this.server = server;
    this.p2p = p2p;
    this.p2pFaults = p2pFaults;
    this.isHostile = isHostile;
    this.#clock = clock;
  }

  /** Mines some rounds of at least a block each, with payments between them. */
  mine(rounds: number, paymentsPerRound = 4): void {
    for (let round = 0; round < rounds; round += 1) {
      this.#rounds += 1;
      if (this.#rounds % SLOW_CLOCK_EVERY === 0)
        this.mineRound(1, { slowMs: SLOW_CLOCK_MS, payments: paymentsPerRound });
      else this.mineRound(BLOCK_MS, { payments: paymentsPerRound });
    }
  }

  /** Mines at least a block after some time. @param slowMs by how much the miner's clock is slow */
  mineRound(afterMs: number, { slowMs = 0, payments = 4 } = {}): void {
    this.#simulation.pay(payments);
    this.#clock.now += afterMs;
    this.#simulation.mine(this.#clock.now - slowMs);
  }

  /** Mines at least these rounds, until the chain has more work than that of the other DAG. */
  mineBeyond(other: SimulatedDag, rounds: number): void {
    do this.mine(rounds);
    while (workOf(this) <= workOf(other));
  }

  /**
   * A partition of the miners returns with a branch that replaces this many chain blocks: by
   * default, all that may change.
   */
  reorganise(depth = this.node.consensus.changeableDepth): void {
    this.#clock.now += BLOCK_MS;
    this.#simulation.reorganise(depth, this.#clock.now);
  }

  /** Returns the owner of a script of the simulation. */
  ownerOf(script: ScriptPublicKey): unknown {
    return this.#simulation.keyring.find(script)?.owner;
  }

  /** Adds payments to the mempool. */
  pay(count: number): void {
    this.#simulation.pay(count);
  }

  /**
   * Returns whether the mempool accepts it: it rejects non-standard and conflicting transactions.
   */
  submit(transaction: DagTransaction): boolean {
    try {
      this.node.submitTransaction(transaction, false);
      return true;
    } catch (error) {
      if (error instanceof NodeResponseError) return false;
      throw error;
    }
  }

  /** Passes the blocks of another node to this one. */
  receiveBlocksOf(other: SimulatedDag): void {
    for (const body of other.bodies) {
      if (this.node.consensus.find(body.hash) === undefined) this.node.receive(body);
    }
  }

  stop(): void {
    this.server.close();
    this.p2p.close();
  }
}

const workOf = ({ node }: SimulatedDag): bigint => node.dag.sink.header.blueWork;

export interface RunningIndexer {
  nodes: NodeChoice;
  metrics: Metrics;
  /** Silent unless LOG_LEVEL is set; tests spy on it. */
  log: Logger;
  /** Resolves when the indexer has stopped; rejects with the error that stopped it. */
  ended: Promise<void>;
  stop: () => Promise<void>;
}

/**
 * @param variables of the environment of the program; `batchTransactions` and `memoryTransactions`
 * override its memory bounds
 */
export function startIndexing(
  simulatedDag: Pick<SimulatedDag, 'server' | 'p2p'>,
  databaseUrl: string,
  variables: Record<string, string> = {},
  timing: Partial<typeof BOOTSTRAP_TIMING> = {},
): RunningIndexer {
  const own = { NODE_URL: simulatedDag.server.url, NODE_P2P_URL: simulatedDag.p2p.url, DATABASE_URL: databaseUrl };
  const { batchTransactions, memoryTransactions, ...others } = variables;
  const env = envSchema.parse({ ...own, ...others });
  const options = {
    ...indexerOptions(env),
    ...(batchTransactions !== undefined && { batchTransactions: Number(batchTransactions) }),
    ...(memoryTransactions !== undefined && { memoryTransactions: Number(memoryTransactions) }),
    bootstrapTiming: { ...BOOTSTRAP_TIMING, ...timing },
    maxPauseMs: MAX_PAUSE_MS,
  };
  const log = createLogger({ name: 'indexer', level: process.env['LOG_LEVEL'] === undefined ? 'silent' : 'info' });
  const database = openDatabase(databaseUrl, PROBE_AFTER_SILENCE_MS);
  const metrics = createMetrics(createRegistry('indexer under test'));
  const client = { streams: 1 + options.pageStreams, maxPauseMs: 200 };
  const nodes = new NodeChoice({ urls: env.NODE_URL, client, log, metrics });
  const controller = new AbortController();
  const dependencies: RunIndexerOptions = {
    nodes,
    database,
    expectedNetwork: env.NETWORK,
    options,
    log,
    progress: new Progress(log),
    metrics,
    status: { isFollowing: false },
  };
  const follow = async (): Promise<void> => {
    try {
      await runIndexer(dependencies, controller.signal);
    } finally {
      await nodes.close();
      await database.close();
    }
  };
  const ended = follow();
  ended.catch(() => undefined);
  return {
    nodes,
    metrics,
    log,
    ended,
    stop: async () => {
      controller.abort();
      await ended;
    },
  };
}

/** A simulated node behind an address that a test can take away and give back. */
export class NodeBehindProxy {
  readonly url: string;
  readonly #server: NodeServer;
  readonly #proxy: TcpProxy;

  static async start(state: NodeState, faults?: FaultPlan): Promise<NodeBehindProxy> {
    const server = await NodeServer.start({ state, ...(faults && { faults }) });
    return new NodeBehindProxy(server, await TcpProxy.start(server.url));
  }

  private constructor(server: NodeServer, proxy: TcpProxy) {
    this.#server = server;
    this.#proxy = proxy;
    this.url = proxy.url;
  }

  /** `host:port`, as in the indexer's log. */
  get name(): string {
    return new URL(this.url).host;
  }

  goAway(): void {
    this.#proxy.refuse();
  }

  comeBack(): void {
    this.#proxy.pass();
  }

  stop(): void {
    this.#proxy.stop();
    this.#server.close();
  }
}

/** Returns a node with other values of these properties. */
export function nodeThatDiffers(from: NodeState, differences: Partial<NodeState>): NodeState {
  return Object.setPrototypeOf({ ...differences }, from) as NodeState;
}
