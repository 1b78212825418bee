/**
 * Writes recorded statements as SQL that can be read: a file for each area, with a section for each
 * operation.
 */
import { structuredPatch } from 'diff';
import { format } from 'sql-formatter';
import type { Recording } from './record.ts';
import type { RecordedStatement } from './recorder.ts';

const CONTEXT_LINES = 2;
const WIDTH = 100;

const HEADER = `-- The statements of this area as Postgres gets them, by operation. \`npm run generate:statements\` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and \`include\` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.
`;

/** Returns texts by the name of the file. */
export function toGoldenFiles(sections: Recording['sections']): Map<string, string> {
  const shownIn = new Map<string, string>();
  const files = new Map<string, string>();
  for (const [section, statements] of sections) {
    const [area = '', operation = ''] = section.split('/');
    const text = `${rule(operation)}\n${describeSection(statements, `${area}.sql, ${operation}`, shownIn)}`;
    files.set(`${area}.sql`, `${files.get(`${area}.sql`) ?? HEADER}\n${text}`);
  }
  return files;
}

const rule = (title: string): string => `-- ${title} ${'-'.repeat(WIDTH - title.length)}\n`;

function describeSection(statements: readonly RecordedStatement[], here: string, shownIn: Map<string, string>): string {
  const shown: { title: string; sql: string }[] = [];
  const described = statements.map((statement) => {
    const place = shownIn.get(statement.text);
    if (place !== undefined) return `-- ${titleOf(statement)}: in ${place}\n`;
    shownIn.set(statement.text, here);
    const sql = toReadable(statement.text);
    const title = titleOf(statement);
    const text = shortest([`${sql};\n`, ...shown.map((earlier) => differences(earlier, sql))]);
    shown.push({ title, sql });
    return `-- ${title}${statement.request === '' ? '' : `: ${statement.request}`}\n${text}`;
  });
  return described.length === 0 ? '-- None but those of every request.\n' : described.join('\n');
}

const shortest = (texts: readonly string[]): string =>
  texts.toSorted((a, b) => a.split('\n').length - b.split('\n').length)[0] ?? '';

function titleOf({ name, sender, text }: RecordedStatement): string {
  if (name !== undefined) return `“${name}”`;
  if (sender === undefined) return text.trim().split(/\s+/, 3).join(' ');
  return [sender.name, sender.location.replace(/:\d+$/, '')].filter((part) => part !== '').join(' of ');
}

function differences({ title, sql: before }: { title: string; sql: string }, sql: string): string {
  const { hunks } = structuredPatch('', '', before, sql, '', '', { context: CONTEXT_LINES });
  return `--   like ${title}, except:\n${hunks.map(({ lines }) => lines.map((line) => `--   ${line}\n`).join('')).join('--   …\n')}`;
}

/**
 * The formatter begins a line for each clause and for each item: those that have one short item
 * stay on one line.
 */
function toReadable(text: string): string {
  const lines = format(text, { language: 'postgresql', expressionWidth: WIDTH }).split('\n');
  const joined: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [line = '', item = '', after = ''] = lines.slice(at, at + 3);
    const isClause =
      /^\s*[a-z]+(?: by| all)?$/.test(line) && indentOf(item) > indentOf(line) && indentOf(after) <= indentOf(line);
    if (isClause) at += 1;
    joined.push(isClause ? `${line} ${item.trim()}` : line);
  }
  return joined.join('\n');
}

const indentOf = (line: string): number => line.search(/\S|$/);
