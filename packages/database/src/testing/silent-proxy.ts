/** A proxy whose connections fall silent, as when a router has lost their state. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface SilentProxy {
  url: string;
  server: Server;
  /** How many connections have fallen silent. */
  countSilent: () => number;
  /** Closes all connections. */
  stop: () => void;
}

/**
 * Forwards to the server of a URL. A connection on which the client sends `text` forwards nothing
 * from then on, and its session at the server stays.
 */
export async function startSilentProxy(databaseUrl: string, text: string): Promise<SilentProxy> {
  const url = new URL(databaseUrl);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let silent = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isSilent = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (data) => {
      if (!isSilent && data.includes(text)) {
        isSilent = true;
        silent += 1;
      }
      if (!isSilent) upstream.write(data);
    });
    upstream.on('data', (data) => isSilent || client.write(data));
    client.on('close', () => isSilent || upstream.destroy());
    upstream.on('close', () => isSilent || client.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url.host = `${hostname}:${(server.address() as AddressInfo).port}`;
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: url.toString(), server, countSilent: () => silent, stop };
}
