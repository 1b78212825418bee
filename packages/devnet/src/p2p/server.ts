/**
 * The p2p server of a simulated node, which serves the UTXO set of its pruning point, with faults
 * if they are planned.
 */
import { setTimeout } from 'node:timers/promises';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { Server } from '@grpc/grpc-js';
import { type Hash, type NetworkId, toHex, type Utxo } from '@kasgres/kaspa';
import { p2pProtocol } from '@kasgres/node';
import { type MessageStream, serveMessageStreams } from '../rpc/message-stream-server.ts';

type Payload = NonNullable<MessageInitShape<typeof p2pProtocol.PeerMessageSchema>['payload']>;
type ChunkItems = NonNullable<MessageInitShape<typeof p2pProtocol.UtxoSetChunkSchema>['items']>;

interface Download {
  pruningPoint: string;
  chunks: Iterator<Chunk, void>;
  sent: number;
}

interface Chunk {
  bytes: Buffer;
  utxos: readonly Utxo[];
}

const PROTOCOL_VERSION = 11;
const CHUNKS_AT_ONCE = 99;
const PING_NONCE = 0x123456789n;

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

/**
 * Returns the fault of a chunk, numbered from 0 in each download; `undefined`: it is sent as it is.
 */
export type UtxoSetFaultPlan = (chunk: number) => UtxoSetFault | undefined;

export interface PruningPointSet {
  pruningPointHash: Hash;
  utxos: Iterable<Utxo>;
}

export interface UtxoSetServerOptions {
  network: NetworkId;
  /**
   * Returns the current set. Called before each chunk: a download ends when the pruning point
   * moves.
   */
  set: () => PruningPointSet;
  /** Default: a free one. */
  port?: number;
  /** Default: 1000, as a real node. */
  chunkSize?: number;
  /** How often each chunk is sent, to make a large set at little cost. Default 1. */
  repeats?: number;
  faults?: UtxoSetFaultPlan;
  /** The reason with which every peer is rejected. */
  rejectsWith?: string;
}

export class UtxoSetServer {
  readonly url: string;
  /** To all peers. */
  chunksSent = 0;
  /** The names of the payloads from all peers. */
  readonly received: string[] = [];
  private readonly server: Server;
  private readonly options: UtxoSetServerOptions;

  static async start(options: UtxoSetServerOptions): Promise<UtxoSetServer> {
    const { server, address } = await serveMessageStreams('P2P', options, (stream) => started.serve(stream));
    const started = new UtxoSetServer(server, `grpc://${address}`, options);
    return started;
  }

  private constructor(server: Server, url: string, options: UtxoSetServerOptions) {
    this.server = server;
    this.url = url;
    this.options = options;
  }

  close(): void {
    this.server.forceShutdown();
  }

  private serve(stream: MessageStream): void {
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

  private async sendChunks(stream: MessageStream, download: Download): Promise<void> {
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

function send(stream: MessageStream, payload: Payload): void {
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
  const send = function* (chunk: Utxo[]): Generator<Chunk, void> {
    const bytes = encodedChunk(chunk.map(utxoSetItem));
    for (let sent = 0; sent < repeats; sent++) yield { bytes, utxos: chunk };
  };
  let chunk: Utxo[] = [];
  for (const utxo of utxos) {
    chunk.push(utxo);
    if (chunk.length < chunkSize) continue;
    yield* send(chunk);
    chunk = [];
  }
  // The last chunk is shorter than the others, and may be empty.
  yield* send(chunk);
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
