/** A server that passes connections on to another, until a test makes it fail: by refusing, or by swallowing all that comes. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Mode = 'pass' | 'refuse' | 'swallow';

export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mode: Mode = 'pass';

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, target);
  }

  private constructor(server: Server, target: { host: string; port: number }) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => {
      this.#keep(client);
      if (this.#mode === 'refuse') client.destroy();
      if (this.#mode !== 'pass') return;
      const upstream = this.#keep(connect(target));
      client.on('data', (data) => this.#mode === 'pass' && upstream.write(data));
      upstream.on('data', (data) => this.#mode === 'pass' && client.write(data));
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
  }

  /** Connections that are open are cut, new ones too. */
  refuse(): void {
    this.#mode = 'refuse';
    this.#cut();
  }

  /** Connections stay open, and nothing comes through any more: a cable that was pulled. */
  swallow(): void {
    this.#mode = 'swallow';
  }

  /** As in the beginning; connections that were swallowed have lost bytes, and are cut. */
  pass(): void {
    this.#mode = 'pass';
    this.#cut();
  }

  stop(): void {
    this.#server.close();
    this.#cut();
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
