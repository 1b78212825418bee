/** Reads the state of the node for /v1/status at most once per second, since the status needs no key. */
import type { NodeClient } from '@kasgres/node';

export interface NodeState {
  connected: boolean;
  /** Both as reported by the node; undefined while it does not respond. */
  synced: boolean | undefined;
  sinkBlueScore: bigint | undefined;
}

const LIFE_MS = 1000;
const DEADLINE_MS = 1000;
const UNAVAILABLE: NodeState = { connected: false, synced: undefined, sinkBlueScore: undefined };

export class NodeStatus {
  readonly #node: Pick<NodeClient, 'call' | 'connected'>;
  #last: { state: Promise<NodeState>; validUntil: number } | undefined;

  constructor(node: Pick<NodeClient, 'call' | 'connected'>) {
    this.#node = node;
  }

  get(): Promise<NodeState> {
    const now = performance.now();
    if (this.#last === undefined || this.#last.validUntil < now) {
      this.#last = { state: this.#read(), validUntil: now + LIFE_MS };
    }
    return this.#last.state;
  }

  async #read(): Promise<NodeState> {
    if (!this.#node.connected) return UNAVAILABLE;
    try {
      const options = { deadlineMs: DEADLINE_MS };
      const [{ isSynced }, { blueScore }] = await Promise.all([
        this.#node.call('getServerInfo', {}, options),
        this.#node.call('getSinkBlueScore', {}, options),
      ]);
      return { connected: true, synced: isSynced, sinkBlueScore: blueScore };
    } catch {
      // The status shows any error as an unavailable node.
      return { ...UNAVAILABLE, connected: this.#node.connected };
    }
  }
}
