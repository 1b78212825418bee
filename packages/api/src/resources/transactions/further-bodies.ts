/**
 * The bodies of a transaction id beyond its first (docs/architecture.md, "One id, several bodies"): rows of first bodies are read for
 * every transaction, and what another body has of its own is put over them where that one is asked for.
 */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { listBodies, listBodyInputs } from './queries.ts';

/** A transaction, and which of its bodies is meant (0: the first). */
interface BodyName {
  id: bigint;
  body: number;
}

/** What a body has of its own, beside its inputs. */
interface OwnFields {
  hash: string;
  storage_mass: string;
  compute_mass: string;
}

interface OwnInputFields {
  signature_script: string;
  sig_op_count: number;
  compute_budget: number;
}

/** Rows of the first body become those of the body that `row` names. */
type WithBody = <Row extends BodyName & OwnFields, Input extends OwnInputFields>(
  row: Row,
  inputs: readonly Input[],
) => { row: Row; inputs: readonly Input[] };

export async function loadFurtherBodies(db: Kysely<Database>, named: readonly BodyName[]): Promise<WithBody> {
  const ids = [...new Set(named.filter((row) => row.body > 0).map((row) => row.id))];
  if (ids.length === 0) return (row, inputs) => ({ row, inputs });
  const bodies = new Map((await listBodies(db, ids)).map((body) => [nameOf(body), body]));
  const bodyInputs = Map.groupBy(await listBodyInputs(db, ids), nameOf);
  return (row, inputs) => {
    const name = nameOf(row);
    const body = bodies.get(name);
    if (body === undefined) return { row, inputs };
    const ownInputs = bodyInputs.get(name) ?? [];
    return {
      row: { ...row, ...body },
      inputs: inputs.map((input, index) => ({ ...input, ...ownInputs[index] })),
    };
  };
}

const nameOf = ({ id, body }: BodyName): string => `${id} ${body}`;
