/**
 * Bare programs of a UTXO set after a gap. The rebuild finds those of the set with which an index
 * begins.
 */
import { describeProgram } from '@kasgres/programs';
import type { ClientBase } from 'pg';
import { BARE_SCRIPTS, firstBootstrapUtxos } from '../common-table-expressions.ts';
import { pagesByKey } from '../queryable.ts';
import { knownKccTemplate } from './kcc-template.ts';
import type { SeenProgram } from './program-changes.ts';
import { writePrograms, writeTemplates } from './programs.ts';

const SCRIPTS_AT_ONCE = 1_000;

interface ScriptRow {
  id: bigint;
  script: Buffer;
  transaction: number;
  index: number;
}

/**
 * Writes the programs of `bootstrap_utxos` that are not known.
 * @param chainTime of the bootstrap block, Unix milliseconds
 */
export async function writeBootstrapPrograms(client: ClientBase, chainTime: bigint): Promise<void> {
  await client.query(
    `create temporary table bare_bootstrap_scripts on commit drop as
     ${firstBootstrapUtxos(BARE_SCRIPTS)}`,
  );
  const select = `
    select s.id, s.script, f.transaction_id::float8 as transaction, f.index
      from bare_bootstrap_scripts f join scripts s on s.id = f.script_id where s.id > $1
        order by s.id limit ${SCRIPTS_AT_ONCE}`;
  for await (const page of pagesByKey<ScriptRow>(client, select, -1n)) {
    const seen = page.flatMap(({ id, script, transaction, index }): SeenProgram[] => {
      const description = describeProgram(script);
      if (description.uses === 0) return [];
      const first = { chainBlock: { index: -1, chainTime }, position: -1, transaction, index };
      const kccTemplate = knownKccTemplate(script, description.template);
      return [{ ...description, first, isBare: true, script: Number(id), kccTemplate }];
    });
    await writeTemplates(client, seen);
    await writePrograms(client, seen);
  }
}
