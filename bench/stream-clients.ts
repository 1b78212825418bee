/**
 * Many clients of streams, in a separate process: theirs is neither the time of the programs that
 * are measured nor that of the measurement.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { killAtExit, stopProcess } from '../test/support/programs.ts';

const PROGRAM = new URL('stream-client-process.ts', import.meta.url);

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
  processId: number;
  /** Must be called for each sink that the node announces. */
  notified: (sink: string) => void;
  /** Disconnects all clients. */
  end: () => Promise<Received>;
}

/** Milliseconds, comparable between processes. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Connects the clients, and resolves when each has received the beginning of its stream. */
export async function startStreamClients(options: ClientOptions): Promise<StreamClients> {
  const child = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  killAtExit(child);
  const send = (command: Command): void => void child.send(command);
  const reply = async <T>(): Promise<T> => {
    const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [T];
    if (child.exitCode !== null) throw new Error(`the clients of streams exited with code ${child.exitCode}`);
    return message;
  };
  send({ open: options });
  await reply();
  return {
    processId: child.pid ?? 0,
    notified: (sink) => send({ sink, at: now() }),
    end: async () => {
      send({ end: true });
      const received = await reply<Received>();
      await stopProcess(child, 'SIGTERM');
      return received;
    },
  };
}
