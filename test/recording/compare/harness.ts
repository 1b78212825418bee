/** What a comparison has to do with: the replayed node at a checkpoint, and the database and API that have caught up with it. */
import { isDeepStrictEqual } from 'node:util';
import type { Op } from '@kasgres/node';
import type { Pool } from 'pg';
import type { Response, ApiClient } from '../../node/api-client.ts';
import { firstDifference } from '../../node/compare/first-difference.ts';
import { allExchanges, type Exchange } from '../recording.ts';
import type { ReplayNode } from '../replay-node.ts';

export interface Harness {
  node: ReplayNode;
  api: ApiClient;
  pool: Pool;
}

/** What a comparison found. */
export class Findings {
  /** What is wrong, a sentence each. */
  readonly faults: string[] = [];
  /** How many things were compared. 0: the recording has nothing of it at this checkpoint. */
  compared = 0;

  /** Compares an answer of the API with what it must be. */
  compare(request: string, answer: Response, wanted: Wanted): void {
    this.compared += 1;
    const fault = faultOf(answer, wanted);
    if (fault !== undefined) this.faults.push(`${request}: ${fault}`);
  }

  /** Takes in faults that were found elsewhere, among so many things. */
  add(faults: readonly string[], compared: number): void {
    this.compared += compared;
    this.faults.push(...faults);
  }
}

/** Each distinct request of an operation at the checkpoint. Within a checkpoint equal requests have equal answers. */
export function requests<O extends Op>({ node }: Harness, op: O): Exchange<O>[] {
  const asked: Exchange<O>[] = [];
  for (const exchange of allExchanges(node.checkpoint, op)) {
    if (!asked.some(({ request }) => isDeepStrictEqual(request, exchange.request))) asked.push(exchange);
  }
  return asked;
}

/** What the API must answer: a body with status 200, or only a status. */
export type Wanted = { body: object } | { status: number };

function faultOf(answer: Response, wanted: Wanted): string | undefined {
  if ('status' in wanted)
    return answer.status === wanted.status ? undefined : `status ${answer.status}, not ${wanted.status}`;
  if (answer.status !== 200) return `status ${answer.status}: ${JSON.stringify(answer.body)}`;
  return firstDifference(wanted.body, answer.body);
}

/** The status that stands in the API for a refusal of the node. */
export function statusOf(nodeError: string): number {
  if (/cannot find header|^Transaction \w+ not found/.test(nodeError)) return 404;
  if (nodeError.startsWith('difficulty error')) return 409;
  return 400;
}
