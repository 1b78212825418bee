/**
 * Finds comments that open with "Of …" or "What …": they have no subject, or hide it in a clause.
 */

const OPENING = /^(?:Of|What)\b/;

/** Returns the numbers of the lines on which such comments begin. */
export function findOpenings(text: string): number[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const [, comment] = /(?:^|\s)(?:\/\*\*|\/\/) (.*)/.exec(line) ?? [];
    const [, first] = lines[index - 1]?.trim() === '/**' ? (/^\s*\* (.*)/.exec(line) ?? []) : [];
    const continues = /^\s*\/\/ /.test(line) && /^\s*\/\/ /.test(lines[index - 1] ?? '');
    return OPENING.test(first ?? (continues ? '' : (comment ?? ''))) ? [index + 1] : [];
  });
}

/**
 * Returns the numbers of the lines of SQL on which such comments begin: of `--`, or of `comment
 * on`. A question may begin with "What".
 */
export function findSqlOpenings(text: string): number[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const comment = SQL_COMMENT.exec(line)?.[1];
    // A line with nothing but the dashes begins a new paragraph.
    const continues = SQL_COMMENT.test(lines[index - 1] ?? '');
    const [, first = continues ? '' : (comment ?? '')] = /\bcomment on .* is '(.*)/.exec(line) ?? [];
    return OPENING.test(first) && !/^[^.]*\?/.test(first) ? [index + 1] : [];
  });
}

const SQL_COMMENT = /^\s*-- (.*)/;
