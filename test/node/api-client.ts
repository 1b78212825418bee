/** Requests to the API under test. */
export interface Response {
  status: number;
  body: Record<string, unknown>;
}

/** As it came. */
export interface Received extends Response {
  headers: Headers;
}

export class ApiClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  get(path: string): Promise<Response> {
    return this.#request(path, { method: 'GET', headers: { 'x-api-key': this.#key } }, JSON.parse);
  }

  post(path: string, body: object): Promise<Response> {
    return this.#request(path, this.#posting(body), JSON.parse);
  }

  /** The same, with integers beyond 2^53 as bigint. */
  postExactly(path: string, body: object): Promise<Response> {
    return this.#request(path, this.#posting(body), (text) => JSON.parse(text, readExactly));
  }

  /** Texts as they are, both ways: no digit is lost. */
  async postText(path: string, body: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`${this.#url}${path}`, { ...this.#posting({}), body });
    return { status: response.status, text: await response.text() };
  }

  #posting(body: object): RequestInit {
    return {
      method: 'POST',
      headers: { 'x-api-key': this.#key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
  }

  /** Sees every answer before whoever asked does. */
  protected inspect(_method: 'get' | 'post', _path: string, _answer: Received): void {}

  async #request(path: string, init: RequestInit, parse: (text: string) => unknown): Promise<Response> {
    const response = await fetch(`${this.#url}${path}`, init);
    const { status, headers } = response;
    const answer: Response = { status, body: parse(await response.text()) as Record<string, unknown> };
    this.inspect(init.method === 'GET' ? 'get' : 'post', path, { ...answer, headers });
    return answer;
  }
}

function readExactly(_key: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? '')
    ? BigInt(context?.source ?? 0)
    : value;
}
