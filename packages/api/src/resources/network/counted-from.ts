import { type RawBuilder, sql } from 'kysely';

/**
 * Since when network_intervals count, Unix milliseconds: the first chain block, or the minute in
 * which the index began if retention has removed blocks since, because their intervals are kept.
 */
export const countedFrom: RawBuilder<number> = sql<number>`(
  select case when index = 0 then chain_time
    else (select min(start) from network_intervals where length = 'minute') end
  from chain_blocks order by index limit 1)`;
