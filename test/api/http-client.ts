/** Requests as they are, malformed ones too, and all of what comes back. */
export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
  /** Of an answer with a body. */
  json: Record<string, unknown>;
}

export interface HttpRequest {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is text. */
  body?: unknown;
}

export class HttpClient {
  readonly url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  /** With the key, unless the headers have one of their own. */
  async request(path: string, { method, headers = {}, body }: HttpRequest = {}): Promise<HttpResponse> {
    const response = await fetch(`${this.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        'x-api-key': this.key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
  }

  /** Without a key. */
  async requestWithoutKey(path: string): Promise<HttpResponse> {
    const response = await fetch(`${this.url}${path}`);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: JSON.parse(text) as Record<string, unknown>,
    };
  }
}
