/**
 * Returns the header of the key. Without a key there is none, since an empty one would be refused
 * as invalid.
 */
export const keyHeader = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { 'x-api-key': apiKey };
