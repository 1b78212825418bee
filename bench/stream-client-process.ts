/** The process of `startStreamClients`. */
import { createConnection, type Socket } from 'node:net';
import { percentile } from './options.ts';
import { type ClientOptions, type Command, now, type Received } from './stream-clients.ts';

/** Connections that are opened at the same time. */
const OPENING = 100;
const ID_LINE = '\nid: ';
const ID_LENGTH = 64;

const sockets: Socket[] = [];
/** Positions of announced sinks, and the times of their notifications. */
const positions = new Map<string, number>();
const notifiedAt: number[] = [];
/**
 * Callbacks of sinks that a client has received before it learnt that the node had announced them.
 */
const early = new Map<string, (() => void)[]>();
const times: number[] = [];
/** Every client reads into the same memory: what has arrived is looked at immediately. */
const memory = Buffer.alloc(64 * 1024);

process.on('message', (command: Command) => {
  if ('open' in command) void openAll(command.open);
  else if ('sink' in command) {
    positions.set(command.sink, notifiedAt.length);
    notifiedAt.push(command.at);
    for (const show of early.get(command.sink) ?? []) show();
    early.delete(command.sink);
  } else {
    for (const socket of sockets) socket.destroy();
    const received: Received = { events: times.length, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
    process.send?.(received);
  }
});

async function openAll(options: ClientOptions): Promise<void> {
  const { count, paths } = options;
  for (let first = 0; first < count; first += OPENING) {
    const indexes = Array.from({ length: Math.min(OPENING, count - first) }, (_, index) => first + index);
    sockets.push(...(await Promise.all(indexes.map((index) => open(options, paths[index % paths.length] ?? '/')))));
  }
  process.send?.('open');
}

/** Reads nothing but ids: a client that parses would take the cores that are measured. */
async function open({ api, key }: ClientOptions, path: string): Promise<Socket> {
  const { hostname, port, host } = new URL(api);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  let isOpen = false;
  /** The number of sinks that this client has, or that preceded one that it has. */
  let shown = 0;
  const receive = (bytes: number): boolean => {
    if (!isOpen) {
      isOpen = true;
      if (memory.toString('latin1', 9, 12) === '200') resolve(socket);
      else reject(new Error(`a stream was refused: ${memory.toString('latin1', 0, Math.min(bytes, 200))}`));
    }
    const at = memory.subarray(0, bytes).lastIndexOf(ID_LINE) + ID_LINE.length;
    if (at < ID_LINE.length) return true;
    const id = memory.toString('latin1', at, at + ID_LENGTH);
    const time = now();
    const show = (): void => {
      const position = positions.get(id) ?? -1;
      for (; shown <= position; shown += 1) times.push(time - (notifiedAt[shown] ?? time));
    };
    if (positions.has(id)) show();
    else early.set(id, [...(early.get(id) ?? []), show]);
    return true;
  };
  const socket = createConnection({
    port: Number(port),
    host: hostname,
    onread: { buffer: memory, callback: receive },
  });
  socket.on('error', reject);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\n\r\n`);
  return await promise;
}
