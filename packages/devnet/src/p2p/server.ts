/**
 * The p2p server of a simulated node, which serves the UTXO set of its pruning point, with faults if they are planned.
 */
import { setTimeout } from 'node:timers/promises';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerDuplexStream, type ServiceDefinition } from '@grpc/grpc-js';
import { type Hash, type NetworkId, toHex, type Utxo } from '@kasgres/kaspa';
import { p2pProtocol } from '@kasgres/node';

type PeerStream = ServerDuplexStream<Buffer, Buffer>;
type Payload = NonNullable<MessageInitShape<typeof p2pProtocol.PeerMessageSchema>['payload']>;

type ChunkItems = NonNullable<MessageInitShape<typeof p2pProtocol.UtxoSetChunkSchema>['items']>;

/** The download of one peer and its progress. */
interface Download {
  pruningPoint: string;
  chunks: Iterator<Chunk, void>;
  sent: number;
}

interface Chunk {
  bytes: Buffer;
  utxos: readonly Utxo[];
}

const P2P: ServiceDefinition = {
  messageStream: {
    path: '/protowire.P2P/MessageStream',
    requestStream: true,
    responseStream: true,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
};

const PROTOCOL_VERSION = 11;
/** Then the server waits for a request for more. */
const CHUNKS_AT_ONCE = 99;
const PING_NONCE = 0x123456789n;

/** A fault of one chunk. */
export type UtxoSetFault =
  /** The stream ends instead. */
  | { kind: 'cut-off' }
  /** Nothing more is sent, and the stream stays open. */
  | { kind: 'silent' }
  /** A message that the pruning point has moved is sent instead. */
  | { kind: 'moved' }
  /** Its first UTXO has no entry. */
  | { kind: 'malformed' }
  /** Its first UTXO has a sompi more. */
  | { kind: 'altered' }
  /** It is sent later. */
  | { kind: 'delay'; ms: number };

/** Returns the fault of a chunk, numbered from 0 in each download; `undefined`: it is sent as it is. */
export type UtxoSetFaultPlan = (chunk: number) => UtxoSetFault | undefined;

export interface PruningPointSet {
  pruningPointHash: Hash;
  utxos: Iterable<Utxo>;
}

export interface UtxoSetServerOptions {
  network: NetworkId;
  /** Returns the current set. Called before each chunk: a download ends when the pruning point moves. */
  set: () => PruningPointSet;
  /** Default: a free one. */
  port?: number;
  /** How many UTXOs a chunk holds. Default: as a real node, 1000. */
  chunkSize?: number;
  /** How often each chunk is sent, which makes a large set for benchmarks at little cost. Default 1. */
  repeats?: number;
  faults?: UtxoSetFaultPlan;
  /** The reason with which every peer is rejected. */
  rejectsWith?: string;
}

export class UtxoSetServer {
  readonly url: string;
  /** The number of chunks sent to all peers. */
  chunksSent = 0;
  /** The names of the payloads that peers sent, in order. */
  readonly received: string[] = [];
  private readonly server: Server;
  private readonly options: UtxoSetServerOptions;

  static async start(options: UtxoSetServerOptions): Promise<UtxoSetServer> {
    const server = new Server({ 'grpc.max_send_message_length': -1 });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${options.port ?? 0}`, ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    return new UtxoSetServer(server, port, options);
  }

  private constructor(server: Server, port: number, options: UtxoSetServerOptions) {
    this.server = server;
    this.url = `grpc://127.0.0.1:${port}`;
    this.options = options;
    server.addService(P2P, { messageStream: (stream: PeerStream) => this.serve(stream) });
  }

  close(): void {
    this.server.forceShutdown();
  }

  private serve(stream: PeerStream): void {
    const { network, rejectsWith, set } = this.options;
    let download: Download | undefined;
    stream.on('error', () => undefined);
    stream.on('end', () => stream.end());
    stream.on('data', (bytes: Buffer) => {
      const { payload } = fromBinary(p2pProtocol.PeerMessageSchema, bytes);
      if (payload.case !== undefined) this.received.push(payload.case);
      if (payload.case === 'version') {
        if (rejectsWith !== undefined) {
          send(stream, { case: 'reject', value: { reason: rejectsWith } });
          stream.end();
          return;
        }
        send(stream, { case: 'verack', value: {} });
        send(stream, { case: 'ready', value: {} });
        // kaspad sends these to every new peer.
        send(stream, { case: 'ping', value: { nonce: PING_NONCE } });
        send(stream, { case: 'requestAddresses', value: {} });
      } else if (payload.case === 'requestPruningPointUtxoSet') {
        const asked = toHex(payload.value.pruningPointHash?.bytes ?? new Uint8Array());
        download = { pruningPoint: asked, chunks: encodedChunks(set().utxos, this.options), sent: 0 };
        void this.sendChunks(stream, download);
      } else if (payload.case === 'requestNextPruningPointUtxoSetChunk' && download !== undefined) {
        void this.sendChunks(stream, download);
      }
    });
    send(stream, { case: 'version', value: { protocolVersion: PROTOCOL_VERSION, network: `kaspa-${network}` } });
  }

  private async sendChunks(stream: PeerStream, download: Download): Promise<void> {
    const { faults, set } = this.options;
    for (let sent = 0; sent < CHUNKS_AT_ONCE; sent++) {
      const next = download.chunks.next();
      if (next.done === true) return send(stream, { case: 'donePruningPointUtxoSetChunks', value: {} });
      const fault = faults?.(download.sent);
      if (fault?.kind === 'delay') await setTimeout(fault.ms);
      if (stream.cancelled || fault?.kind === 'silent') return;
      if (fault?.kind === 'cut-off') return void stream.end();
      if (fault?.kind === 'moved' || toHex(set().pruningPointHash) !== download.pruningPoint) {
        return send(stream, { case: 'unexpectedPruningPoint', value: {} });
      }
      stream.write(withFault(next.value, fault));
      this.chunksSent += 1;
      download.sent += 1;
    }
  }
}

function withFault({ bytes, utxos }: Chunk, fault: UtxoSetFault | undefined): Buffer {
  const [first, ...others] = utxos;
  if (fault?.kind === 'malformed') return encodedChunk([{ outpoint: { index: 1 } }]);
  if (fault?.kind !== 'altered' || first === undefined) return bytes;
  return encodedChunk([{ ...first, amount: first.amount + 1n }, ...others].map(utxoSetItem));
}

function send(stream: PeerStream, payload: Payload): void {
  stream.write(encoded(payload));
}

function encoded(payload: Payload): Buffer {
  return Buffer.from(toBinary(p2pProtocol.PeerMessageSchema, create(p2pProtocol.PeerMessageSchema, { payload })));
}

function encodedChunk(items: ChunkItems): Buffer {
  return encoded({ case: 'pruningPointUtxoSetChunk', value: { items } });
}

function* encodedChunks(
  utxos: Iterable<Utxo>,
  { chunkSize = 1_000, repeats = 1 }: UtxoSetServerOptions,
): Generator<Chunk, void> {
  for (const chunk of chunksOf(utxos, chunkSize)) {
    const bytes = encodedChunk(chunk.map(utxoSetItem));
    for (let sent = 0; sent < repeats; sent++) yield { bytes, utxos: chunk };
  }
}

/** The last chunk is shorter than the others, and may be empty. */
function* chunksOf(utxos: Iterable<Utxo>, chunkSize: number): Generator<Utxo[], void> {
  let chunk: Utxo[] = [];
  for (const utxo of utxos) {
    chunk.push(utxo);
    if (chunk.length < chunkSize) continue;
    yield chunk;
    chunk = [];
  }
  yield chunk;
}

/** An unspent output as peers send it. */
export function utxoSetItem({
  outpoint: { transactionId, index },
  amount,
  scriptPublicKey,
  blockDaaScore,
  isCoinbase,
  covenantId,
}: Utxo): MessageInitShape<typeof p2pProtocol.UtxoSetItemSchema> {
  return {
    outpoint: { transactionId: { bytes: transactionId }, index },
    entry: {
      amount,
      scriptPublicKey,
      blockDaaScore,
      isCoinbase,
      ...(covenantId === undefined ? {} : { covenantId: { bytes: covenantId } }),
    },
  };
}
