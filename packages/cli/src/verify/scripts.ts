/** Invariant 8 of scripts: each has one row, with the type and the address that follow from it. */
import { classifyScript, findNetwork, scriptToAddress } from '@kasgres/kaspa';
import { findNetworkName } from './queryable.ts';
import { pagesByKey, type Queryable } from '@kasgres/state';

const PAGE = 20_000;
const MOST_FAULTS = 20;

/** Sorts by a hash, since scripts may have any length. */
const SELECT_DUPLICATES = `
  select array_agg(id order by id)::text as ids from scripts
  group by hashtextextended(encode(script, 'hex'), 0), version, script having count(*) > 1 limit ${MOST_FAULTS}`;

const SELECT_PAGE = `select id, version, script, type, address from scripts where id > $1 order by id limit ${PAGE}`;

interface ScriptRow {
  id: bigint;
  version: number;
  script: Buffer;
  type: string;
  address: string | null;
}

/** Returns the faults, one sentence each (the first 20 of a kind). */
export async function checkScripts(db: Queryable): Promise<string[]> {
  const name = await findNetworkName(db);
  const network = findNetwork(name ?? '');
  if (network === undefined) return [`the network ${JSON.stringify(name)} of the database is unknown`];
  const wrong: string[] = [];
  for await (const rows of pagesByKey<ScriptRow>(db, SELECT_PAGE, -1n)) {
    for (const { id, version, script, type, address } of rows) {
      const scriptPublicKey = { version, script };
      const expectedType = classifyScript(scriptPublicKey);
      const expected = scriptToAddress(scriptPublicKey, network.addressPrefix) ?? null;
      if (type !== expectedType) wrong.push(`script ${id} has type ${type} instead of ${expectedType}`);
      if (address !== expected) wrong.push(`script ${id} has address ${address} instead of ${expected}`);
    }
    if (wrong.length >= MOST_FAULTS) break;
  }
  const duplicates = await db.query<{ ids: string }>(SELECT_DUPLICATES);
  return [...wrong.slice(0, MOST_FAULTS), ...duplicates.rows.map(({ ids }) => `scripts ${ids} are the same script`)];
}
