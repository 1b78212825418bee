/**
 * A receiver of webhooks that can misbehave: it checks every signature, and every body against
 * openapi.json, and keeps what it has confirmed.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Schema } from './client.ts';
import { requireSchema } from './openapi.ts';
import { freePort } from './programs.ts';

export type Received = { id: string } & Pick<Schema<'WebhookMessage'>, 'type'> & Schema<'WebhookMessage'>['data'];

/**
 * How the receiver treats the next request. `lose`: it processes the delivery, but the sender does
 * not learn it.
 */
export type Behaviour = 'confirm' | 'refuse' | 'hang' | 'lose' | { status: number; headers?: Record<string, string> };

export class WebhookReceiver {
  secret = '';
  /** Deliveries in the order of their first processing. */
  readonly received: Received[] = [];
  readonly faults: string[] = [];
  requests = 0;
  lastHeaders: IncomingMessage['headers'] = {};
  behave: () => Behaviour = () => 'confirm';
  /** Called with each delivery when it is processed. */
  onReceived: (delivery: Received) => void = () => undefined;
  readonly #bodies = new Map<string, string>();
  #server: Server | undefined;
  #port: number | undefined;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook?from=kasgres`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#onRequest(request, response));
    this.#port ??= await freePort();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  /** Keeps its port for the next start. */
  async stop(): Promise<void> {
    this.#server?.close();
    this.#server?.closeAllConnections();
    this.#server = undefined;
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    this.lastHeaders = request.headers;
    const body = await text(request);
    const id = String(request.headers['webhook-id']);
    this.#check(request, id, body);
    const behaviour = this.behave();
    if (behaviour === 'hang') return;
    if (behaviour === 'refuse') return void response.writeHead(500).end();
    if (typeof behaviour === 'object') return void response.writeHead(behaviour.status, behaviour.headers).end();
    // At least once: the same id again is the same delivery.
    if (!this.#bodies.has(id)) {
      const { type, data } = JSON.parse(body) as Schema<'WebhookMessage'>;
      const delivery = { id, type, ...data };
      this.received.push(delivery);
      this.onReceived(delivery);
    }
    this.#bodies.set(id, body);
    if (behaviour === 'lose') request.socket.destroy();
    else response.writeHead(204).end();
  }

  #check({ headers }: IncomingMessage, id: string, body: string): void {
    const timestamp = String(headers['webhook-timestamp']);
    const secret = Buffer.from(this.secret.replace('whsec_', ''), 'base64');
    const expected = `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    if (!String(headers['webhook-signature']).split(' ').includes(expected))
      this.faults.push(`${id} has no valid signature`);
    if (Math.abs(Number(timestamp) - Date.now() / 1000) > 60) this.faults.push(`${id} has the time ${timestamp}`);
    try {
      requireSchema('WebhookMessage', JSON.parse(body));
    } catch (error) {
      this.faults.push(String(error));
    }
    const before = this.#bodies.get(id);
    if (before !== undefined && before !== body) this.faults.push(`${id} came with another body`);
  }
}
