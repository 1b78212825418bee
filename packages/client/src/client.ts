/** What users call: the operations of the API by method and path, with the types that openapi.json gives them. */
import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import { ApiError } from './api-error.ts';
import type { Answer, Argument, GetPath, Method, paths, PostPath, Request as ApiRequest } from './operations.ts';
import { type Item, type ListingPath, type ListingRequest, paginate } from './paginate.ts';
import { type RetryOptions, retrying } from './retry.ts';

export interface ClientOptions {
  /** Where the API answers, without `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** Instead of the global one. */
  fetch?: (request: Request) => Promise<Response>;
  /** Ask again when the API says so; without it a 429 or 503 is an error at once. */
  retry?: RetryOptions;
}

export interface Client {
  /** @throws ApiError when the answer is no 200 */
  get<Path extends GetPath>(path: Path, ...request: Argument<ApiRequest<'get', Path>>): Promise<Answer<'get', Path>>;

  /** @throws ApiError when the answer is no 200 */
  post<Path extends PostPath>(
    path: Path,
    ...request: Argument<ApiRequest<'post', Path>>
  ): Promise<Answer<'post', Path>>;

  /**
   * Every item of a listing, from the newest on, asked for page by page as they are used.
   * @throws ApiError when the answer to a page is no 200
   */
  paginate<Path extends ListingPath>(
    path: Path,
    ...request: Argument<ListingRequest<Path>>
  ): AsyncGenerator<Item<Path>, void, undefined>;

  /** openapi-fetch itself, which never throws for a status: for answers' headers, entity tags and the like. */
  http: FetchClient<paths>;
}

export function createClient({ baseUrl, apiKey, fetch = globalThis.fetch, retry }: ClientOptions): Client {
  const http = createFetchClient<paths>({
    baseUrl,
    headers: { 'x-api-key': apiKey },
    fetch: retry === undefined ? fetch : retrying(fetch, retry),
  });

  const ask = async (method: Method, path: string, request: object = {}): Promise<unknown> => {
    const { data, error, response } = (await http.request(method, path as never, request as never)) as {
      data?: unknown;
      error?: unknown;
      response: Response;
    };
    if (!response.ok) throw new ApiError(response, error);
    return data;
  };

  return {
    get: (path, ...[request]) => ask('get', path, request) as never,
    post: (path, ...[request]) => ask('post', path, request) as never,
    paginate: (path, ...[request]) => paginate((page) => ask('get', path, page) as never, (request ?? {}) as never),
    http,
  };
}
