/** Reads what clients accept: `accept` and `accept-encoding`. */

/** Returns the quality that a header gives to a name, from 0 to 1; 0 if it does not name it. */
export function qualityOf(header: string | string[] | undefined, name: string): number {
  for (const entry of String(header ?? '')
    .toLowerCase()
    .split(',')) {
    const [named, ...parameters] = entry.split(';').map((part) => part.trim());
    if (named !== name) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return quality === undefined ? 1 : Number(quality) || 0;
  }
  return 0;
}

/**
 * Chooses the encoding of a response that exists in several.
 * @param available encodings in the order of preference
 * @returns the first one that `accept-encoding` allows; otherwise `identity`
 */
export const chooseEncoding = (accepted: string | string[] | undefined, available: readonly string[]): string =>
  available.find((name) => qualityOf(accepted, name) > 0) ?? 'identity';
