/** Other programs of a template, which show what its programs have in common. */
import type { Client } from '@kasgres/client';
import { loadProgram } from './load.ts';

/** Each may have 250 kB. */
const MOST_SIBLINGS = 4;
const MOST_COVENANTS = 3;
const EVENTS = 5;

/**
 * Finds programs that recent events of covenants with this template reveal, and returns their
 * bytes.
 */
export async function loadSiblings(client: Client, template: string, hash: string): Promise<Uint8Array[]> {
  const path = { hash: template };
  const { covenants } = await client.get('/v1/templates/{hash}/covenants', {
    params: { path, query: { limit: MOST_COVENANTS } },
  });
  const pages = await Promise.all(
    covenants.map(({ covenantId }) =>
      client.get('/v1/covenants/{covenantId}/events', { params: { path: { covenantId }, query: { limit: EVENTS } } }),
    ),
  );
  const hashes = pages.map(({ events }) =>
    events.flatMap(({ inputs }) =>
      inputs.flatMap(({ program }) => (program?.template === template ? program.hash : [])),
    ),
  );
  // One of each covenant first, since constructor arguments differ between covenants.
  const inTurns = Array.from({ length: Math.max(0, ...hashes.map(({ length }) => length)) }, (_, turn) =>
    hashes.flatMap((one) => one[turn] ?? []),
  ).flat();
  const others = [...new Set(inTurns)].filter((other) => other !== hash).slice(0, MOST_SIBLINGS);
  const loaded = await Promise.all(others.map(loadProgram));
  return loaded.filter((program) => program !== undefined);
}
