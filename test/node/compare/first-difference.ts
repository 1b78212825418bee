/** Where two answers differ first, in words; undefined when they are equal in every field and every order. */
export function firstDifference(node: unknown, api: unknown, path = ''): string | undefined {
  if (Object.is(node, api)) return undefined;
  if (!isTree(node) || !isTree(api) || Array.isArray(node) !== Array.isArray(api)) {
    return `${path === '' ? 'the answer' : path}: node ${show(node)}, API ${show(api)}`;
  }
  const keys = new Set([...Object.keys(node), ...Object.keys(api)]);
  for (const key of keys) {
    const found = firstDifference(node[key], api[key], path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const SHOWN = 200;

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
