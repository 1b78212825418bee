import { inPipeline } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { columnsOf } from '../queryable.ts';
import type { Inscribed } from './inscribed.ts';

/**
 * A conflict would use up a number of the sequence, so kinds that exist are left out. Writers hold
 * the lock on the checkpoint.
 */
const WRITE_KINDS = `
  insert into inscription_kinds (protocol, operation, tick)
  select distinct given.protocol, given.operation, given.tick
    from unnest($1::text[], $2::text[], $3::text[]) given (protocol, operation, tick)
   where not exists (
     select from inscription_kinds k
       where k.protocol = given.protocol and k.operation = given.operation
         and k.tick = given.tick)`;

/** A transaction may be accepted again after a gap. */
const WRITE = `
  insert into inscriptions (transaction_id, owner_script_id, kind_id, input)
  select given.transaction_id, given.owner, k.id, given.input
    from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::text[])
           given (transaction_id, owner, input, protocol, operation, tick)
    join inscription_kinds k on k.protocol = given.protocol and k.operation = given.operation
      and k.tick = given.tick
   where not exists (select from inscriptions i
     where i.transaction_id = given.transaction_id and i.input = given.input)
   order by given.transaction_id, given.input`;

/** Deletes those of the kinds that no inscription has. */
const DELETE_UNUSED_KINDS = `
  delete from inscription_kinds k
    where k.id = any($1::bigint[])
      and not exists (select from inscriptions i where i.kind_id = k.id)`;

export const deleteUnusedKinds = (client: ClientBase, kinds: ReadonlySet<bigint>) =>
  client.query({ name: 'delete-inscription-kinds', text: DELETE_UNUSED_KINDS, values: [[...kinds]] });

export async function writeInscriptions(client: ClientBase, inscribed: readonly Inscribed[]): Promise<void> {
  if (inscribed.length === 0) return;
  const kinds = columnsOf(inscribed, 'protocol', 'operation', 'tick');
  const rows = columnsOf(inscribed, 'transaction', 'owner', 'input', 'protocol', 'operation', 'tick');
  await inPipeline(client, [
    () => client.query({ name: 'write-inscription-kinds', text: WRITE_KINDS, values: kinds }),
    () => client.query({ name: 'write-inscriptions', text: WRITE, values: rows }),
  ]);
}
