/**
 * Streams as tests receive them: each message is checked against openapi.json, also those that a
 * test does not look at.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { StreamStep } from './client.ts';
import { requireSchema } from './openapi.ts';

const SERVER_SENT_EVENT = /^event: (\w+)\n(?:id: (\w+)\n)?data: (.*)$/;

/** @throws if a message differs from openapi.json */
export async function* checkSteps(steps: AsyncIterable<StreamStep>): AsyncGenerator<StreamStep> {
  for await (const step of steps) {
    for (const event of step.events) requireSchema('StreamMessage', event);
    yield step;
  }
}

/** The messages of a stream as text. */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<string> | undefined;
  /** Messages that were checked. */
  #text = '';
  #incomplete = '';

  constructor({ body }: Response) {
    this.#reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * Reads until the messages match, and returns them.
   * @throws if one differs from openapi.json, or the stream ends before
   */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (!(await this.#read())) throw new Error(`the stream ended: ${this.#text}`);
    }
    return this.#text;
  }

  /**
   * Reads until the stream ends, and returns all messages.
   * @throws if one differs from openapi.json
   */
  async ended(): Promise<string> {
    while (await this.#read());
    return this.#text;
  }

  async #read(): Promise<boolean> {
    const part = await this.#reader?.read();
    if (part?.done !== false) return false;
    const messages = (this.#incomplete + part.value).split('\n\n');
    this.#incomplete = messages.pop() ?? '';
    for (const message of messages) {
      if (this.#text !== '' || !message.startsWith('retry: ')) requireSchema('StreamMessage', toMessage(message));
      this.#text += `${message}\n\n`;
    }
    return true;
  }
}

function toMessage(text: string): object {
  const [match, event, id, data] = SERVER_SENT_EVENT.exec(text) ?? [];
  if (match === undefined) throw new Error(`not a message: ${text}`);
  return { event, ...(id !== undefined && { id }), data: JSON.parse(data ?? '') as unknown };
}

export interface SocketMessage {
  event: string;
  id?: string;
  data: Record<string, unknown>;
}

/**
 * Opens a WebSocket of the API. A message that differs from openapi.json is an uncaught exception,
 * which fails the run.
 */
export async function openWebSocket(
  url: string,
  headers: Record<string, string>,
): Promise<{ socket: WebSocket; messages: SocketMessage[] }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, { headers });
  const messages: SocketMessage[] = [];
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(String(data)) as SocketMessage;
    requireSchema('WebSocketMessage', message);
    messages.push(message);
  });
  await once(socket, 'open');
  return { socket, messages };
}
