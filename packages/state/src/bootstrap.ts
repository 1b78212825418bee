import type { Queryable } from './queryable.ts';

export interface Bootstrap {
  /** Differs from that of any other bootstrap. */
  id: string;
  /** Derived state is incomplete during the first catch-up. */
  isCatchingUp: boolean;
}

/** Returns the latest bootstrap; undefined while nothing is indexed. */
export async function findBootstrap(db: Queryable): Promise<Bootstrap | undefined> {
  const { rows } = await db.query<Bootstrap>(
    `select concat_ws(' ', s.chain_index, s.block_id, s.started_at) as id, c.first_catch_up as "isCatchingUp"
       from checkpoint c cross join bootstrap_blocks s order by s.chain_index desc limit 1`,
  );
  return rows[0];
}
