/**
 * A TCP proxy with faults: it refuses or resets connections, forwards nothing, or switches to
 * another server.
 */
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
  /** Connections of earlier eras are silent. */
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
      // A silent connection does not report its end either.
      client.on('close', () => passes() && upstream.destroy());
      upstream.on('close', () => passes() && client.destroy());
    });
  }

  /** Resets open connections and refuses new ones. */
  refuse(): void {
    this.#mode = 'refuse';
    this.#cut();
  }

  /** Keeps connections open and forwards nothing, like an unplugged cable. */
  swallow(): void {
    this.#mode = 'swallow';
  }

  /**
   * Silences open connections permanently and accepts new ones, like a router that lost its state.
   */
  lose(): void {
    this.#era += 1;
  }

  /** Restores the proxy. It closes silenced connections, which have lost bytes. */
  pass(): void {
    this.#mode = 'pass';
    this.#cut();
  }

  /** Closes open connections and connects new ones to another server. */
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
