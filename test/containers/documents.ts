/**
 * The commands that the documents give to operators of containers, so that the tests run exactly
 * these.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const FENCE = /^```(?:sh)?\n(.*?)^```$/gms;
const INLINE = /`(docker [^`]+)`/g;
const COMMENT = /^#\s+(docker .+?)(?: {2,}.*)?$/gm;

const DOCUMENTS = [
  'README.md',
  'docs/operations.md',
  'docs/export.md',
  'docs/tags.md',
  'docs/webhooks.md',
  'docker-compose.yml',
] as const;

const read = (document: string): string => readFileSync(join(ROOT, document), 'utf8');

/**
 * Returns the commands below a heading that name Docker: each code block is a script.
 * @throws if there is none
 */
export function commandsOf(document: (typeof DOCUMENTS)[number], heading: string): string[] {
  const [, section = ''] = new RegExp(`^#+ ${heading}\\n(.*?)(?=^#+ |$(?![\\s\\S]))`, 'ms').exec(read(document)) ?? [];
  const scripts = scriptsOf(section);
  if (scripts.length === 0) throw new Error(`${document} has no commands of Docker in "${heading}"`);
  return scripts;
}

function scriptsOf(text: string): string[] {
  const blocks = [...text.matchAll(FENCE)].map(([, script = '']) => script.trimEnd());
  return blocks.filter((script) => /\bdocker /.test(script));
}

/** Returns every command of every document, also those within sentences and comments. */
export function allCommands(): string[] {
  return DOCUMENTS.flatMap((document) => {
    const text = read(document);
    const lines = scriptsOf(text).flatMap((script) => linesOf(script));
    const inline = [...text.replaceAll(FENCE, '').matchAll(INLINE)].map(([, command = '']) => command);
    return [...lines, ...inline, ...commandsInComments(document)];
  });
}

/** Returns the commands in comments of a file. */
export function commandsInComments(document: (typeof DOCUMENTS)[number]): string[] {
  return document.endsWith('.md') ? [] : [...read(document).matchAll(COMMENT)].map(([, command = '']) => command);
}

/** The commands of a script, without comments behind them. */
export function linesOf(script: string): string[] {
  return script
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => /\bdocker /.test(line));
}
