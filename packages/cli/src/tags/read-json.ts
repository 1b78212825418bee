/**
 * Reads JSON: a list of tags, or an object with common fields and the list. JSON.parse is fast but does not report positions, so the text is
 * parsed again to find the line of a problem.
 */
import { basename } from 'node:path';
import { DEFAULT_CONFIDENCE_LEVEL } from '@kasgres/database';
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { type Position, type Problems, quoted } from './problems.ts';
import { type Field, type RawFile, type RawTag, splitLabels } from './raw-tag.ts';

const FILE_KEYS = ['source', 'title', 'creator', 'tags'];
const TAG_KEYS: readonly Field[] = [
  'address',
  'name',
  'link',
  'labels',
  'category',
  'confidence',
  'source',
  'creator',
  'lastmod',
  'currency',
  'network',
];

type Path = (string | number)[];

export function readJson(file: string, text: string, problems: Problems): RawFile {
  const positionAt = positionFinder(file, text, problems);
  const value = parse(file, text, problems);
  const head = isObject(value) ? value : {};
  if (value !== undefined && !isObject(value) && !Array.isArray(value)) {
    problems.add(positionAt([]), 'file', 'must be a list of tags, or an object with the list as "tags"');
  }
  for (const key of Object.keys(head)) {
    if (!FILE_KEYS.includes(key))
      problems.add(positionAt([key]), quoted(key), `is not a known field; the fields are ${FILE_KEYS.join(', ')}`);
  }
  const textOf = (key: string): string => {
    const found = head[key] ?? '';
    if (typeof found === 'string') return found.trim();
    problems.add(positionAt([key]), key, 'must be a text');
    return '';
  };
  const path: Path = isObject(value) ? ['tags'] : [];
  const list: unknown = isObject(value) ? value['tags'] : value;
  if (isObject(value) && !Array.isArray(list)) problems.add(positionAt(path), 'tags', 'must be a list of tags');
  return {
    file,
    nameOf: (field) => field,
    source: textOf('source') || basename(file),
    title: textOf('title'),
    creator: textOf('creator'),
    tags: Array.isArray(list) ? list.flatMap((tag, index) => readTag(tag, [...path, index], positionAt, problems)) : [],
    transactionTags: 0,
    defaultConfidenceLevel: DEFAULT_CONFIDENCE_LEVEL,
    linksAreUrls: true,
  };
}

/** Reports invalid JSON as a problem and returns undefined. */
function parse(file: string, text: string, problems: Problems): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    const [first] = errors;
    const what = first === undefined ? error.message : printParseErrorCode(first.error);
    problems.add({ file, line: lineAt(text, first?.offset ?? 0) }, 'JSON', `cannot be read: ${what}`);
    return undefined;
  }
}

function readTag(tag: unknown, path: Path, positionAt: (path: Path) => Position, problems: Problems): RawTag[] {
  if (!isObject(tag)) {
    problems.add(positionAt(path), 'tags', `must be objects, not ${quoted(tag)}`);
    return [];
  }
  const fields: Partial<Record<Field, unknown>> = {};
  for (const [key, value] of Object.entries(tag)) {
    const field = TAG_KEYS.find((known) => known === key);
    if (field !== undefined)
      fields[field] = field === 'labels' && typeof value === 'string' ? splitLabels(value) : value;
    else
      problems.add(
        positionAt([...path, key]),
        quoted(key),
        `is not a field of tags; the fields are ${TAG_KEYS.join(', ')}`,
      );
  }
  return [{ fields, positionOf: (field) => positionAt(field in tag ? [...path, field] : path) }];
}

/** Parses the text when the first position is needed. */
function positionFinder(file: string, text: string, problems: Problems): (path: Path) => Position {
  let tree: Node | undefined;
  return (path) => {
    if (problems.isFull) return { file, line: 0 };
    tree ??= parseTree(text);
    const node = tree === undefined ? undefined : findNodeAtLocation(tree, path);
    return { file, line: lineAt(text, node?.offset ?? 0) };
  };
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
