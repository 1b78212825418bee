/** The first block: what is computed for others is given for it. */
import { toHex, workFromBits } from '@kasgres/kaspa';
import type { Block } from './block.ts';
import type { BlockBody } from './consensus.ts';
import { treePlace } from './reachability.ts';
import { EMPTY_WINDOW } from './window.ts';

export function genesisOf({ hash, header, transactions }: BlockBody): Block {
  return {
    index: 0,
    hash,
    id: toHex(hash),
    header,
    transactions,
    parents: [],
    ghostdag: undefined,
    blueScore: 0,
    blueWork: 0n,
    work: workFromBits(header.bits),
    daaScore: Number(header.daaScore),
    nonDaa: new Set<Block>(),
    bits: header.bits,
    pastMedianTime: Number(header.timestamp),
    difficultyWindow: EMPTY_WINDOW,
    medianTimeWindow: EMPTY_WINDOW,
    ...treePlace(undefined),
    mergedBy: [],
    state: { kind: 'qualified', acceptance: { accepted: [], diff: { added: [], removed: [] }, fees: [] } },
  };
}
