/**
 * `npm run check:language`: fails where a retired word of docs/glossary.md is used in a name, a comment, a string or a document.
 * Names are split into words first, so that `coin` finds `findCoins` and `NEW_COIN` but not `coinbase`.
 */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';

const REPOSITORY = new URL('../../', import.meta.url);

/** Generated or recorded files follow from others; released migrations and the glossary itself name what they name. */
const EXEMPT_FILES =
  /(^|\/)(generated|recorded)\/|^migrations\/|^package-lock\.json$|^openapi\.json$|^docs\/(glossary|schema|cookbook)\.md$/;
const CHECKED_FILES = /\.(ts|js|md|sql|sh|py|toml|ya?ml|json|html|css)$|Dockerfile$|^\.ci\//;

/** Names of the protocol and of products. */
const EXEMPT_NAMES = /coin-?supply|coin-?joins?|bitcoin(?:cash)?/gi;

interface Use {
  file: string;
  line: number;
  word: string;
}

const retired = await readRetiredWords();
const schemaNames = await readSchemaNames();
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: REPOSITORY,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
})
  .split('\n')
  .filter((file) => CHECKED_FILES.test(file) && !EXEMPT_FILES.test(file));

const uses = (await Promise.all(files.map(async (file) => await findUses(file)))).flat();
for (const { file, line, word } of uses) console.error(`${file}:${line}: retired "${word}"`);
console.log(`${files.length} files, ${retired.length} retired words and phrases, ${uses.length} uses`);
if (uses.length > 0) {
  console.error('docs/glossary.md says what to write instead.');
  process.exitCode = 1;
}

async function findUses(file: string): Promise<Use[]> {
  const text = await readFile(new URL(file, REPOSITORY), 'utf8').catch(() => '');
  const found = [...usesInLine(file)].map((word) => ({ file, line: 0, word }));
  for (const [index, line] of text.split('\n').entries()) {
    for (const word of usesInLine(line)) found.push({ file, line: index + 1, word });
  }
  return found;
}

function usesInLine(line: string): string[] {
  const words = ` ${line
    .replace(/[a-z]+(?:_[a-z]+)+/g, (name) => (schemaNames.has(name) ? '' : name))
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .replaceAll(EXEMPT_NAMES, '')
    .replace(/coin (?:supply|joins?)/g, '')} `;
  return retired.filter(({ spaced }) => words.includes(spaced)).map(({ word }) => word);
}

/** The words in backticks in the last column of the glossary's tables. */
async function readRetiredWords(): Promise<{ word: string; spaced: string }[]> {
  const glossary = await readFile(new URL('docs/glossary.md', REPOSITORY), 'utf8');
  const cells = glossary
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').at(-2) ?? '');
  return cells
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)])
    .map(([, word = '']) => {
      return { word, spaced: ` ${word.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()} ` };
    });
}

/** Tables, columns and indexes of the migrations, which only a new schema can rename. */
async function readSchemaNames(): Promise<Set<string>> {
  const schema = await readFile(new URL('docs/schema.md', REPOSITORY), 'utf8');
  return new Set(schema.match(/[a-z]+(?:_[a-z]+)+/g) ?? []);
}
