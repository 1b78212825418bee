/** A connection from one node to a peer that a test can slow down, so that a synchronisation takes as long as needed, or cut. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PIECES_PER_SECOND = 20;

export class PeerLink {
  /** The node joins this address instead of the peer's. */
  readonly url: string;
  /** The rate of the peer's data. */
  bytesPerSecond = Infinity;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async open(p2pUrl: string): Promise<PeerLink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PeerLink(server, p2pUrl);
  }

  private constructor(server: Server, p2pUrl: string) {
    const { hostname, port } = new URL(p2pUrl);
    this.#server = server;
    this.url = `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (client) => {
      const peer = connect({ host: hostname, port: Number(port) });
      for (const socket of [client, peer]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => this.#sockets.delete(socket));
      }
      client.on('close', () => peer.destroy());
      peer.on('close', () => client.destroy());
      client.pipe(peer);
      void this.#forward(peer, client).catch(() => client.destroy());
    });
  }

  async #forward(from: Socket, to: Socket): Promise<void> {
    for await (const data of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < data.length; ) {
        const end = Math.min(data.length, at + Math.ceil(this.bytesPerSecond / PIECES_PER_SECOND));
        to.write(data.subarray(at, end));
        at = end;
        if (this.bytesPerSecond !== Infinity) await sleep(1_000 / PIECES_PER_SECOND);
      }
    }
  }

  /** Cuts the connections and accepts no more. */
  cut(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
