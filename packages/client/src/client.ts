/** The client: operations of the API by method and path, with the types of openapi.json. */
import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import { ApiError } from './api-error.ts';
import type { Argument, GetPath, Method, paths, PostPath, Request as ApiRequest, ResponseBody } from './operations.ts';
import { type ListingPath, paginate } from './paginate.ts';
import { type RetryOptions, retrying } from './retry.ts';
import { keyHeader } from './key-header.ts';
import { subscribe, type SubscribeOptions } from './subscribe.ts';

export interface ClientOptions {
  /** URL of the API without `/v1`. */
  baseUrl: string;
  /** Unset: requests without a key, which the API serves if its operator allows it. */
  apiKey?: string | undefined;
  /** The global one by default. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Retries after a 429 or 503; without it, these are errors at once. */
  retry?: RetryOptions | undefined;
}

export type Client = ReturnType<typeof createClient>;

export function createClient({ apiKey, fetch = globalThis.fetch, retry, ...options }: ClientOptions) {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const http: FetchClient<paths> = createFetchClient<paths>({
    baseUrl,
    headers: keyHeader(apiKey),
    fetch: retry === undefined ? fetch : retrying(fetch, retry),
  });

  const send = async (method: Method, path: string, request: object = {}): Promise<unknown> => {
    const { data, error, response } = (await http.request(method, path as never, request as never)) as {
      data?: unknown;
      error?: unknown;
      response: Response;
    };
    if (!response.ok) throw new ApiError(response, error);
    return data;
  };

  return {
    /** @throws ApiError if the status is not 200 */
    get: <Path extends GetPath>(path: Path, ...[request]: Argument<ApiRequest<'get', Path>>) =>
      send('get', path, request) as Promise<ResponseBody<'get', Path>>,

    /** @throws ApiError if the status is not 200 */
    post: <Path extends PostPath>(path: Path, ...[request]: Argument<ApiRequest<'post', Path>>) =>
      send('post', path, request) as Promise<ResponseBody<'post', Path>>,

    /**
     * Yields every item of a listing, and requests its pages as they are needed.
     * @throws ApiError if the status of a page is not 200
     */
    paginate: <Path extends ListingPath>(path: Path, ...[request]: Argument<ApiRequest<'get', Path>>) =>
      paginate<Path>((page) => send('get', path, page) as Promise<ResponseBody<'get', Path>>, request),

    /**
     * Yields what happens on the chain, to addresses or in the mempool, in steps. Reconnects and
     * continues by itself.
     * @throws StreamError if the server refuses to continue
     */
    subscribe: (options?: SubscribeOptions) => subscribe({ baseUrl, apiKey, fetch }, options),

    /**
     * openapi-fetch itself, which never throws for a status: for headers of responses, entity tags
     * and the like.
     */
    http,
  };
}
