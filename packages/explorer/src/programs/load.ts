/** Loads programs and templates, which many parts of a page show, once. */
import { ApiError, type Client, type Schema } from '@kasgres/client';
import { bytesOfHex } from '../format.ts';
import { apiKey, request } from '../state/api.ts';

export type Template = Schema<'TemplateDetails'>;
export type TemplateName = Template['names'][number];

const MAX_KEPT = 60;

/** Keeps the last results. Programs never change, and names of templates hardly do. */
class Kept<Value> {
  readonly #values = new Map<string, Promise<Value | undefined>>();
  readonly #load: (client: Client, key: string) => Promise<Value | undefined>;

  constructor(load: (client: Client, key: string) => Promise<Value | undefined>) {
    this.#load = load;
    // One key must not show what another one loaded.
    apiKey.subscribe(() => this.#values.clear());
  }

  /** Returns undefined for what the index does not have. */
  async get(key: string): Promise<Value | undefined> {
    const kept = this.#values.get(key);
    if (kept !== undefined) return await kept;
    const loading = request((client) => this.#load(client, key)).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined;
      this.#values.delete(key);
      throw error;
    });
    this.#values.set(key, loading);
    const oldest = this.#values.keys().next();
    if (this.#values.size > MAX_KEPT && oldest.done !== true) this.#values.delete(oldest.value);
    return await loading;
  }
}

const programs = new Kept<Uint8Array>(async (client, hash) => {
  const query = { include: 'bytes' } as const;
  const { program } = await client.get('/v1/programs/{hash}', { params: { path: { hash }, query } });
  return program.bytes == null ? undefined : bytesOfHex(program.bytes);
});

const templates = new Kept<Template>(async (client, hash) => {
  return (await client.get('/v1/templates/{hash}', { params: { path: { hash } } })).template;
});

/**
 * Tells whether the index has a program. A request for one that it does not have would be an error
 * in the console.
 */
export async function isKept(hash: string): Promise<boolean> {
  const { results } = await request((client) => client.get('/v1/search', { params: { query: { q: hash } } }));
  return results.some(({ type, id }) => type === 'program' && id === hash);
}

/**
 * Returns the bytes of a program; undefined if the index does not have them, as after retention.
 */
export const loadProgram = (hash: string): Promise<Uint8Array | undefined> => programs.get(hash);

export const loadTemplate = (hash: string): Promise<Template | undefined> => templates.get(hash);
