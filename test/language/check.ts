/**
 * `npm run check:language`: fails if a name, a comment, a string or a document uses a retired word
 * of docs/glossary.md, if a comment opens with "Of" or "What" or is wider than 100 columns, or if a
 * name of the schema has a word that is retired there.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findOpenings, findSqlOpenings } from './openings.ts';
import { retiredWordFinder } from './retired-words.ts';
import { schemaNameFinder, withoutSchemaSection } from './schema-names.ts';
import { findWideComments, findWideSqlComments } from './widths.ts';

const REPOSITORY = new URL('../../', import.meta.url);

const CHECKED_FILES = /\.(tsx?|js|md|sql|sh|py|toml|ya?ml|json|html|css)$|Dockerfile$|^\.ci\//;
/** Generated and recorded files, the glossary, and this check with its examples. */
const EXEMPT_FILES =
  /(^|\/)(generated|recorded)\/|^test\/language\/|^package-lock\.json$|^openapi\.json$|^docs\/(glossary|schema|cookbook)\.md$/;

const PROGRAMS = /\.(tsx?|js)$/;

const read = (file: string): string => readFileSync(new URL(file, REPOSITORY), 'utf8');
const glossary = read('docs/glossary.md');
const findRetired = retiredWordFinder(withoutSchemaSection(glossary));
const findInSchema = schemaNameFinder(glossary);

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: REPOSITORY,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
})
  .split('\n')
  .filter((file) => CHECKED_FILES.test(file) && !EXEMPT_FILES.test(file))
  // A deleted file is listed until the deletion is staged.
  .filter((file) => existsSync(new URL(file, REPOSITORY)));

const uses = files.flatMap((file) => [
  ...findRetired(file).map((word) => `${file}: retired "${word}" in the name`),
  ...read(file)
    .split('\n')
    .flatMap((line, index) => findRetired(line).map((word) => `${file}:${index + 1}: retired "${word}"`)),
]);
type FindLines = (text: string) => number[];

/** Returns the lines of comments that the function for their language finds, with the problem. */
const findInComments = (inSql: FindLines, inPrograms: FindLines, problem: string, checked = files): string[] =>
  checked.flatMap((file) => {
    const find = file.endsWith('.sql') ? inSql : PROGRAMS.test(file) ? inPrograms : () => [];
    return find(read(file)).map((line) => `${file}:${line}: ${problem}`);
  });

const openings = findInComments(findSqlOpenings, findOpenings, 'the comment opens with "Of" or "What"');
const wide = findInComments(
  findWideSqlComments,
  findWideComments,
  'the comment is wider than 100 columns',
  files.filter((file) => !file.startsWith('test/statements/golden/')),
);
const names = files
  .filter((file) => file.startsWith('migrations/'))
  .flatMap((file) => findInSchema(read(file)).map((name) => `${file}: retired in the schema: ${name}`));
for (const fault of [...uses, ...openings, ...wide, ...names]) console.error(fault);
console.log(
  `${files.length} files, ${uses.length} uses of retired words, ${openings.length} comments without a subject, ${wide.length} wide comments, ${names.length} names of the schema`,
);
if (uses.length + names.length > 0) console.error('docs/glossary.md names the replacements.');
if (uses.length + openings.length + wide.length + names.length > 0) process.exitCode = 1;
