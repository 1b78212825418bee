/**
 * Entries of files of names as JSON, which the database keeps: the form of the file, without the
 * template.
 */
import { fromHex, type Hash, toHex } from '@kasgres/kaspa';
import type { NamedPush, NamedTemplate } from './template-names.ts';

export interface TemplateEntry {
  name: string;
  source: string;
  description?: string | undefined;
  pushes: NamedPush[];
  required: { push: number; value?: string | undefined; hash?: string | undefined }[];
  state?: { first: number; last: number } | undefined;
  seen: { network: string; transaction: string }[];
}

export function encodeTemplateEntry(named: NamedTemplate): TemplateEntry {
  const { name, source, description, pushes, required, state, seen } = named;
  return {
    name,
    source,
    description,
    pushes,
    state,
    required: required.map(({ push, value, hash }) => ({
      push,
      value: value && toHex(value),
      hash: hash && toHex(hash),
    })),
    seen: seen.map(({ network, transactionId }) => ({ network, transaction: toHex(transactionId) })),
  };
}

export function decodeTemplateEntry(template: Hash, entry: TemplateEntry): NamedTemplate {
  return {
    ...entry,
    template,
    description: entry.description,
    state: entry.state,
    required: entry.required.map(({ push, value, hash }) => ({ push, value: bytes(value), hash: bytes(hash) })),
    seen: entry.seen.map(({ network, transaction }) => ({ network, transactionId: fromHex(transaction) })),
  };
}

function bytes(hex: string | undefined): Hash | undefined {
  return hex === undefined ? undefined : fromHex(hex);
}
