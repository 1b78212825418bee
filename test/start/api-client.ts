/** Asks the API of a started Kasgres, with its key. */
import { expect } from 'vitest';
import type { z } from 'zod';

export class ApiClient {
  readonly url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.#key = key;
  }

  /** The answer, which must be a 200 of that form. */
  async get<T>(path: string, form: z.ZodType<T>): Promise<T> {
    return this.#ask(path, {}, form);
  }

  /** The answer, which must be a 200 of that form. */
  async post<T>(path: string, body: unknown, form: z.ZodType<T>): Promise<T> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) }, form);
  }

  async #ask<T>(path: string, init: RequestInit, form: z.ZodType<T>): Promise<T> {
    const headers = { 'x-api-key': this.#key, ...(init.body !== undefined && { 'content-type': 'application/json' }) };
    const answer = await fetch(`${this.url}${path}`, { ...init, headers });
    const text = await answer.text();
    expect(answer.status, `${path}: ${text}`).toBe(200);
    return form.parse(JSON.parse(text));
  }
}
