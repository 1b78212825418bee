/**
 * A minimal HTTP client: clients of HTTP use more CPU than the API does for a small response, and
 * share its cores.
 */
import { createConnection, type Socket } from 'node:net';

export interface Request {
  method?: 'POST';
  path: string;
  body?: object;
}

export interface Response {
  status: number;
  /** The status line and the headers. */
  head: string;
}

/** Returns the bytes of a request, which can be sent any number of times. */
export function encodeRequest(url: string, key: string, { method, path, body }: Request): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method ?? 'GET'} ${path} HTTP/1.1`, `host: ${new URL(url).host}`, `x-api-key: ${key}`];
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

/**
 * A connection that is kept alive, for one request at a time. Bodies of responses are discarded.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<Response> | undefined;
  #response: Response | undefined;
  #missing = 0;
  #head = '';
  #failure: Error | undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = createConnection(Number(port), hostname).setNoDelay();
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')));
    this.#socket.on('data', (data) => this.#read(data));
  }

  /** @throws Error if the connection is lost, or a response has no content-length */
  async send(request: Buffer): Promise<Response> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#waiting = Promise.withResolvers();
    this.#socket.write(request);
    return await this.#waiting.promise;
  }

  close(): void {
    this.#socket.end();
  }

  #read(data: Buffer): void {
    if (this.#response === undefined) {
      this.#head += data.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = this.#head.slice(0, end);
      const [, length] = /^content-length: (\d+)$/im.exec(head) ?? [];
      if (length === undefined) {
        this.#fail(new Error(`a response has no content-length:\n${head}`));
        return;
      }
      this.#response = { status: Number(head.slice(9, 12)), head };
      this.#missing = Number(length) - (this.#head.length - end - 4);
      this.#head = '';
    } else {
      this.#missing -= data.length;
    }
    if (this.#missing > 0) return;
    this.#waiting?.resolve(this.#response);
    this.#waiting = undefined;
    this.#response = undefined;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
    this.#socket.destroy();
  }
}
