/**
 * Whoever reads a warning, an error or last words in a log finds them in the runbook of
 * docs/operations.md.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
/** Programs that run in operation. Commands speak to the person who runs them. */
const PACKAGES = ['runtime', 'database', 'state', 'node', 'reads', 'chain-steps', 'webhooks', 'indexer', 'api'];
/** Where lines are written, and errors made that end a program with code 1 and their message. */
const SPEAKS =
  /(?:(?:log|logger|logger\?)(?:\.(?:warn|error)|\[[^\]]*'(?:warn|error)'[^\]]*\])|new (?:FatalError|SchemaError|EnvError|NodeUnsuitableError|CheckpointMovedError))\(/g;
/** The largest number of words of a message: numbers and names may follow. */
const WORDS = 5;

const runbook = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8').split('## Runbook')[1] ?? '';

function listSources(): string[] {
  return PACKAGES.flatMap((name) => {
    const directory = join(ROOT, 'packages', name, 'src');
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    // Commands start the embedded Postgres, inspect a database before they write to it, create
    // logins of analysts, and lock directories.
    return files
      .filter(
        (file) =>
          /(?<!\.test)\.ts$/.test(file) &&
          !/^(embedded\/|testing\/|logins\/|schema\/inspect\.ts$|flock\.ts$)/.test(file),
      )
      .map((file) => join(directory, file));
  });
}

/**
 * The first words of a message that are written out in the code; undefined where it only passes on
 * what was said elsewhere.
 */
function findWords(code: string): string | undefined {
  const literals = (argumentsOf(code).match(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g) ?? []).map((literal) =>
    literal.slice(1, -1),
  );
  const parts = literals.flatMap((literal) => literal.split(/\$\{[^}]*\}/));
  const words = parts
    .map((part) =>
      part
        .replace(/^[\s.,:;)]+/, '')
        .trim()
        .split(/\s+/),
    )
    .find((part) => part.length > 1);
  return words
    ?.slice(0, WORDS)
    .join(' ')
    .replace(/[\s(:;,.]+$/, '');
}

/** From behind the opening bracket to the closing one. */
function argumentsOf(code: string): string {
  let open = 1;
  let end = 0;
  for (; end < code.length && open > 0; end += 1) {
    if (code[end] === '(') open += 1;
    if (code[end] === ')') open -= 1;
  }
  return code.slice(0, end);
}

const found = listSources().flatMap((path) => {
  const code = readFileSync(path, 'utf8');
  return [...code.matchAll(SPEAKS)].flatMap(
    ({ 0: speaks, index }) => findWords(code.slice(index + speaks.length)) ?? [],
  );
});
const messages = [...new Set(found)];

test('it lists every warning, error and exit message in the runbook', () => {
  expect(messages.length).toBeGreaterThan(25);
  const written = runbook.replaceAll(/\s+/g, ' ');
  expect(messages.filter((words) => !written.includes(words))).toEqual([]);
});
