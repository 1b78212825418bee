/** Chooses the encoding of a response that exists in several. */

/**
 * @param available encodings in the order of preference
 * @returns the first one that `accept-encoding` allows; otherwise `identity`
 */
export function chooseEncoding(accepted: string | string[] | undefined, available: readonly string[]): string {
  const entries = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((entry) => entry.trim());
  const isAccepted = (name: string): boolean =>
    entries.some((entry) => (entry === name || entry.startsWith(`${name};`)) && !/;\s*q=0(?:\.0*)?$/.test(entry));
  return available.find(isAccepted) ?? 'identity';
}
