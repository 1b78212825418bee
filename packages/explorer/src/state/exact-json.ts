/**
 * Reads responses with JSON that somebody wrote into the chain: a double cannot hold each of its
 * numbers, so these stay as they were written.
 */
import type { Client, GetPath, Request, ResponseBody } from '@kasgres/client';

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** Browsers have it since 2025 at the latest; the types of TypeScript do not. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

const keepDigits: Reviver = (_, value, context) => {
  const source = context?.source;
  const isKept = typeof value === 'number' && source !== undefined && String(value) !== source;
  return isKept && rawJSON !== undefined ? rawJSON(source) : value;
};

/** Parses JSON so that `JSON.stringify` writes each number as it was. */
export const parseExact = (text: string): unknown => JSON.parse(text, keepDigits);

/**
 * Works like `get` of the client, without loss of digits.
 * @throws ApiError if the status is not 200
 */
export async function getExact<Path extends GetPath>(
  client: Client,
  path: Path,
  request: Request<'get', Path>,
): Promise<ResponseBody<'get', Path>> {
  const get = client.get as (path: GetPath, request: object) => Promise<unknown>;
  return parseExact(String(await get(path, { ...request, parseAs: 'text' }))) as ResponseBody<'get', Path>;
}
