/**
 * The gRPC server of a simulated or replayed node. Responses have the order of the requests of a
 * stream.
 */
import { setTimeout } from 'node:timers/promises';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Server } from '@grpc/grpc-js';
import { type AnyOp, type Op, protocol } from '@kasgres/node';
import { NodeResponseError, type NodeState } from '../dag/node-state.ts';
import {
  isNotifyOp,
  type NotifyOp,
  operationOf,
  type ReceivedRequest,
  type RequestPayload,
  type ResponseInit,
  responsePayload,
  type ResponsePayload,
} from './calls.ts';
import { type MessageStream, serveMessageStreams } from './message-stream-server.ts';
import { responses } from './responses.ts';
import { Subscriptions } from './subscriptions.ts';

export interface NodeServerOptions {
  state: NodeState;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default: a free one. */
  port?: number;
  faults?: FaultPlan;
  /** Called on internal errors. The client gets an error response. */
  onError?: (error: unknown) => void;
}

export class NodeServer {
  readonly url: string;
  private readonly server: Server;
  private readonly address: string;
  private readonly options: NodeServerOptions;
  /** The last response by the request's bytes without the id. Filled only if faults are planned. */
  private readonly lastResponses = new Map<string, ResponsePayload>();

  static async start(options: NodeServerOptions): Promise<NodeServer> {
    const { server, address } = await serveMessageStreams('RPC', options, (stream) => started.serve(stream));
    const started = new NodeServer(server, address, options);
    return started;
  }

  private constructor(server: Server, address: string, options: NodeServerOptions) {
    this.server = server;
    this.address = address;
    this.url = `grpc://${address}`;
    this.options = options;
  }

  /** Closes every connection. New ones are accepted. */
  dropConnections(): void {
    this.server.drain(this.address, 0);
  }

  close(): void {
    this.server.forceShutdown();
  }

  private serve(stream: MessageStream): void {
    const { state } = this.options;
    const subscriptions = new Subscriptions();
    const stopListening = state.onEvent((event) => {
      for (const payload of subscriptions.notifications(event, state)) stream.write(encoded(0n, payload));
    });
    let served = Promise.resolve();
    stream.on('data', (bytes: Buffer) => {
      served = served
        .then(() => this.respond(stream, subscriptions, bytes))
        .catch((error: unknown) => {
          this.options.onError?.(error);
          stream.end();
        });
    });
    stream.on('end', () => stream.end());
    stream.on('error', stopListening);
    stream.on('close', stopListening);
  }

  private async respond(stream: MessageStream, subscriptions: Subscriptions, bytes: Buffer): Promise<void> {
    const request = fromBinary(protocol.KaspadRequestSchema, bytes);
    const op = operationOf(request.payload);
    if (op === undefined) {
      // kaspad ends the stream after an empty or unknown request.
      stream.end();
      return;
    }
    const fault = this.options.faults?.(op);
    if (fault?.kind === 'drop') {
      this.dropConnections();
      return;
    }
    if (fault?.kind === 'delay') await setTimeout(fault.ms);
    if (isNotifyOp(op)) subscriptions.change(op, request.payload.value as ReceivedRequest<NotifyOp>);
    stream.write(encoded(request.id, this.responseTo(op, request, fault), fault));
  }

  private responseTo(op: AnyOp, request: protocol.KaspadRequest, fault: Fault | undefined): ResponsePayload {
    if (fault?.kind === 'error') return errorPayload(op, fault.message);
    if (this.options.faults === undefined) return this.faultlessResponse(op, request.payload);
    const requestKey = Buffer.from(toBinary(protocol.KaspadRequestSchema, { ...request, id: 0n })).toString('latin1');
    const stale = fault?.kind === 'stale' ? this.lastResponses.get(requestKey) : undefined;
    const payload = stale ?? this.faultlessResponse(op, request.payload);
    this.lastResponses.set(requestKey, payload);
    return payload;
  }

  private faultlessResponse(op: AnyOp, { value }: RequestPayload): ResponsePayload {
    if (isNotifyOp(op)) return responsePayload(op, {});
    // The table pairs each operation with its own request; the union of all pairs is more than the
    // compiler follows.
    const respond = responses[op] as (state: NodeState, request: RequestPayload['value']) => ResponseInit<Op>;
    try {
      return responsePayload(op, respond(this.options.state, value));
    } catch (error) {
      if (error instanceof NodeResponseError) return errorPayload(op, error.message);
      this.options.onError?.(error);
      return errorPayload(op, `the simulated node failed: ${String(error)}`);
    }
  }
}

function encoded(id: bigint, payload: ResponsePayload, fault?: Fault): Buffer {
  const response = create(protocol.KaspadResponseSchema, { id, payload });
  if (fault?.kind === 'header-only') removeBodies(response);
  const bytes = Buffer.from(toBinary(protocol.KaspadResponseSchema, response));
  return fault?.kind === 'cut' ? bytes.subarray(0, bytes.length / 2) : bytes;
}

function errorPayload(op: AnyOp, message: string): ResponsePayload {
  return responsePayload(op, { error: { message } });
}

export type Fault =
  /** Every connection is closed instead of a response. */
  | { kind: 'drop' }
  /** The response is made and sent later. */
  | { kind: 'delay'; ms: number }
  /** Only the first half of the response's bytes is sent. */
  | { kind: 'cut' }
  | { kind: 'error'; message: string }
  /** Blocks have headers only, as on a node that prunes or syncs. */
  | { kind: 'header-only' }
  /** The previous response to the same request, if there was one. */
  | { kind: 'stale' };

/** Called once for each request, in the order of arrival; `undefined`: no fault. */
export type FaultPlan = (op: AnyOp) => Fault | undefined;

function removeBodies({ payload }: protocol.KaspadResponse): void {
  if (payload.case === 'getBlockResponse' && payload.value.block !== undefined) removeBody(payload.value.block);
  if (payload.case === 'getBlocksResponse') payload.value.blocks.forEach(removeBody);
}

function removeBody(block: protocol.Block): void {
  block.transactions = [];
  if (block.verboseData === undefined) return;
  block.verboseData.transactionIds = [];
  block.verboseData.isHeaderOnly = true;
}
