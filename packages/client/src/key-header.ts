/** Returns the header of the key, or no header without one: an empty key would be an invalid one. */
export const keyHeader = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { 'x-api-key': apiKey };
