/**
 * A TCP proxy with faults: it refuses or resets connections, forwards nothing, or switches to
 * another server.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Mode = 'pass' | 'refuse' | 'swallow';

export class TcpProxy {
  /** The URL of the server, through the proxy. */
  readonly url: string;
  readonly server: Server;
  /** How many connections have fallen silent because of what their client sent. */
  silent = 0;
  readonly #sockets = new Set<Socket>();
  #mode: Mode = 'pass';
  #target: URL;
  /** Connections of earlier eras are silent. */
  #era = 0;

  /**
   * @param url of the server
   * @param silentAfter a text. A connection on which the client sends it is silent from then on, as
   * when a router has lost its state, and its session at the server stays
   */
  static async start(url: string, silentAfter?: string): Promise<TcpProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, new URL(url), silentAfter);
  }

  private constructor(server: Server, target: URL, silentAfter: string | undefined) {
    this.server = server;
    this.#target = target;
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
    server.on('connection', (client) => {
      this.#keep(client);
      if (this.#mode === 'refuse') client.destroy();
      if (this.#mode !== 'pass') return;
      const { hostname, port } = this.#target;
      const upstream = this.#keep(connect(Number(port), hostname));
      const era = this.#era;
      let isSilent = false;
      const passes = (): boolean => this.#mode === 'pass' && era === this.#era && !isSilent;
      client.on('data', (data) => {
        if (silentAfter !== undefined && !isSilent && data.includes(silentAfter)) {
          isSilent = true;
          this.silent += 1;
        }
        if (passes()) upstream.write(data);
      });
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
  switchTo(url: string): void {
    this.#target = new URL(url);
    this.pass();
  }

  stop(): void {
    this.server.close();
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
