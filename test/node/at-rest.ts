/** Waiting until an index shows what its node shows: the same sink, and the same blocks that the virtual block would merge. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { Program } from './programs.ts';

const DEADLINE_MS = 180_000;
const PAUSE_MS = 20;

interface Position {
  sink: Buffer;
  tail: Buffer[];
  first_catch_up: boolean;
}

const SELECT_POSITION = `
  select sink.hash as sink, c.first_catch_up,
    array(select b.hash from blocks b where b.id = any (c.virtual_merge_set)) as tail
  from checkpoint c join blocks sink on sink.id = c.block_id`;

/** Nobody may mine meanwhile. @throws Error with the indexer's last words when it ended, or when it takes too long */
export async function untilAtRest(pool: Pool, node: NodeClient, indexer?: Program): Promise<void> {
  const giveUpAt = Date.now() + DEADLINE_MS;
  for (;;) {
    const { sink, virtualParentHashes } = await node.call('getBlockDagInfo', {});
    const { rows } = await pool.query<Position>(SELECT_POSITION);
    const [position] = rows;
    if (position !== undefined && !position.first_catch_up && toHex(position.sink) === sink) {
      const known = new Set([position.sink, ...position.tail].map(toHex));
      if (virtualParentHashes.every((parent) => known.has(parent))) return;
    }
    if (indexer?.isRunning() === false) throw new Error(`the indexer ended:\n${indexer?.output()}`);
    if (Date.now() > giveUpAt) {
      const at = position === undefined ? 'nothing' : toHex(position.sink);
      throw new Error(`the index is at ${at}, the node at ${sink}:\n${indexer?.output()}`);
    }
    await sleep(PAUSE_MS);
  }
}
