/**
 * The p2p side of a simulated node, as far as it is needed to hand out the UTXO set of its pruning point: honestly, or with what can
 * go wrong on the way.
 */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerDuplexStream, type ServiceDefinition } from '@grpc/grpc-js';
import { type Hash, type NetworkId, toHex, type Utxo } from '@kasgres/kaspa';
import { p2pProtocol } from '@kasgres/node';
import { utxoSetItem } from './utxo-set-item.ts';

type PeerStream = ServerDuplexStream<Buffer, Buffer>;
type Payload = NonNullable<MessageInitShape<typeof p2pProtocol.PeerMessageSchema>['payload']>;

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
/** Then it waits to be asked for more. */
const CHUNKS_AT_ONCE = 99;
const PING_NONCE = 0x123456789n;

/** What happens instead of the chunk of this number, which counts from 0. */
export interface UtxoSetFault {
  kind: 'cut-off' | 'silent' | 'moved' | 'malformed';
  chunk: number;
}

export interface UtxoSetServerOptions {
  network: NetworkId;
  pruningPointHash: Hash;
  utxos: Iterable<Utxo>;
  /** How many UTXOs a chunk holds. Default: as a real node, 1000. */
  chunkSize?: number;
  /** How often each chunk is sent: a large set, for benchmarks, that costs little to make. Default 1. */
  repeats?: number;
  fault?: UtxoSetFault;
  /** It turns every peer away with these words. */
  rejectsWith?: string;
}

export class UtxoSetServer {
  readonly url: string;
  /** To all peers together. */
  chunksSent = 0;
  /** Payloads that peers sent, by their names, in order. */
  readonly received: string[] = [];
  private readonly server: Server;
  private readonly options: UtxoSetServerOptions;

  static async start(options: UtxoSetServerOptions): Promise<UtxoSetServer> {
    const server = new Server({ 'grpc.max_send_message_length': -1 });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
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
    const { network, rejectsWith } = this.options;
    const chunks = encodedChunks(this.options);
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
        // As a node does that has a new peer.
        send(stream, { case: 'ping', value: { nonce: PING_NONCE } });
        send(stream, { case: 'requestAddresses', value: {} });
      } else if (payload.case === 'requestPruningPointUtxoSet') {
        const asked = payload.value.pruningPointHash?.bytes ?? new Uint8Array();
        if (toHex(asked) === toHex(this.options.pruningPointHash)) this.sendChunks(stream, chunks);
        else send(stream, { case: 'unexpectedPruningPoint', value: {} });
      } else if (payload.case === 'requestNextPruningPointUtxoSetChunk') this.sendChunks(stream, chunks);
    });
    send(stream, { case: 'version', value: { protocolVersion: PROTOCOL_VERSION, network: `kaspa-${network}` } });
  }

  private sendChunks(stream: PeerStream, chunks: Iterator<Buffer, void>): void {
    const { fault } = this.options;
    for (let sent = 0; sent < CHUNKS_AT_ONCE; sent++) {
      const next = chunks.next();
      if (next.done === true) return send(stream, { case: 'donePruningPointUtxoSetChunks', value: {} });
      if (fault?.chunk === this.chunksSent) return fail(stream, fault.kind);
      stream.write(next.value);
      this.chunksSent += 1;
    }
  }
}

function fail(stream: PeerStream, kind: UtxoSetFault['kind']): void {
  if (kind === 'cut-off') stream.end();
  else if (kind === 'moved') send(stream, { case: 'unexpectedPruningPoint', value: {} });
  else if (kind === 'malformed') {
    send(stream, { case: 'pruningPointUtxoSetChunk', value: { items: [{ outpoint: { index: 1 } }] } });
  }
}

function send(stream: PeerStream, payload: Payload): void {
  stream.write(encoded(payload));
}

function encoded(payload: Payload): Buffer {
  return Buffer.from(toBinary(p2pProtocol.PeerMessageSchema, create(p2pProtocol.PeerMessageSchema, { payload })));
}

function* encodedChunks({ utxos, chunkSize = 1_000, repeats = 1 }: UtxoSetServerOptions): Generator<Buffer, void> {
  for (const chunk of chunksOf(utxos, chunkSize)) {
    const bytes = encoded({ case: 'pruningPointUtxoSetChunk', value: { items: chunk.map(utxoSetItem) } });
    for (let sent = 0; sent < repeats; sent++) yield bytes;
  }
}

function* chunksOf(utxos: Iterable<Utxo>, chunkSize: number): Generator<Utxo[], void> {
  let chunk: Utxo[] = [];
  for (const utxo of utxos) {
    chunk.push(utxo);
    if (chunk.length < chunkSize) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
