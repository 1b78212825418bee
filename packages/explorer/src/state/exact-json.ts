/**
 * Reads responses with JSON that somebody wrote into the chain: a double cannot hold each of its
 * numbers, so these stay as they were written.
 */
import { ApiError } from '@kasgres/client';

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
 * Returns the body of a response that was requested as text.
 * @throws ApiError if the status is not 200
 */
export async function readExact<Data>(
  sent: Promise<{ data?: string | undefined; error?: unknown; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await sent;
  if (data === undefined) throw new ApiError(response, error);
  return parseExact(data) as Data;
}
