import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';

export type MessageStream = ServerDuplexStream<Buffer, Buffer>;

const asBytes = (bytes: Buffer): Buffer => bytes;

/**
 * Serves the bidirectional stream of kaspad's RPC or p2p service. Messages stay bytes for the gRPC
 * library, so that responses of any size pass and nothing is compressed.
 */
export async function serveMessageStreams(
  service: 'RPC' | 'P2P',
  { host = '127.0.0.1', port = 0 }: { host?: string | undefined; port?: number | undefined },
  serve: (stream: MessageStream) => void,
): Promise<{ server: Server; address: string }> {
  const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  const messageStream = {
    path: `/protowire.${service}/MessageStream`,
    requestStream: true,
    responseStream: true,
    requestSerialize: asBytes,
    requestDeserialize: asBytes,
    responseSerialize: asBytes,
    responseDeserialize: asBytes,
  };
  server.addService({ messageStream }, { messageStream: serve });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { server, address: `${host}:${bound}` };
}
