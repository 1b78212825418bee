/** Waits until an index shows what its node shows. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@kasgres/database';
import { toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { Program } from './programs.ts';

const DEADLINE_MS = 180_000;
const PAUSE_MS = 20;

const SELECT_POSITION = `
  select sink.hash as sink, c.first_catch_up,
    array(select b.hash from blocks b where b.id = any (c.virtual_merge_set)) as tail
  from checkpoint c join blocks sink on sink.id = c.block_id`;

/**
 * Waits until the index has the node's sink, and the blocks that the node's virtual block would
 * merge. Nobody may mine meanwhile. Throws Error with the indexer's output if it stopped or takes
 * too long.
 */
export async function untilAtRest(
  pool: Connection['pool'],
  node: NodeClient,
  indexer?: Program,
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const { sink, virtualParentHashes } = await node.call('getBlockDagInfo', {});
    const { rows } = await pool.query<{ sink: Buffer; tail: Buffer[]; first_catch_up: boolean }>(SELECT_POSITION);
    const [position] = rows;
    if (position !== undefined && !position.first_catch_up && toHex(position.sink) === sink) {
      const indexed = new Set([position.sink, ...position.tail].map(toHex));
      if (virtualParentHashes.every((parent) => indexed.has(parent))) return;
    }
    if (indexer?.isRunning() === false) throw new Error(`the indexer stopped:\n${indexer.output()}`);
    if (Date.now() > deadline) {
      const at = position === undefined ? 'empty' : `at ${toHex(position.sink)}`;
      throw new Error(`the index is ${at}, the node at ${sink}:\n${indexer?.output()}`);
    }
    await sleep(PAUSE_MS);
  }
}
