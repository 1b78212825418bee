/** How far an index of the demo network is. */
import { ANYTHING, type Cell } from '../cells.ts';
import { known, type History } from '../history.ts';

export function freshness({ chain, sink }: History): Cell[][] {
  const { header } = sink.block;
  return [['simnet', header.blueScore, new Date(sink.time), ANYTHING, 'f', new Date(known(chain[1]).time), 1, 0]];
}
