/**
 * Reads JSON: a list of tags, or an object with common fields and the list. JSON.parse is fast but
 * does not report positions, so the text is parsed again to find the line of a problem.
 */
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { FIELD_NAMES, type RawTag } from './check-tag.ts';
import { isObject, type Path, type Problems, type RawFile, splitLabels, Tree } from './tag-file.ts';
import { quoted } from './quoted.ts';

const FILE_FIELDS = ['source', 'title', 'creator', 'tags'];

export function readJson(text: string, problems: Problems): RawFile {
  let root: Node | undefined;
  const tree = new Tree(problems, (path) => {
    root ??= parseTree(text);
    return lineAt(text, (root && findNodeAtLocation(root, [...path])?.offset) ?? 0);
  });
  const value = parse(text, problems);
  const file = isObject(value) ? value : { tags: value };
  const path = isObject(value) ? ['tags'] : [];
  tree.reportUnknownFields(file, [], FILE_FIELDS, 'a file of tags');
  const tags = file['tags'];
  if (isObject(value) && !Array.isArray(tags)) tree.report(path, 'tags', 'must be a list of tags');
  else if (value !== undefined && !Array.isArray(tags)) {
    tree.report([], 'file', 'must be a list of tags, or an object with the list as "tags"');
  }
  return {
    source: tree.textOf(file, 'source'),
    title: tree.textOf(file, 'title'),
    creator: tree.textOf(file, 'creator'),
    tags: Array.isArray(tags) ? tags.flatMap((tag, index) => readTag(tree, tag, [...path, index])) : [],
    transactionTags: 0,
    lineOf: (field) => tree.lineAt([field]),
  };
}

/** Reports invalid JSON as a problem and returns undefined. */
function parse(text: string, problems: Problems): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    const [first] = errors;
    const reason = first === undefined ? (error as SyntaxError).message : printParseErrorCode(first.error);
    problems.add(lineAt(text, first?.offset ?? 0), 'JSON', `cannot be read: ${reason}`);
    return undefined;
  }
}

function readTag(tree: Tree, tag: unknown, path: Path): RawTag[] {
  if (!isObject(tag)) {
    tree.report(path, 'tags', `must be objects, not ${quoted(tag)}`);
    return [];
  }
  if (isDummy(tag)) return [];
  tree.reportUnknownFields(tag, path, FIELD_NAMES, 'a tag');
  const fields = typeof tag['labels'] === 'string' ? { ...tag, labels: splitLabels(tag['labels']) } : tag;
  return [{ fields, lineOf: (field) => tree.lineAt(field in tag ? [...path, field] : path) }];
}

/**
 * Whether it is the first entry of `/rest/addresses/names`, which stands for no address
 * (docs/rest.md).
 */
const isDummy = ({ address, name }: Record<string, unknown>): boolean =>
  name === '' && typeof address === 'string' && /^kaspa[a-z]*:$/.test(address);

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
