/** Ids of the chain under test, for fuzzed requests that should find something (hooks.py). */
import type { TestDatabase } from '@kasgres/database';
import { upsertTags } from '@kasgres/database';

const SOURCES = {
  addresses: 'select address as id from scripts where address is not null order by id limit 200',
  blocks: `select encode(hash, 'hex') as id from blocks order by random() limit 200`,
  transactions: `select encode(transaction_id, 'hex') as id from transactions order by random() limit 500`,
  utxos: `select encode(t.transaction_id, 'hex') || ':' || u.index as id
    from utxos u join transactions t on t.id = u.transaction_id order by random() limit 200`,
  daaScores: 'select daa_score::text as id from blocks order by random() limit 50',
};

/** Tags some addresses first. */
export async function listKnown({ pool }: TestDatabase): Promise<Record<string, string[]>> {
  const known: Record<string, string[]> = {};
  for (const [name, statement] of Object.entries(SOURCES)) {
    const { rows } = await pool.query<{ id: string }>(statement);
    known[name] = rows.map(({ id }) => id);
  }
  const tagged = known['addresses']?.slice(0, 30) ?? [];
  await upsertTags(
    pool,
    tagged.map((address, index) => ({ address, name: `Tag ${index % 10}`, link: '', labels: ['fuzz'] })),
  );
  return known;
}
