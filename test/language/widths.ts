/** Finds comments that are wider than 100 columns. Code is as wide as Biome formats it. */

const MAX_COLUMNS = 100;
const COMMENT = /^\s*(?:\/\/|\/?\*\*?)(?: (?<text>.*))?$/;
/** Comments of the schema continue as further strings. */
const SQL_COMMENT = /^\s*(?:-- ?|comment on\b)(?<text>.*)$|^\s*'(?<string>(?:[^']|'')*)';?$/;
/** Examples, which are indented, rows of tables, instructions to tools, and words that cannot be wrapped. */
const UNWRAPPED = /^ {2}|^\||^(?:biome|oxlint|eslint|@ts)-|^\s*\S+$/;

/** Returns the numbers of wide lines in TypeScript or JavaScript. */
export const findWideComments = (text: string): number[] => findWide(text, COMMENT);

/** Returns the numbers of wide lines in SQL, of comments of the program and of the schema. */
export const findWideSqlComments = (text: string): number[] => findWide(text, SQL_COMMENT);

function findWide(text: string, comment: RegExp): number[] {
  return text.split('\n').flatMap((line, index) => {
    const { text: after, string } = (line.length > MAX_COLUMNS && comment.exec(line)?.groups) || {};
    const words = after ?? string;
    return words === undefined || UNWRAPPED.test(words) ? [] : [index + 1];
  });
}
