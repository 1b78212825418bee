/** Scripts and addresses by number, for tests of tags and clusters. */
import { type AddressPrefix, scriptToAddress } from '@kasgres/kaspa';
import type { Pool, PoolClient } from 'pg';

/** Returns the script of the public key that ends in this number. */
function scriptOf(number: number): Buffer {
  const script = Buffer.alloc(34);
  script[0] = 0x20;
  script.writeUInt32BE(number, 29);
  script[33] = 0xac;
  return script;
}

export function addressOf(number: number, prefix: AddressPrefix = 'kaspasim'): string {
  return scriptToAddress({ version: 0, script: scriptOf(number) }, prefix) as string;
}

/** Inserts scripts with these numbers as keys and zero balances. */
export async function insertScripts(client: Pool | PoolClient, numbers: readonly number[]): Promise<void> {
  await client.query(
    `insert into scripts select n, 0, script, 'pubkey', address
      from unnest($1::bigint[], $2::bytea[], $3::text[]) s (n, script, address)`,
    [numbers, numbers.map(scriptOf), numbers.map((number) => addressOf(number))],
  );
  await client.query('insert into balances (script_id, balance) select n, 0 from unnest($1::bigint[]) n', [numbers]);
}
