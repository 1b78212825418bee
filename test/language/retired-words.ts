/**
 * Finds retired words of docs/glossary.md in texts and in names. Names are split into words first:
 * `findCoins` has the word `coin`, and `coinbase` does not.
 */

/**
 * Names of the protocol, of products, of a variable, of a demo owner, and of a file of older
 * commits.
 */
const EXEMPT_NAMES = / (?:coin supply|coin joins?|devnet two bodies rate|riverbank coins|plans questions) /g;

export type FindRetired = (text: string) => string[];

/** Returns a function that finds the retired words of the glossary. */
export function retiredWordFinder(glossary: string): FindRetired {
  const retired = readRetiredWords(glossary).map((word) => ({ word, spaced: normalize(word) }));
  return (text) => {
    const words = normalize(text).replaceAll(EXEMPT_NAMES, '  ');
    return retired.filter(({ spaced }) => words.includes(spaced)).map(({ word }) => word);
  };
}

/** Returns the words in backticks in the last column of the glossary's tables. */
export function readRetiredWords(glossary: string): string[] {
  return glossary
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...(line.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)])
    .map(([, word = '']) => word);
}

/** Returns the words of a text in lower case, separated and enclosed by spaces. */
function normalize(text: string): string {
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ');
  return ` ${words.trim()} `;
}
