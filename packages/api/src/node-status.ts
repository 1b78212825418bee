/** What /v1/status says of the node. It is asked at most once a second, since the status needs no key. */
import type { NodeClient } from '@kasgres/node';

export interface NodeState {
  connected: boolean;
  /** As the node says of itself; undefined while it does not answer. */
  synced: boolean | undefined;
  sinkBlueScore: bigint | undefined;
}

const LIFE_MS = 1000;
const DEADLINE_MS = 1000;
const AWAY: NodeState = { connected: false, synced: undefined, sinkBlueScore: undefined };

export class NodeStatus {
  readonly #node: Pick<NodeClient, 'call' | 'connected'>;
  #last: { state: Promise<NodeState>; validUntil: number } | undefined;

  constructor(node: Pick<NodeClient, 'call' | 'connected'>) {
    this.#node = node;
  }

  get(): Promise<NodeState> {
    const now = performance.now();
    if (this.#last === undefined || this.#last.validUntil < now) {
      this.#last = { state: this.#ask(), validUntil: now + LIFE_MS };
    }
    return this.#last.state;
  }

  async #ask(): Promise<NodeState> {
    if (!this.#node.connected) return AWAY;
    try {
      const options = { deadlineMs: DEADLINE_MS };
      const [{ isSynced }, { blueScore }] = await Promise.all([
        this.#node.call('getServerInfo', {}, options),
        this.#node.call('getSinkBlueScore', {}, options),
      ]);
      return { connected: true, synced: isSynced, sinkBlueScore: blueScore };
    } catch {
      // Whatever went wrong, the node is of no use now, which is what the status is to say.
      return { ...AWAY, connected: this.#node.connected };
    }
  }
}
