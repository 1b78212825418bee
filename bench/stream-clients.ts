/**
 * Many clients of streams, in a separate process: theirs is neither the time of the programs that
 * are measured nor that of the measurement.
 */
import { HelperProcess } from './helper-process.ts';

export interface ClientOptions {
  /** URL of the API. */
  api: string;
  key: string;
  count: number;
  /** Paths of the streams. The clients take turns. */
  paths: readonly string[];
}

/** A message to the clients: what they open, a sink that the node has announced, or the end. */
export type Command = { open: ClientOptions } | { sink: string; at: number } | { end: true };

/** An event is a sink that was announced while all clients were connected, at one of them. */
export interface Received {
  events: number;
  /**
   * Milliseconds from the notification of a sink to its event at a client, or to that of a later
   * sink.
   */
  p50Ms: number;
  p99Ms: number;
}

export interface StreamClients {
  /** Must be called for each sink that the node announces. */
  notified: (sink: string) => void;
  /** Disconnects all clients. */
  end: () => Promise<Received>;
}

/** Milliseconds, comparable between processes. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Connects the clients, and resolves when each has received the beginning of its stream. */
export async function startStreamClients(options: ClientOptions): Promise<StreamClients> {
  const helper = new HelperProcess('stream-client-process.ts');
  const send = (command: Command): void => helper.send(command);
  send({ open: options });
  await helper.receive();
  return {
    notified: (sink) => send({ sink, at: now() }),
    end: async () => {
      send({ end: true });
      const received = await helper.receive<Received>();
      await helper[Symbol.asyncDispose]();
      return received;
    },
  };
}
