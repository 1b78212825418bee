/** The API of this host, and the key that its user entered. */
import { ApiError, type Client, createClient } from '@kasgres/client';
import { signal } from '@preact/signals';
import { setClock } from './clock.ts';

const STORED = 'kasgres-key';

function readStored(): string | undefined {
  try {
    return sessionStorage.getItem(STORED) ?? undefined;
  } catch {
    // Storage is disabled.
    return undefined;
  }
}

/** Kept for this tab only. Undefined: requests without a key. */
export const apiKey = signal(readStored());

/** Whether the API refused a request for want of a valid key. */
export const needsKey = signal(false);

async function fetchTimed(sent: Request): Promise<Response> {
  const response = await fetch(sent);
  setClock(response.headers.get('date'));
  return response;
}

const clientFor = (key: string | undefined): Client =>
  createClient({
    baseUrl: location.origin,
    apiKey: key,
    fetch: fetchTimed,
    retry: { attempts: 3, maxWaitSeconds: 5 },
  });

let client = clientFor(apiKey.value);

/** Calls the API. @throws ApiError; after a 401, the page asks for a key */
export async function request<Data>(call: (client: Client) => Promise<Data>): Promise<Data> {
  const current = client;
  try {
    return await call(current);
  } catch (error) {
    // Another key may have been entered meanwhile.
    if (error instanceof ApiError && error.status === 401 && client === current) needsKey.value = true;
    throw explain(error);
  }
}

/** Browsers throw a TypeError without a useful message if there is no response. */
const explain = (error: unknown): unknown =>
  error instanceof TypeError ? new Error('The server does not respond.', { cause: error }) : error;

/**
 * Returns what the API said, with the fields that it refused, and the request that its log
 * explains.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  // A message that is no sentence continues the name of the field.
  const details = error.details.map(({ path, message }) => (/^[a-z]/.test(message) ? `${path} ${message}` : message));
  const said = [...new Set([error.message, ...details])].join(': ');
  const isExplained = error.status < 500 || error.requestId === undefined || said.includes(error.requestId);
  return isExplained ? said : `${said} (request ${error.requestId})`;
}

/** Uses a key if the API accepts it. @throws ApiError otherwise */
export async function useKey(key: string): Promise<void> {
  const withKey = clientFor(key);
  await withKey.get('/v1/rpc/getCurrentNetwork').catch((error: unknown) => Promise.reject(explain(error)));
  try {
    sessionStorage.setItem(STORED, key);
  } catch {
    // The key is kept until the page is reloaded.
  }
  client = withKey;
  apiKey.value = key;
  needsKey.value = false;
}

export function forgetKey(): void {
  try {
    sessionStorage.removeItem(STORED);
  } catch {
    // Nothing was stored.
  }
  client = clientFor(undefined);
  apiKey.value = undefined;
  // Maybe the API serves requests without one.
  needsKey.value = false;
}
