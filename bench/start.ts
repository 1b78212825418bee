/**
 * What a start from a pruning point costs, from the first coin to an index that answers: the real indexer, as a process of its own,
 * on a simulated node whose whole chain is its pruning point, with a UTXO set of as many generated coins as wanted.
 *
 *   node bench/start.ts [coins in millions]
 *
 * On an embedded Postgres; all of it shares the cores. bench/README.md has figures.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { connect, type Connection, migrate } from '@kasgres/database';
import { Dag, NodeServer, type NodeState, UtxoSetServer } from '@kasgres/devnet';
import {
  genesisBlock,
  getNetwork,
  type Hash,
  headerHash,
  MuHash,
  toHex,
  transactionHash,
  transactionId,
  type Utxo,
} from '@kasgres/kaspa';
import { freePort } from '../test/node/kaspad.ts';
import { type Program, startIndexer } from '../test/node/programs.ts';
import { startDurablePostgres } from './durable-postgres.ts';

const network = getNetwork('simnet');
/** Of the coins of a set: about as many transactions and scripts, and some that hold several. */
const COINS_A_TRANSACTION = 1.25;
const COINS_A_SCRIPT = 2;
const SAMPLE_MS = 1_000;

if (isMainThread) await main();
else hashPart(workerData as Part);

async function main(): Promise<void> {
  const count = Math.round(Number(process.argv[2] ?? 5) * 1e6);
  const commitment = await commitmentOf(count);
  const node = pruningPointNode(commitment);
  const server = await NodeServer.start({ state: node.state });
  const set = { pruningPointHash: node.hash, utxos: { [Symbol.iterator]: () => coins(0, count, count) } };
  const peer = await UtxoSetServer.start({ network: network.id, set: () => set });
  const postgres = await startDurablePostgres();
  try {
    await migrate(postgres.url);
    const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 2 });
    await measure(count, database, { nodeUrl: server.url, p2pUrl: peer.url, databaseUrl: postgres.url });
    await database.close();
  } finally {
    await postgres.stop();
    peer.close();
    server.close();
  }
}

interface Urls {
  nodeUrl: string;
  p2pUrl: string;
  databaseUrl: string;
}

async function measure(count: number, database: Connection, { nodeUrl, p2pUrl, databaseUrl }: Urls): Promise<void> {
  const port = await freePort();
  const indexer = startIndexer({ nodeUrl, databaseUrl }, { NODE_P2P_URL: p2pUrl, METRICS_PORT: String(port) });
  const samples: Sample[] = [];
  let staged = 0;
  const startedAt = Date.now();
  while (!indexer.output().includes('finished the first catch-up')) {
    if (!indexer.isRunning()) throw new Error(`the indexer ended:\n${indexer.output()}`);
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    const sample = await readSample(port);
    if (sample !== undefined) samples.push(sample);
    staged = Math.max(staged, await sizeOf(database, 'loaded_utxos'));
  }
  const finishedAt = Date.now();
  await indexer.stop();
  report(count, startedAt, finishedAt, indexer, samples);
  console.log(`loaded_utxos: ${Math.round(staged / count)} bytes a coin, as long as the start is not made`);
  for (const table of ['start_utxos', 'earlier_transactions', 'scripts', 'utxos', 'balances', 'balance_changes']) {
    console.log(`${table}: ${Math.round((await sizeOf(database, table)) / count)} bytes a coin, with indexes`);
  }
}

function report(count: number, startedAt: number, finishedAt: number, indexer: Program, samples: Sample[]): void {
  const lines = indexer
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { time: number | string; msg: string });
  const at = (words: string): number => {
    const line = lines.find(({ msg }) => msg.includes(words));
    return line === undefined ? Number.NaN : new Date(line.time).getTime();
  };
  const steps: [string, number][] = [
    ['loaded and checked', at('is the one that the header commits to')],
    ['written as the start', at('began an index at the pruning point')],
    ['indexes, coins and balances', finishedAt],
  ];
  let before = startedAt;
  for (const [step, end] of steps) {
    const seconds = (end - before) / 1_000;
    console.log(`${step}: ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} coins a second`);
    before = end;
  }
  console.log(`all: ${((finishedAt - startedAt) / 1_000).toFixed(1)} s`);
  const loading = samples.filter(({ utxos }) => utxos > 0);
  for (let tenth = 0; tenth < 10; tenth++) {
    const part = loading.filter(({ utxos }) => Math.min(9, Math.floor((utxos * 10) / count)) === tenth);
    if (part.length > 0) console.log(`memory at ${tenth * 10} % of the load: ${megabytes(part)} MB resident at most`);
  }
  console.log(`memory in all: ${megabytes(samples)} MB resident at most`);
}

interface Sample {
  utxos: number;
  bytes: number;
}

async function readSample(port: number): Promise<Sample | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
  const text = await answer?.text();
  const value = (name: string): number => Number(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'm').exec(text ?? '')?.[1]);
  if (text === undefined) return undefined;
  return { utxos: value('kasgres_indexer_start_utxos_loaded'), bytes: value('process_resident_memory_bytes') };
}

function megabytes(samples: readonly Sample[]): number {
  return Math.round(Math.max(...samples.map(({ bytes }) => bytes)) / 1e6);
}

async function sizeOf({ pool }: Connection, table: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: bigint }>('select pg_total_relation_size($1) as bytes', [table]);
  return Number(rows[0]?.bytes);
}

/** A node that has pruned everything but one block: the simnet's genesis, with a commitment to other coins. */
function pruningPointNode(commitment: Hash): { hash: Hash; state: NodeState } {
  const genesis = genesisBlock(network);
  const header = { ...genesis.header, utxoCommitment: commitment, blueScore: 1n };
  const hash = headerHash(header);
  const name = toHex(hash);
  const dag = new Dag();
  const transactions = genesis.transactions.map((transaction) => {
    const names = { transactionId: transactionId(transaction), hash: transactionHash(transaction) };
    return { ...transaction, ...names, computeMass: 0n };
  });
  const relations = { selectedParentHash: undefined, mergeSetBlues: [], mergeSetReds: [] };
  dag.add({ hash: name, header, ...relations, transactions, difficulty: 1 });
  dag.setAcceptance(name, []);
  const { blueScore, daaScore, timestamp } = header;
  dag.setVirtual({ sink: name, parents: [name], blueScore, daaScore, pastMedianTime: timestamp, difficulty: 1 });
  const state: NodeState = {
    network,
    dag,
    serverVersion: '2.1.0',
    isSynced: true,
    pruningPoint: name,
    isUtxoIndexed: true,
    findMempoolEntry: () => undefined,
    mempoolEntries: () => [],
    mempoolEntriesByScript: () => ({ sending: [], receiving: [] }),
    blockTemplate: notAsked,
    submitBlock: notAsked,
    submitTransaction: notAsked,
    balance: notAsked,
    utxos: notAsked,
    circulatingSompi: notAsked,
    onEvent: () => () => undefined,
  };
  return { hash, state };
}

function notAsked(): never {
  throw new Error('nobody should ask this');
}

/** Coins `from` to `to` of a set of so many: in the order of their transactions' ids, which are spread evenly, as a node hands them out. */
function* coins(from: number, to: number, count: number): Generator<Utxo> {
  for (let number = from; number < to; number++) {
    const transaction = Math.floor(number / COINS_A_TRANSACTION);
    const id = digest('transaction', transaction);
    id.writeUInt32BE(Math.floor((transaction * COINS_A_TRANSACTION * 2 ** 32) / (count + 1)));
    // Far from its neighbours, as whoever is paid is.
    const owner = (number * 7_919) % Math.ceil(count / COINS_A_SCRIPT);
    yield {
      outpoint: { transactionId: id, index: number - Math.ceil(transaction * COINS_A_TRANSACTION) },
      amount: BigInt(number) * 1_000n + 1n,
      scriptPublicKey: {
        version: 0,
        script: Buffer.concat([Buffer.of(0x20), digest('script', owner), Buffer.of(0xac)]),
      },
      blockDaaScore: BigInt(number),
      isCoinbase: number % 4 === 0,
      covenantId: undefined,
    };
  }
}

function digest(what: string, number: number): Buffer {
  return createHash('sha256').update(`${what} ${number}`).digest();
}

interface Part {
  from: number;
  to: number;
  count: number;
}

/** Hashed here first, on all cores: the node must know it. */
async function commitmentOf(count: number): Promise<Hash> {
  const threads = availableParallelism();
  const borders = Array.from({ length: threads + 1 }, (_, thread) => Math.floor((count * thread) / threads));
  const products = borders.slice(1).map(
    (to, thread) =>
      new Promise<bigint>((resolve, reject) => {
        const part: Part = { from: borders[thread] ?? 0, to, count };
        const worker = new Worker(new URL(import.meta.url), { workerData: part });
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
  );
  const set = new MuHash();
  for (const product of await Promise.all(products)) set.combine(new MuHash(product));
  return set.commitment();
}

function hashPart({ from, to, count }: Part): void {
  const set = new MuHash();
  for (const coin of coins(from, to, count)) set.add(coin);
  parentPort?.postMessage(set.product, []);
}
