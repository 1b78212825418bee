/** Reads the queries of the cookbook from `cookbook/`. */
import { readdirSync, readFileSync } from 'node:fs';

const DIRECTORY = new URL('../../cookbook/', import.meta.url);

export interface Request {
  /** The name of its file, without `.sql`: `01-network-by-day`. */
  name: string;
  title: string;
  /** Markdown. */
  explanation: string;
  sql: string;
}

/** From this one on, queries read covenants, programs, lanes or protocols. */
export const FIRST_ABOUT_APPLICATIONS = 31;

export const isAboutApplications = (name: string): boolean => Number.parseInt(name, 10) >= FIRST_ABOUT_APPLICATIONS;

export function readRequests(): Request[] {
  const names = readdirSync(DIRECTORY).filter((name) => name.endsWith('.sql'));
  return names.toSorted().map((name) => {
    const text = readFileSync(new URL(name, DIRECTORY), 'utf8');
    const [, header = '', sql = ''] = /^((?:--.*\n)+)\n([^]*)$/.exec(text) ?? [];
    const [title = '', , ...explanation] = header.split('\n').map((line) => line.replace(/^-- ?/, ''));
    return { name: name.replace(/\.sql$/, ''), title, explanation: explanation.join('\n').trim(), sql: sql.trim() };
  });
}
