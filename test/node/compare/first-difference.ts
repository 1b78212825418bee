/** Where two answers differ first, in words; undefined when they are equal in every field and every order. */
export function firstDifference(node: unknown, api: unknown, path = ''): string | undefined {
  if (Object.is(node, api)) return undefined;
  if (!isTree(node) || !isTree(api) || Array.isArray(node) !== Array.isArray(api)) {
    return `${path === '' ? 'the answer' : path}: node ${show(node)}, API ${show(api)}`;
  }
  for (const key of keysOf(node, api)) {
    // Most values are equal texts: no path is made for those.
    if (Object.is(node[key], api[key])) continue;
    const found = firstDifference(node[key], api[key], path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null;
}

function keysOf(node: Tree, api: Tree): string[] {
  const keys = Object.keys(node);
  const isSame = Object.keys(api).length === keys.length && keys.every((key) => key in api);
  return isSame ? keys : [...new Set([...keys, ...Object.keys(api)])];
}

const SHOWN = 200;

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
