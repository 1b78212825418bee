/**
 * The client of the node's p2p, over a node that hands out a set honestly, slowly asked, or not as
 * it should.
 */
import { type Hash, MuHash, toHex, type Utxo } from '@kasgres/kaspa';
import {
  decodeUtxoChunk,
  NodeProtocolError,
  NodeUnavailableError,
  NodeUnsuitableError,
  PeerRejectedError,
  PruningPointMovedError,
  readUtxoSet,
  type UtxoSetOptions,
} from '@kasgres/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type UtxoSetFault, type UtxoSetFaultPlan, UtxoSetServer, type UtxoSetServerOptions } from './server.ts';

const PRUNING_POINT = hashFrom(7);
const CHUNK = 10;
const CHUNKS_AT_ONCE = 99;

function hashFrom(seed: number): Hash {
  const hash = Buffer.alloc(32, 1);
  hash.writeUInt32LE(seed);
  return hash;
}

/** Made-up UTXOs, of every kind. */
function makeUtxos(count: number): Utxo[] {
  return Array.from({ length: count }, (_, index) => ({
    outpoint: { transactionId: hashFrom(index), index: index % 300 },
    amount: BigInt(index) * 10_000_000_019n,
    scriptPublicKey: { version: index % 2, script: Buffer.alloc(index % 40, index) },
    blockDaaScore: BigInt(index) * 3n,
    isCoinbase: index % 3 === 0,
    covenantId: index % 5 === 0 ? hashFrom(index + 1) : undefined,
  }));
}

function setOf(utxos: readonly Utxo[]): UtxoSetServerOptions['set'] {
  return () => ({ pruningPointHash: PRUNING_POINT, utxos });
}

/** The fault happens to the chunk of this number, in every hand-out. */
function at(number: number, fault: UtxoSetFault): UtxoSetFaultPlan {
  return (chunk) => (chunk === number ? fault : undefined);
}

async function start(options: Partial<UtxoSetServerOptions> = {}): Promise<UtxoSetServer> {
  const server = await UtxoSetServer.start({
    network: 'simnet',
    set: setOf(makeUtxos(25)),
    chunkSize: CHUNK,
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

function read({ url }: UtxoSetServer, options: Partial<UtxoSetOptions> = {}): ReturnType<typeof readUtxoSet> {
  return readUtxoSet({ url, network: 'simnet', pruningPointHash: PRUNING_POINT, ...options });
}

async function readAll(chunks: ReturnType<typeof readUtxoSet>): Promise<Utxo[]> {
  const all: Utxo[] = [];
  for await (const { utxos } of chunks) all.push(...utxos);
  return all;
}

function comparable({ outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId }: Utxo): unknown[] {
  return [
    `${toHex(outpoint.transactionId)}:${outpoint.index}`,
    amount,
    scriptPublicKey.version,
    toHex(scriptPublicKey.script),
    blockDaaScore,
    isCoinbase,
    covenantId === undefined ? undefined : toHex(covenantId),
  ];
}

function commitmentTo(utxos: readonly Utxo[]): string {
  const muhash = new MuHash();
  for (const utxo of utxos) muhash.add(utxo);
  return toHex(muhash.commitment());
}

describe('an honest peer', () => {
  test.each([0, 1, CHUNK, 25])('sends its set of %i UTXOs with every field', async (count) => {
    const server = await start({ set: setOf(makeUtxos(count)) });
    const received = await readAll(read(server));
    expect(received.map(comparable)).toEqual(makeUtxos(count).map(comparable));
  });

  test('waits for a request for more after every 99 chunks', async () => {
    const chunks = 2 * CHUNKS_AT_ONCE + 1;
    const server = await start({ set: setOf(makeUtxos(chunks * CHUNK)) });
    let count = 0;
    for await (const { utxos } of read(server)) count += utxos.length;
    expect(count).toBe(chunks * CHUNK);
    expect(server.received.filter((name) => name === 'requestNextPruningPointUtxoSetChunk')).toHaveLength(2);
  });

  test('gets responses to the requests that all peers send', async () => {
    const server = await start();
    await readAll(read(server));
    await expect.poll(() => server.received).toEqual(expect.arrayContaining(['verack', 'ready', 'pong', 'addresses']));
  });

  test('sends chunks that another thread can decode', async () => {
    const server = await start();
    for await (const { bytes, utxos } of read(server)) {
      expect(decodeUtxoChunk(structuredClone(bytes)).map(comparable)).toEqual(utxos.map(comparable));
    }
  });

  test('sends at most 99 chunks ahead of a slow consumer', async () => {
    const server = await start({ set: setOf(makeUtxos(3 * CHUNKS_AT_ONCE * CHUNK)) });
    let taken = 0;
    for await (const _ of read(server)) {
      taken += 1;
      expect(server.chunksSent).toBeLessThanOrEqual(Math.ceil(taken / CHUNKS_AT_ONCE) * CHUNKS_AT_ONCE);
    }
    expect(taken).toBe(3 * CHUNKS_AT_ONCE);
  });

  test('is disconnected when the consumer stops', async () => {
    const server = await start({ set: setOf(makeUtxos(CHUNKS_AT_ONCE * CHUNK + 1)) });
    for await (const { utxos } of read(server)) {
      expect(utxos).toHaveLength(CHUNK);
      break;
    }
    expect(server.received).not.toContain('requestNextPruningPointUtxoSetChunk');
  });
});

describe('a peer', () => {
  test('that alters a UTXO is detected by the commitment', async () => {
    const utxos = makeUtxos(25);
    const expected = commitmentTo(utxos);
    expect(commitmentTo(await readAll(read(await start({ set: setOf(utxos) }))))).toBe(expected);
    const altered = utxos.map((utxo, index) => (index === 17 ? { ...utxo, amount: utxo.amount + 1n } : utxo));
    expect(commitmentTo(await readAll(read(await start({ set: setOf(altered) }))))).not.toBe(expected);
    const altering = await start({ set: setOf(utxos), faults: at(1, { kind: 'altered' }) });
    expect(commitmentTo(await readAll(read(altering)))).not.toBe(expected);
  });

  test('with another pruning point reports it', async () => {
    const chunks = read(await start(), { pruningPointHash: hashFrom(8) });
    await expect(readAll(chunks)).rejects.toThrow(PruningPointMovedError);
  });

  test('whose pruning point moves during the transfer reports it', async () => {
    const server = await start({ faults: at(1, { kind: 'moved' }) });
    await expect(readAll(read(server))).rejects.toThrow(PruningPointMovedError);
    expect(server.chunksSent).toBe(1);
  });

  test('that has pruned during the transfer reports it, and sends the new set', async () => {
    let pruningPointHash = PRUNING_POINT;
    const next = hashFrom(8);
    const server = await start({
      set: () => ({ pruningPointHash, utxos: makeUtxos(25) }),
      faults: (chunk) => {
        if (chunk === 1) pruningPointHash = next;
        return undefined;
      },
    });
    await expect(readAll(read(server))).rejects.toThrow(PruningPointMovedError);
    expect(server.chunksSent).toBe(1);
    await expect(readAll(read(server))).rejects.toThrow(PruningPointMovedError);
    expect(await readAll(read(server, { pruningPointHash: next }))).toHaveLength(25);
  });

  test('that sends slowly does not time out', async () => {
    const server = await start({ faults: () => ({ kind: 'delay', ms: 20 }) });
    const begun = performance.now();
    expect(await readAll(read(server))).toHaveLength(25);
    expect(performance.now() - begun).toBeGreaterThan(50);
  });

  test('that disconnects is unavailable: part of a set never counts as the whole', async () => {
    const server = await start({ faults: at(2, { kind: 'cut-off' }) });
    const chunks = read(server);
    expect((await chunks.next()).value?.utxos).toHaveLength(CHUNK);
    expect((await chunks.next()).value?.utxos).toHaveLength(CHUNK);
    await expect(chunks.next()).rejects.toThrow(NodeUnavailableError);
  });

  test('that stops responding times out', async () => {
    const server = await start({ faults: at(1, { kind: 'silent' }) });
    await expect(readAll(read(server, { silenceMs: 500 }))).rejects.toThrow(/silent for 500 ms/);
  });

  test('that sends a UTXO without an entry is refused', async () => {
    const server = await start({ faults: at(1, { kind: 'malformed' }) });
    await expect(readAll(read(server))).rejects.toThrow(NodeProtocolError);
  });

  test('of another network is refused with a reason', async () => {
    const server = await start({ network: 'testnet-10' });
    const failed = readAll(read(server));
    await expect(failed).rejects.toThrow(NodeUnsuitableError);
    await expect(failed).rejects.toThrow(/is of kaspa-testnet-10 instead of kaspa-simnet/);
  });

  test('that rejects the connection has its reason reported', async () => {
    const server = await start({ rejectsWith: 'no more peers' });
    const failed = readAll(read(server));
    await expect(failed).rejects.toThrow(PeerRejectedError);
    await expect(failed).rejects.toThrow(/no more peers/);
  });

  test('that does not listen is unavailable', async () => {
    const server = await start();
    server.close();
    await expect(readAll(read(server))).rejects.toThrow(NodeUnavailableError);
  });
});

test('an aborted signal stops the read with its reason, whether it is waiting or not', async () => {
  const reason = new Error('enough');
  const silent = await start({ faults: at(0, { kind: 'silent' }) });
  const waiting = new AbortController();
  const failed = readAll(read(silent, { signal: waiting.signal }));
  setTimeout(() => waiting.abort(reason), 50);
  await expect(failed).rejects.toBe(reason);

  const between = new AbortController();
  const chunks = read(await start(), { signal: between.signal });
  await chunks.next();
  between.abort(reason);
  await expect(chunks.next()).rejects.toBe(reason);

  await expect(readAll(read(silent, { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
});
