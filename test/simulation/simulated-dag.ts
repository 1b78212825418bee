/**
 * A simulated node that a test mines on, and indexers in this process that follow it: seeded, so that what fails can be run
 * again (`SEED=… npx vitest run test/simulation`).
 */
import { type DagTransaction, NodeResponseError, NodeServer, UtxoSetServer } from '@kasgres/devnet';
import {
  createMetrics,
  envSchema,
  indexerOptions,
  runIndexer,
  type RunIndexerOptions,
  type Metrics,
  NodeChoice,
  openDatabase,
  Progress,
} from '@kasgres/indexer';
import { createLogger, createRegistry } from '@kasgres/runtime';
import type { ScriptPublicKey } from '@kasgres/kaspa';
import type { FaultPlan, PruningPointSet, SimulatedNodeOptions, UtxoSetFaultPlan } from '@kasgres/devnet';
import type { BlockBody } from '../../packages/devnet/src/simulation/consensus/consensus.ts';
import {
  SIMNET_PARAMS,
  SimulatedNode,
  Simulation,
  type SimulationOptions,
  DEFAULT_OPTIONS,
} from '../../packages/devnet/src/simulation/index.ts';

const START_MS = 1_750_000_000_000;
/** So long that an hour ends every other round, also in the middle of what a reorg removes: balance_changes counts by the hour. */
const BLOCK_MS = 1_800_000;
/**
 * In every fourth round a miner's clock is slow, and its block comes right after another one: chain blocks whose own times run backwards, often
 * into the hour before. Less than what makes the node say that it is not synced.
 */
const SLOW_CLOCK_EVERY = 4;
const SLOW_CLOCK_MS = 600_000;
/** Young UTXOs may be spent at once, so that a short chain has many transactions. */
export const PARAMS = { ...SIMNET_PARAMS, coinbaseMaturity: 20 };
/** UTXOs that the node's p2p hands out at once: a small set comes in several chunks. */
export const CHUNK_UTXOS = 50;

/** The depths of the simulation's network are the real ones, and tests do not wait for minutes. */
const BOOTSTRAP_TIMING = { rereadPausesMs: [20, 50, 100], pollMs: 20, settleMs: 20, standstillMs: 600_000 };
/** Tests do not wait as long as the program. */
const ASK_AFTER_SILENCE_MS = 1_000;

export class SimulatedDag {
  /** Every block but genesis, in the order of arrival. */
  readonly bodies: readonly BlockBody[];
  readonly node: SimulatedNode;
  readonly server: NodeServer;
  /** The node's p2p: it hands out the UTXO set at the pruning point. */
  readonly p2p: UtxoSetServer;
  /** What goes wrong with that. */
  readonly p2pFaults: {
    plan?: UtxoSetFaultPlan | undefined;
    /** Handed out in place of the node's own. */
    set?: (() => PruningPointSet) | undefined;
  };
  readonly #simulation: Simulation;
  readonly #clock: { now: number };
  #rounds = 0;

  /**
   * @param nodeOptions what the node has beyond the usual
   * @param people what they do beyond the usual
   */
  static async start(
    seed: string,
    faults?: FaultPlan,
    nodeOptions?: Partial<SimulatedNodeOptions>,
    people?: Partial<SimulationOptions>,
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
      twoBodiesRate: 0.1,
      ...people,
    };
    const server = await NodeServer.start({ state: node, ...(faults && { faults }) });
    const p2pFaults: SimulatedDag['p2pFaults'] = {};
    const p2p = await UtxoSetServer.start({
      network: node.network.id,
      set: () => p2pFaults.set?.() ?? node.pruningPointSet(),
      chunkSize: CHUNK_UTXOS,
      faults: (chunk) => p2pFaults.plan?.(chunk),
    });
    return new SimulatedDag(node, new Simulation(node, options), { server, p2p, p2pFaults }, clock, bodies);
  }

  private constructor(
    node: SimulatedNode,
    simulation: Simulation,
    { server, p2p, p2pFaults }: Pick<SimulatedDag, 'server' | 'p2p' | 'p2pFaults'>,
    clock: { now: number },
    bodies: readonly BlockBody[],
  ) {
    this.bodies = bodies;
    this.node = node;
    this.#simulation = simulation;
    this.server = server;
    this.p2p = p2p;
    this.p2pFaults = p2pFaults;
    this.#clock = clock;
  }

  /** Lets the network go on for some rounds of at least a block each, with payments between them. */
  mine(rounds: number, paymentsPerRound = 4): void {
    for (let round = 0; round < rounds; round += 1) {
      this.#simulation.pay(paymentsPerRound);
      this.#rounds += 1;
      const isSlow = this.#rounds % SLOW_CLOCK_EVERY === 0;
      this.#clock.now += isSlow ? 1 : BLOCK_MS;
      this.#simulation.mine(this.#clock.now - (isSlow ? SLOW_CLOCK_MS : 0));
    }
  }

  /** The same; rounds have any number of blocks, so it goes on until the chain has more work than that of another world. */
  mineBeyond(other: SimulatedDag, rounds: number): void {
    do this.mine(rounds);
    while (workOf(this) <= workOf(other));
  }

  /** A part of the miners comes back with a branch that replaces the chain as deep as it may change. */
  reorganise(): void {
    this.#clock.now += BLOCK_MS;
    this.#simulation.reorganise(this.node.consensus.changeableDepth, this.#clock.now);
  }

  /** Who owns an address, as far as its number was handed out. */
  ownerOf(script: ScriptPublicKey): unknown {
    return this.#simulation.keyring.find(script)?.owner;
  }

  /** Payments that wait in the mempool. */
  pay(count: number): void {
    this.#simulation.pay(count);
  }

  /** @returns whether the mempool takes it: not what is not standard, or spends a UTXO that another one spends */
  handIn(transaction: DagTransaction): boolean {
    try {
      this.node.submitTransaction(transaction, false);
      return true;
    } catch (error) {
      if (error instanceof NodeResponseError) return false;
      throw error;
    }
  }

  /** Its node hears of the blocks of another one that it does not have. */
  hear(other: SimulatedDag): void {
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
  /** Resolves when the indexer has ended; rejects with what ended it. */
  ended: Promise<void>;
  stop: () => Promise<void>;
}

/** @param variables of the environment of the program; `batchTransactions` and `memoryTransactions` override its memory bounds */
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
  };
  const log = createLogger({ name: 'indexer', level: process.env['LOG_LEVEL'] === undefined ? 'silent' : 'info' });
  const database = openDatabase(databaseUrl, ASK_AFTER_SILENCE_MS);
  const metrics = createMetrics(createRegistry('indexer under test'));
  const client = { streams: 1 + options.pageStreams, maxPauseMs: 200 };
  const nodes = new NodeChoice({ urls: env.NODE_URL, client, log, metrics });
  const controller = new AbortController();
  const parts: RunIndexerOptions = {
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
      await runIndexer(parts, controller.signal);
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
    ended,
    stop: async () => {
      controller.abort();
      await ended;
    },
  };
}
