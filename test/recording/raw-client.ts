/** Sends recorded requests over a stream, as they are, and gives back the responses. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { protocol } from '@kasgres/node';

const same = (bytes: Buffer): Buffer => bytes;

export class RawClient {
  private readonly client: Client;
  private readonly stream;
  private lastId = 0n;
  private readonly waiting = new Map<bigint, (response: protocol.KaspadResponse) => void>();

  constructor(url: string) {
    this.client = new Client(url.replace('grpc://', ''), credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
    });
    this.stream = this.client.makeBidiStreamRequest('/protowire.RPC/MessageStream', same, same);
    this.stream.on('data', (bytes: Buffer) => {
      const response = fromBinary(protocol.KaspadResponseSchema, bytes);
      this.waiting.get(response.id)?.(response);
      this.waiting.delete(response.id);
    });
    this.stream.on('error', () => {
      // The stream ends with the test.
    });
  }

  ask(request: protocol.KaspadRequest): Promise<protocol.KaspadResponse> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.stream.write(Buffer.from(toBinary(protocol.KaspadRequestSchema, { ...request, id })));
    });
  }

  close(): void {
    this.stream.cancel();
    this.client.close();
  }
}
