/** A server that passes connections on to another, until a test makes it fail: by refusing, by swallowing all that comes, by leading elsewhere. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Mode = 'pass' | 'refuse' | 'swallow';

interface Target {
  host: string;
  port: number;
}

export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mode: Mode = 'pass';
  #target: Target;
  /** Connections of an earlier one are lost. */
  #era = 0;

  static async start(target: Target): Promise<TcpProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, target);
  }

  private constructor(server: Server, target: Target) {
    this.#server = server;
    this.#target = target;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => {
      this.#keep(client);
      if (this.#mode === 'refuse') client.destroy();
      if (this.#mode !== 'pass') return;
      const upstream = this.#keep(connect(this.#target));
      const era = this.#era;
      const passes = (): boolean => this.#mode === 'pass' && era === this.#era;
      client.on('data', (data) => passes() && upstream.write(data));
      upstream.on('data', (data) => passes() && client.write(data));
      // Who is lost is not heard to leave either.
      client.on('close', () => passes() && upstream.destroy());
      upstream.on('close', () => passes() && client.destroy());
    });
  }

  /** Connections that are open are cut, new ones too. */
  refuse(): void {
    this.#mode = 'refuse';
    this.#cut();
  }

  /** Connections stay open, and nothing comes through: a cable that was pulled. */
  swallow(): void {
    this.#mode = 'swallow';
  }

  /** Connections that are open fall silent permanently, new ones come through: a router that forgot about them. */
  lose(): void {
    this.#era += 1;
  }

  /** As in the beginning; connections that were swallowed have lost bytes, and are cut. */
  pass(): void {
    this.#mode = 'pass';
    this.#cut();
  }

  /** The address leads elsewhere: connections that are open are cut, new ones reach the other server. */
  switchTo(target: Target): void {
    this.#target = target;
    this.pass();
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
