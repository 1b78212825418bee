/** A simulated node at an address of its own that a test can take away and give back. */
import { type FaultPlan, NodeServer, type NodeState } from '@kasgres/devnet';
import { TcpProxy } from '../api/tcp-proxy.ts';

export class NodeBehindProxy {
  readonly url: string;
  readonly #server: NodeServer;
  readonly #proxy: TcpProxy;

  static async start(state: NodeState, faults?: FaultPlan): Promise<NodeBehindProxy> {
    const server = await NodeServer.start({ state, ...(faults && { faults }) });
    const { hostname, port } = new URL(server.url);
    return new NodeBehindProxy(server, await TcpProxy.start({ host: hostname, port: Number(port) }));
  }

  private constructor(server: NodeServer, proxy: TcpProxy) {
    this.#server = server;
    this.#proxy = proxy;
    this.url = `grpc://127.0.0.1:${proxy.port}`;
  }

  /** `host:port`, as the indexer names it. */
  get name(): string {
    return `127.0.0.1:${this.#proxy.port}`;
  }

  goAway(): void {
    this.#proxy.refuse();
  }

  comeBack(): void {
    this.#proxy.pass();
  }

  stop(): void {
    this.#proxy.stop();
    this.#server.close();
  }
}

/** A node that is as another in all but what is named. */
export function nodeThatDiffers(from: NodeState, differences: Partial<NodeState>): NodeState {
  return Object.setPrototypeOf({ ...differences }, from) as NodeState;
}
