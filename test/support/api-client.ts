/**
 * The client of the HTTP API in tests and benchmarks. It can check each response against
 * openapi.json, and checks each message of a stream.
 */
import type { z } from 'zod';
import { type ClientOptions, createClient, type StreamStep, type SubscribeOptions } from './client.ts';
import { type ApiResponse, faultsOf, findTemplate, type Method } from './openapi.ts';
import { checkSteps, EventStream, openWebSocket } from './streams.ts';

export interface ApiRequest {
  method?: string;
  /** They override the client's key and content type. */
  headers?: Record<string, string>;
  /** Sent as JSON unless it is a string. */
  body?: unknown;
  /** Parses integers above 2^53 as bigint. */
  exact?: boolean;
}

export type Parameters = Record<string, string | number>;

export interface ApiClientOptions {
  /** Throws for each response that differs from openapi.json. */
  checked?: boolean;
}

export class ApiClient {
  readonly url: string;
  readonly key: string;
  readonly #checked: boolean;

  constructor(url: string, key: string, { checked = false }: ApiClientOptions = {}) {
    this.url = url;
    this.key = key;
    this.#checked = checked;
  }

  /** Sends a request, which may be malformed, with the client's key. */
  async request(path: string, request: ApiRequest = {}): Promise<ApiResponse> {
    return this.#send(path, { ...request, headers: { 'x-api-key': this.key, ...request.headers } });
  }

  async requestWithoutKey(path: string): Promise<ApiResponse> {
    return this.#send(path, {});
  }

  get(path: string): Promise<ApiResponse> {
    return this.request(path);
  }

  post(path: string, body: unknown): Promise<ApiResponse> {
    return this.request(path, { body });
  }

  /**
   * Returns the body of a GET, or of a POST if there is a body to send.
   * @throws if the status is not 200 or the schema does not match
   */
  async read<T>(path: string, schema: z.ZodType<T>, body?: unknown): Promise<T> {
    const { status, text, json } = await this.request(path, { body });
    if (status !== 200) throw new Error(`${path} responded ${status}: ${text}`);
    return schema.parse(json);
  }

  /**
   * Checks the response against openapi.json.
   * @param template a path of openapi.json; `values` fill its braces
   */
  async getChecked(template: string, values: Parameters = {}, query: Parameters = {}): Promise<ApiResponse> {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const url = parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
    const response = await this.request(url);
    check('get', template, url, response);
    return response;
  }

  /**
   * Checks the response against openapi.json.
   * @param path a path of openapi.json without parameters
   */
  async postChecked(path: string, body: unknown): Promise<ApiResponse> {
    const response = await this.request(path, { body });
    check('post', path, path, response);
    return response;
  }

  /** Follows the stream with the published client. */
  subscribe(options: SubscribeOptions, more: Pick<ClientOptions, 'fetch'> = {}): AsyncGenerator<StreamStep> {
    return checkSteps(createClient({ baseUrl: this.url, apiKey: this.key, ...more }).subscribe(options));
  }

  /** @param headers replace the key */
  async openStream(path: string, headers: Record<string, string> = { 'x-api-key': this.key }) {
    const controller = new AbortController();
    const response = await fetch(`${this.url}${path}`, { headers, signal: controller.signal });
    return { response, stream: new EventStream(response), close: () => controller.abort() };
  }

  openWebSocket() {
    return openWebSocket(this.url, { 'x-api-key': this.key });
  }

  async #send(path: string, { method, headers = {}, body, exact = false }: ApiRequest): Promise<ApiResponse> {
    const usedMethod = method ?? (body === undefined ? 'GET' : 'POST');
    const response = await fetch(`${this.url}${path}`, {
      method: usedMethod,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers: received } = response;
    if (this.#checked) {
      const checkedMethod = usedMethod.toLowerCase() as Method;
      const template = findTemplate(checkedMethod, path);
      if (template === undefined) throw new Error(`openapi.json has no ${checkedMethod} ${path}`);
      check(checkedMethod, template, path, { status, headers: received, text, json: parseBody(text) });
    }
    const isJson = received.get('content-type')?.startsWith('application/json') === true;
    return { status, headers: received, text, json: isJson ? parseBody(text, exact) : {} };
  }
}

function check(method: Method, template: string, url: string, response: ApiResponse): void {
  const faults = faultsOf(method, template, response);
  if (faults.length > 0) {
    throw new Error(`${method} ${url}: ${faults.join('; ')}: ${response.text.slice(0, 500)}`);
  }
}

function parseBody(text: string, exact = false): Record<string, unknown> {
  return (text === '' ? {} : JSON.parse(text, exact ? reviveExactly : undefined)) as Record<string, unknown>;
}

function reviveExactly(_key: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? '')
    ? BigInt(context?.source ?? 0)
    : value;
}
