/**
 * The way from one node to a peer, which a test can make slow, so that a synchronisation takes as long as the test needs, or cut.
 * The node joins `url` instead of the peer itself.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A piece of what comes is passed on this often. */
const PIECES_PER_SECOND = 20;

export class PeerLink {
  readonly url: string;
  /** From the peer; Infinity is as fast as it comes. */
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
      void this.#passOn(peer, client).catch(() => client.destroy());
    });
  }

  async #passOn(from: Socket, to: Socket): Promise<void> {
    for await (const data of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < data.length; ) {
        const end = Math.min(data.length, at + Math.ceil(this.bytesPerSecond / PIECES_PER_SECOND));
        to.write(data.subarray(at, end));
        at = end;
        if (this.bytesPerSecond !== Infinity) await sleep(1_000 / PIECES_PER_SECOND);
      }
    }
  }

  /** Connections are cut, and no new ones taken. */
  cut(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
