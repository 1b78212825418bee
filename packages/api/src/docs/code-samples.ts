/**
 * Adds samples with @kasgres/client to the document of /docs. The page has those with curl, fetch
 * and Python by itself.
 */

interface Operation {
  parameters: { name?: string; in?: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

export function addCodeSamples(document: object): object {
  for (const [path, operations] of Object.entries((document as Document).paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const source = callOf(method, path, operation);
      if (source === undefined) continue;
      const sample = { lang: 'typescript', label: '@kasgres/client', source: `${PREAMBLE}\n${source}\n` };
      Object.assign(operation, { 'x-codeSamples': [sample] });
    }
  }
  return document;
}

const PREAMBLE = `import { createClient } from '@kasgres/client';

const client = createClient({ baseUrl: 'http://127.0.0.1:3000', apiKey: 'kdp_…' });
`;

/** Returns undefined for what the client does not do. */
function callOf(method: string, path: string, operation: Operation): string | undefined {
  const [type] = Object.keys(operation.responses['200']?.content ?? {});
  if (type === 'text/event-stream') return 'for await (const step of client.subscribe()) console.log(step);';
  if (type !== 'application/json' || path === '/v1/ws') return undefined;
  const request = requestOf(operation);
  const argument = Object.keys(request).length === 0 ? '' : `, ${toLiteral(request)}`;
  return `const response = await client.${method}(${toLiteral(path)}${argument});`;
}

function requestOf({ parameters, requestBody }: Operation): object {
  const params: Record<string, Record<string, unknown>> = {};
  for (const { name = '', in: location = '', example } of parameters) {
    if (example !== undefined) params[location] = { ...params[location], [name]: example };
  }
  const body = requestBody?.content['application/json']?.example;
  return { ...(Object.keys(params).length > 0 && { params }), ...(body !== undefined && { body }) };
}

/**
 * Returns JSON with names instead of quoted keys, and strings in single quotes where they need no
 * escapes.
 */
const toLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 2)
    .replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll(/"([^"'\\]*)"/g, "'$1'");
